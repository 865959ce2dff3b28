"""Each trial on a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fourhands.analysis.schema import TRIALS
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, Column, TableView
from fourhands.report.views.numbers import UNKNOWN

__all__ = ["trials"]

_WORDS = ("task", "agent", "model", "condition")
_SHOWN = (
    *_WORDS,
    *("repeat", "verdict", "termination", "steps", "tokens", "cost", "triggered", "delivered"),
    *("user_lines_at_end", "ablation"),
)
_TITLES = {"user_lines_at_end": "user lines"}
_TEXTS = frozenset({*_WORDS, "verdict", "termination", "ablation"})

_DEFINITIONS = {column.name: column.definition for column in TRIALS}
_COLUMNS = tuple(
    Column(name, _TITLES.get(name, name), name not in _TEXTS, _DEFINITIONS[name]) for name in _SHOWN
)


def trials(study: Study) -> TableView | None:
    """What each trial was, and what came of it; all that is known of it is in the tidy table of that name."""
    frame = study.tables.trials.select(_SHOWN)
    if frame.is_empty():
        return None
    tellers = [_TELL.get(name, _told) for name in _SHOWN]
    rows = tuple(
        tuple(teller(value) for teller, value in zip(tellers, row, strict=True)) for row in frame.iter_rows()
    )
    return TableView("trials", "Trials", _COLUMNS, rows)


def _told(value: Any) -> Cell:
    if value is None:
        return Cell(UNKNOWN)
    return Cell(f"{value:,}" if isinstance(value, int) else str(value), value)


def _cost(value: float | None) -> Cell:
    return Cell(UNKNOWN) if value is None else Cell(f"${value:,.3f}", value)


_TELL: dict[str, Callable[[Any], Cell]] = {"cost": _cost}
