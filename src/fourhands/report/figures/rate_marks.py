"""A rate as a mark with both of its intervals: rows that compare rates with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fourhands.analysis.findings.conversations import Rate
from fourhands.report.figures.labels import points
from fourhands.report.figures.style import FAINT, INK, Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["INTERVALS", "Marked", "frame", "mark", "mark_row", "words"]

INTERVALS: Final = (
    "Thin bars with ends: 95 % intervals clustered by task; broad pale ones: Wilson's, trials as independent."
)
"""What a caption says of them."""
_BROAD: Final = 3.6
_PALE: Final = 0.3
_END: Final = 0.035


@dataclass(frozen=True, slots=True)
class Marked:
    """One rate of a row, what it is called, and how it looks."""

    name: str
    rate: Rate
    look: Look


def frame(panel: Axes, height: float) -> None:
    """Shares from 0 to 100 from left to right, inches downwards."""
    panel.set_xlim(0, 100)
    panel.set_ylim(height, 0)
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    panel.grid(axis="x")
    panel.set_xlabel("resolve rate, %")


def mark_row(panel: Axes, marks: Sequence[Marked], at: float, pitch: float) -> None:
    """The rates of one row below each other around ``at``, joined by a line."""
    told = [each for each in marks if each.rate.rate is not None]
    places = [at + (place - (len(marks) - 1) / 2) * pitch for place in range(len(marks))]
    joined = [(each, y) for each, y in zip(marks, places, strict=True) if each in told]
    panel.plot(
        [100 * (each.rate.rate or 0) for each, _ in joined],
        [y for _, y in joined],
        color=INK,
        alpha=2 * FAINT,
        linewidth=0.8,
    )
    for each, y in joined:
        mark(panel, each, y)


def mark(panel: Axes, marked: Marked, at: float) -> None:
    """One rate that is known, with its intervals."""
    rate, colour = marked.rate, marked.look.colour
    if rate.wilson:
        ends = [100 * rate.wilson.low, 100 * rate.wilson.high]
        panel.plot(ends, [at, at], color=colour, alpha=_PALE, linewidth=_BROAD, solid_capstyle="butt")
    if rate.clustered:
        ends = [100 * rate.clustered.low, 100 * rate.clustered.high]
        panel.plot(ends, [at, at], color=colour, linewidth=0.9, solid_capstyle="butt")
        for end in ends:
            panel.plot([end, end], [at - _END, at + _END], color=colour, linewidth=0.9)
    panel.plot(
        [100 * (rate.rate or 0)],
        [at],
        marker=marked.look.marker,
        color=colour,
        markersize=4.5,
        clip_on=False,
    )


def words(marks: Sequence[Marked]) -> str:
    """Each rate that is known: ``at will 50.0 % of 4, full coverage 75.0 % of 4``."""
    told = [
        f"{each.name} {points(each.rate.rate)} of {each.rate.n:,}"
        for each in marks
        if each.rate.rate is not None
    ]
    return ", ".join(told)
