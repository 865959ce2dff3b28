"""A tidy table as a `TableView`, for people who want to look at one."""

from __future__ import annotations

from typing import Any, Final

import orjson
import polars as pl

from fourhands.analysis.schema import TABLES, Type
from fourhands.report.table import Cell, Column, TableView

__all__ = ["tidy"]

_NUMBERS: Final = frozenset({Type.INTEGER, Type.NUMBER})


def tidy(name: str, frame: pl.DataFrame) -> TableView:
    """``trials``, ``interventions``, ``lines`` or ``events``, with all of its columns."""
    columns = tuple(Column(c.name, c.name, c.type in _NUMBERS, c.definition) for c in TABLES[name])
    rows = tuple(tuple(map(_cell, row)) for row in frame.iter_rows())
    return TableView(name, name, columns, rows)


def _cell(value: Any) -> Cell:
    if value is None:
        return Cell("")
    if isinstance(value, list):
        text = orjson.dumps(value).decode()
        return Cell(text, text)
    return Cell(f"{value:g}" if isinstance(value, float) else str(value), value)
