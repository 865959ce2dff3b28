"""One panel a benchmark, side by side, and one key for all below them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fourhands.report.figures.headings import fold
from fourhands.report.figures.labels import label
from fourhands.report.figures.sheet import Entry, Sheet, key_height, text_width
from fourhands.report.figures.style import PAGE, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Panels", "benchmarks", "rate_axis"]

_LEFT: Final = 0.45
_RIGHT: Final = 0.12
_HEADING: Final = 0.22
_LINE: Final = 0.14
_AXIS: Final = 0.45
_ACROSS: Final = 3
_SPAN: Final = 20.0
_LONGEST: Final = 30
_SHORTEST: Final = 8
"""Letters of a heading."""


@dataclass(frozen=True)
class Panels:
    """A sheet with its panels; ``axes`` has one for each benchmark, in their order."""

    sheet: Sheet
    axes: tuple[Axes, ...]

    @classmethod
    def of(
        cls, named: Sequence[str | None], entries: Sequence[Entry], *, height: float, width: float = PAGE
    ) -> Panels:
        """``height`` is that of one panel; a benchmark that no plan tells has no heading.

        Panels of the same name have the same heading, and others another one.
        """
        across = min(_ACROSS, len(named)) or 1
        down = math.ceil(len(named) / across)
        cell = width / across
        told = fold(named, lambda text, spare: _fitting(text, cell - _LEFT, spare))
        most = max(map(len, told.values()), default=1)
        heading = _HEADING + _LINE * (most - 1) if told else 0.06
        pitch = heading + height + _AXIS
        key = width - _LEFT
        sheet = Sheet(width, down * pitch + 0.08 + key_height(entries, key))
        axes = []
        for index, name in enumerate(named):
            left, top = (index % across) * cell + _LEFT, (index // across) * pitch + heading
            lines = told[name] if name else ()
            for place, line in enumerate(reversed(lines)):
                sheet.text(left, top - _HEADING / 2 - place * _LINE, line, size=TEXT, bold=True)
            axes.append(sheet.panel(left, top, cell - _LEFT - _RIGHT, height))
        sheet.key(entries, _LEFT, down * pitch + 0.08, key)
        return cls(sheet, tuple(axes))


def _fitting(name: str, room: float, spare: int) -> str:
    """As much of a heading as its panel has room for, in inches, beside so many more letters."""
    cells = _LONGEST - spare
    while cells > _SHORTEST and text_width(label(name, cells) + "0" * spare, TEXT, bold=True) > room:
        cells -= 1
    return label(name, cells)


def rate_axis(axes: Axes, rates: Iterable[float]) -> None:
    """Resolve rates in per cent upwards, with room around them but none beyond 0 and 100."""
    found = list(rates)
    low, high = min(found), max(found)
    room = max(0.07 * (high - low), (_SPAN - (high - low)) / 2)
    axes.set_ylim(max(0.0, low - room), min(100.0, high + room))
    axes.set_ylabel("resolve rate, %")


def benchmarks(found: Iterable[str | None]) -> list[str | None]:
    """Each once, by name; the one that no plan tells comes last."""
    return sorted(set(found), key=lambda name: (name is None, name or ""))
