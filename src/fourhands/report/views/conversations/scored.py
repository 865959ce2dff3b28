"""Rubric scores as cells: by whose word, and means with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, Protocol

from fourhands.analysis.findings.scores import ScoreMean, ScoreSource
from fourhands.analysis.trust import Trust
from fourhands.report.table import Cell
from fourhands.report.views.build import Field, field
from fourhands.report.views.numbers import UNKNOWN
from fourhands.report.views.trusting import trust_notes

__all__ = ["Scored", "score_field", "scored_notes", "source_field"]

_ENDS: Final = ("low", "high", "trials")


class Scored(Protocol):
    """A row of scores by one source."""

    @property
    def source(self) -> ScoreSource:
        """By whose word."""

    @property
    def trust(self) -> Trust | None:
        """In a judge; ``None``: it is none."""

    @property
    def told(self) -> str:
        """By whose word, in words."""


def source_field[Row: Scored](_: type[Row]) -> Field[Row]:
    """Whose word the scores of a row are."""

    def cell(row: Row) -> Cell:
        trust = row.trust
        more = (row.source.prompt_version, trust.is_audited, trust.is_trusted, trust.kappa) if trust else ()
        return Cell(row.told, row.source.name, more)

    return field(
        "scores_by",
        "scores by",
        cell,
        "`checks` of the ledger (of a plan: its words), `hidden-tests` where the ledger lacks checks, or "
        "`judge:MODEL` with its agreement with people, and the version of its prompts where there are several",
        more=("prompt_version", "audited", "trusted", "kappa"),
        numeric=False,
    )


def scored_notes(rows: Iterable[Scored]) -> list[str]:
    """What a reader of a judge's scores must know, where some rows are a judge's."""
    return trust_notes(
        (voice, row.trust) if (voice := row.source.voice) and row.trust else None for row in rows
    )


def score_field[Row](
    name: str,
    title: str,
    of: Callable[[Row], ScoreMean | None],
    definition: str,
    *,
    detail: bool = False,
    sign: bool = False,
) -> Field[Row]:
    """A mean with its 95 % interval, clustered by task, and the number of trials."""
    more = tuple(f"{name}_{end}" for end in _ENDS)
    return field(name, title, lambda row: _cell(of(row), sign=sign), definition, more=more, detail=detail)


def _cell(found: ScoreMean | None, *, sign: bool) -> Cell:
    if found is None:
        return Cell(UNKNOWN)
    ends = found.interval
    told = _points(found.value, 1, sign=sign)
    if ends is None:
        return Cell(told, found.value, (None, None, found.n))
    between = " to " if sign else "–"
    told += f" ({_points(ends.low, 0, sign=sign)}{between}{_points(ends.high, 0, sign=sign)})"
    return Cell(told, found.value, (ends.low, ends.high, found.n))


def _points(number: float, digits: int, *, sign: bool) -> str:
    rounded = round(number, digits)
    before = "−" if rounded < 0 else "+" if sign and rounded else ""
    return f"{before}{abs(rounded):.{digits}f}"
