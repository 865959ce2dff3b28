"""Rows below each other under a heading for each condition: the left half of every figure that is read by line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self

from fourhands.report.figures.headings import fold
from fourhands.report.figures.labels import label
from fourhands.report.figures.sheet import Sheet, text_width

__all__ = ["Row", "Rows"]

_HEADING: Final = 0.2
_LINE: Final = 0.13
_BETWEEN: Final = 0.08
_ROOM: Final = 0.14
"""Inches: of a heading, of each further line of it, above all but the first, and around the names."""


class Row(Protocol):
    """What stands at the left of a row."""

    @property
    def name(self) -> str:
        """What to call the agent, clipped."""

    @property
    def condition(self) -> str:
        """What to call the condition, in full: rows of the same stand below one heading."""


@dataclass(frozen=True)
class Rows[R: Row]:
    """Where the rows are, and the lines of their headings: inches from the top of the first to the middle of each.

    ``margin`` is the width that names and headings take at the left, ``height`` that of all rows, in inches.
    """

    headings: tuple[tuple[float, str], ...]
    placed: tuple[tuple[float, R], ...]
    margin: float
    height: float

    @classmethod
    def of(cls, rows: Sequence[R], pitch: float, *, heading: int = 30, among: Iterable[str] = ()) -> Self:
        """Conditions in order of appearance; ``pitch`` is the height of a row, in inches.

        A line of a heading has at most ``heading`` letters. No two conditions read alike, of these and of those
        ``among`` which they are.
        """
        blocks: dict[str, list[R]] = defaultdict(list)
        for row in rows:
            blocks[row.condition].append(row)
        told = fold([*among, *blocks], lambda text, spare: label(text, heading - spare))
        headings: list[tuple[float, str]] = []
        placed: list[tuple[float, R]] = []
        at = 0.0
        for condition, block in blocks.items():
            at += _BETWEEN if headings else 0
            lines = told[condition]
            headings += [(at + _HEADING / 2 + place * _LINE, line) for place, line in enumerate(lines)]
            at += _HEADING + _LINE * (len(lines) - 1)
            for row in block:
                placed.append((at + pitch / 2, row))
                at += pitch
        widths = [text_width(line, bold=True) for _, line in headings]
        widths += [text_width(name) for name in {row.name for row in rows}]
        return cls(tuple(headings), tuple(placed), max(widths, default=0.0) + _ROOM, at)

    def write(self, sheet: Sheet, top: float) -> None:
        """Headings and names, ending at the margin."""
        for at, line in self.headings:
            sheet.text(self.margin - 0.1, top + at, line, align="right", bold=True)
        for at, row in self.placed:
            sheet.text(self.margin - 0.1, top + at, row.name, align="right")
