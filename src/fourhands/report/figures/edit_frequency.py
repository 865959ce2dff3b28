"""Resolve rate against the number of edits that the user may make."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fourhands.analysis.findings.k_sweep import k_sweep
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.labels import counts, label, names, points
from fourhands.report.figures.panels import Panels, benchmarks, rate_axis
from fourhands.report.figures.sheet import Entry
from fourhands.report.figures.style import COLUMN, PAGE, Look, look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Rate", "draw", "of_study"]

_TITLE: Final = "Resolve rate by the number of the user's edits"
_FEWEST: Final = 3
_DODGE: Final = 0.05


@dataclass(frozen=True, slots=True)
class Rate:
    """The share of tasks that an agent resolved where the user may act ``k`` times; 0 is vanilla.

    ``rate``, ``low`` and ``high`` are shares from 0 to 1, the latter two of a 95 % interval; ``trials`` were scored.
    """

    name: str
    benchmark: str | None
    k: int
    rate: float
    low: float | None
    high: float | None
    trials: int


def of_study(study: Study) -> Figure | None:
    """Of every agent, and of every kind of condition that was run with several values of K."""
    every = k_sweep(study)
    steps = defaultdict[str, set[int]](set)
    for point in every:
        steps[point.family].add(point.k)
    table = [point for point in every if len(steps[point.family]) >= _FEWEST]
    shown = names(((point.agent, point.model) for point in table), 22)
    several = len({point.family for point in table}) > 1
    return draw(
        [
            Rate(
                f"{who}, {label(point.family, 18)}" if several else who,
                point.benchmark,
                point.k,
                point.rate,
                point.interval.low if point.interval else None,
                point.interval.high if point.interval else None,
                point.scored,
            )
            for point in table
            if point.rate is not None
            for who in [shown[point.agent, point.model]]
        ]
    )


def draw(rates: Sequence[Rate]) -> Figure | None:
    """A line for each agent; None unless there are three values of K, vanilla's included."""
    steps = sorted({rate.k for rate in rates})
    if len(steps) < _FEWEST:
        return None
    looks = {name: look(index) for index, name in enumerate(dict.fromkeys(rate.name for rate in rates))}
    named = benchmarks(rate.benchmark for rate in rates)
    with styled():
        panels = Panels.of(
            named,
            [Entry(name, sample) for name, sample in looks.items()],
            height=2.1,
            width=COLUMN if len(named) == 1 else PAGE,
        )
        for benchmark, axes in zip(named, panels.axes, strict=True):
            _panel(axes, [rate for rate in rates if rate.benchmark == benchmark], looks, steps)
        description = "Lines of the resolve rate against K. " + _words(rates)
        svg = panels.sheet.svg(name="edit-frequency", title=_TITLE, description=description)
    caption = (
        "Resolve rate against K, the most edits that the user may make (0: vanilla), with 95 % intervals, "
        f"clustered by task. n = {counts((rate.trials for rate in rates), 'scored trial')} a point."
    )
    return Figure("edit-frequency", _TITLE, caption, svg, description)


def _panel(axes: Axes, rates: Sequence[Rate], looks: dict[str, Look], steps: Sequence[int]) -> None:
    middle = (len(looks) - 1) / 2
    span = (steps[-1] - steps[0]) * min(_DODGE, 0.3 / len(looks))
    for index, (name, sample) in enumerate(looks.items()):
        line = sorted((rate for rate in rates if rate.name == name), key=lambda rate: rate.k)
        xs = [rate.k + (index - middle) * span * 0.3 for rate in line]
        axes.plot(
            xs,
            [100 * rate.rate for rate in line],
            color=sample.colour,
            marker=sample.marker,
            linestyle=sample.dash,
            markersize=3.8,
            clip_on=False,
        )
        for x, rate in zip(xs, line, strict=True):
            if rate.low is not None and rate.high is not None:
                ends = [100 * rate.low, 100 * rate.high]
                axes.plot([x, x], ends, color=sample.colour, linewidth=0.7, alpha=0.6)
    axes.set_xticks(steps)
    axes.set_xlabel("K, the most edits")
    ends = [end for rate in rates for end in (rate.rate, rate.low, rate.high) if end is not None]
    rate_axis(axes, (100 * end for end in ends))
    axes.grid(axis="y")


def _words(rates: Sequence[Rate]) -> str:
    lines: dict[str, list[str]] = {}
    for rate in rates:
        where = f"{rate.name} on {label(rate.benchmark)}" if rate.benchmark else rate.name
        lines.setdefault(where, []).append(f"{points(rate.rate)} at {rate.k}")
    return " ".join(f"{where}: {', '.join(told)}." for where, told in lines.items())
