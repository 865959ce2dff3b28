"""How much agents write for what is left of it, and how late: each trial, and the median."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, log10
from statistics import fmean
from typing import TYPE_CHECKING, Final

from fourhands.analysis.findings.conversations import Spread, churn_table
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.headings import conditions
from fourhands.report.figures.labels import counts, label, names
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import Entry, Sheet, key_height
from fourhands.report.figures.style import BLUE, MUTED, PAGE, TEXT, VERMILION, Look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Trials", "draw", "of_study"]

_TITLE: Final = "Churn of conversations, and how late the code changed"
_PITCH: Final = 0.26
_HEADING: Final = 0.22
_GAP: Final = 0.25
_COUNT: Final = 0.95
_AXIS: Final = 0.42
_END: Final = 0.05
_PLACES: Final = 120
"""Dots that lie closer than one in so many of the axis are one larger dot: a large run stays a small file."""
_FAR: Final = 4.0
_LINEAR: Final = 1.0
"""Overheads beyond the first make the axis logarithmic beyond the second."""
_TRIAL: Final = Look(BLUE, "o", "-")
_MEDIAN: Final = Look(VERMILION, "D", "-", hollow=True)
_SEEN: Final = 0.9
"""How opaque a dot is: dots upon each other are told apart, and one alone is seen on dark paper."""


@dataclass(frozen=True, slots=True)
class Trials:
    """One agent in one kind of conversation; of ``undefined`` trials nothing is left: they have no overhead."""

    name: str
    condition: str
    overhead: Spread
    late: Spread
    scored: int
    undefined: int


def of_study(study: Study) -> Figure | None:
    """Of every agent in every kind of conversation, with each simulator, and with several of these together."""
    table = churn_table(study)
    shown = names((row.agent, row.model) for row in table)
    where = conditions(row.condition for row in table)
    return draw(
        [
            Trials(
                shown[row.agent, row.model],
                where[row.condition],
                row.overhead,
                row.late,
                row.scored,
                row.undefined,
            )
            for row in table
        ]
    )


def draw(rows: Sequence[Trials]) -> Figure | None:
    """Two panels side by side; None where no trial has either."""
    told = [row for row in rows if row.overhead.values or row.late.values]
    if not told:
        return None
    is_far = any(each > _FAR for row in told for each in row.overhead.values)
    entries = [Entry("a trial", _TRIAL, line=False), Entry("median, with its 95 % interval", _MEDIAN)]
    with styled():
        lines = Rows.of(told, _PITCH)
        top = key_height(entries, PAGE) + 0.08 + _HEADING
        sheet = Sheet(PAGE, top + lines.height + _AXIS)
        sheet.key(entries, 0.05, 0, PAGE)
        lines.write(sheet, top)
        width = (PAGE - lines.margin - _COUNT - _GAP) / 2
        for place, heading in enumerate(("churn overhead", "late change share")):
            left = lines.margin + place * (width + _GAP)
            sheet.text(left, top - _HEADING / 2, heading, size=TEXT, bold=True)
            panel = sheet.panel(left, top, width, lines.height)
            rows_of = [(at, row.late if place else row.overhead) for at, row in lines.placed]
            _panel(panel, rows_of, is_far=is_far and not place)
            panel.set_ylim(lines.height, 0)
            panel.set_xlabel("% of the changed lines" if place else "% of the lines that are left")
        for at, row in lines.placed:
            sheet.text(PAGE - 0.02, top + at, _number(row), align="right", alpha=MUTED)
        description = "Dots of each trial and their median. " + " ".join(map(_words, told))
        svg = sheet.svg(name="churn", title=_TITLE, description=description)
    caption = (
        "Left: lines written and taken out on the way beyond those of the final difference, as a share of the "
        "latter; right: of the lines written and taken out, the share after the first revision. Each dot is a trial, "
        "a larger one several; diamonds are medians, with 95 % intervals by a bootstrap over tasks, from six on. "
        f"n = {counts((row.scored for row in told), 'scored trial')} a row."
    )
    if any(row.undefined for row in told):
        caption += " undef.: trials that leave nothing; they have no overhead."
    if is_far:
        caption += " The left axis is logarithmic beyond 100 %."
    return Figure("churn", _TITLE, caption, svg, description)


def _panel(panel: Axes, rows: Sequence[tuple[float, Spread]], *, is_far: bool) -> None:
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    panel.grid(axis="x")
    values = [0.0, 1.0, *(each for _, spread in rows for each in spread.values)]
    low, high = min(values), max(values)
    if is_far:
        _logarithmic(panel, high)
    panel.set_xlim(100 * low - 3 * max(1.0, high - low if not is_far else 1.0), 103 * high)
    step = (_scaled(high, is_far=is_far) - _scaled(low, is_far=is_far)) / _PLACES
    for at, spread in rows:
        _dots(panel, at, spread.values, step, is_far=is_far)
        if spread.interval:
            ends = [100 * spread.interval.low, 100 * spread.interval.high]
            panel.plot(ends, [at, at], color=_MEDIAN.colour, linewidth=1.2)
            for end in ends:
                panel.plot([end, end], [at - _END, at + _END], color=_MEDIAN.colour, linewidth=1.0)
        if spread.median is not None:
            panel.plot(
                [100 * spread.median],
                [at],
                marker=_MEDIAN.marker,
                color=_MEDIAN.colour,
                markersize=6,
                markerfacecolor="none",
                markeredgewidth=1.3,
                clip_on=False,
            )


def _dots(panel: Axes, at: float, values: Sequence[float], step: float, *, is_far: bool) -> None:
    places: dict[int, list[float]] = defaultdict(list)
    for each in values:
        places[round(_scaled(each, is_far=is_far) / step)].append(each)
    sizes: dict[float, list[float]] = defaultdict(list)
    for trials in places.values():
        sizes[min(round(2.6 + len(trials) ** 0.5, 1), 8.0)].append(100 * fmean(trials))
    for size, found in sizes.items():
        panel.plot(
            found,
            [at] * len(found),
            linestyle="none",
            marker=_TRIAL.marker,
            color=_TRIAL.colour,
            markersize=size,
            alpha=_SEEN,
            markeredgewidth=0,
            clip_on=False,
        )


def _scaled(value: float, *, is_far: bool) -> float:
    """Where a value lies on its axis, in units of 100 %."""
    if not is_far or abs(value) <= _LINEAR:
        return value
    return copysign(1 + log10(abs(value)), value)


def _logarithmic(panel: Axes, high: float) -> None:
    panel.set_xscale("symlog", linthresh=100 * _LINEAR)
    panel.set_xticks([0, *(tick for tick in (100, 1_000, 10_000, 100_000, 1_000_000) if tick <= 103 * high)])
    panel.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    panel.minorticks_off()


def _number(row: Trials) -> str:
    told = f"n = {row.scored:,}"
    return f"{told}, {row.undefined:,} undef." if row.undefined else told


def _words(row: Trials) -> str:
    overhead, late = (
        "unknown" if spread.median is None else f"{100 * spread.median:.0f}\N{NO-BREAK SPACE}%"
        for spread in (row.overhead, row.late)
    )
    told = f"{row.name}, {label(row.condition, 80)}: median overhead {overhead}, late share {late}"
    return f"{told}, {row.undefined:,} undefined." if row.undefined else f"{told}."
