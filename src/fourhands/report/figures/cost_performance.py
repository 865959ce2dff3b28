"""What a trial costs against what it brings, and where each condition moves an agent to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fourhands.analysis.findings.cost_performance import cost_performance
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.labels import counts, label, names, points
from fourhands.report.figures.panels import Panels, benchmarks, rate_axis
from fourhands.report.figures.sheet import Entry
from fourhands.report.figures.style import DASHES, INK, Look, look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Point", "draw", "of_study"]

_TITLE: Final = "Cost and resolve rate, and how each condition shifts them"
_VANILLA: Final = "vanilla"
_WIDE: Final = 8.0
_MANY: Final = 12
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True)
class Point:
    """An agent under a condition: mean US dollars and tokens of a trial, and the share of trials resolved.

    ``dollars`` is None where a part of the cost is not known.
    """

    name: str
    benchmark: str | None
    condition: str
    dollars: float | None
    tokens: float | None
    rate: float
    trials: int


def of_study(study: Study) -> Figure | None:
    """Of every agent under every condition, on each benchmark."""
    table = cost_performance(study)
    shown = names(((point.agent, point.model) for point in table), 24)
    return draw(
        [
            Point(
                shown[point.agent, point.model],
                point.benchmark,
                point.condition,
                float(point.cost.usd) if point.cost and point.cost.usd is not None else None,
                point.tokens,
                point.rate,
                point.scored,
            )
            for point in table
            if point.rate is not None
        ]
    )


def draw(found: Sequence[Point]) -> Figure | None:
    """Arrows from vanilla to each condition; of tokens where no cost is known; None with fewer than two points."""
    priced = [point for point in found if point.dollars]
    told = priced or [point for point in found if point.tokens]
    if len(told) < _FEWEST:
        return None
    scale = _Scale.of(dollars=bool(priced), values=[_x(point, dollars=bool(priced)) for point in told])
    looks = {name: look(index) for index, name in enumerate(dict.fromkeys(point.name for point in told))}
    shifts = list(dict.fromkeys(point.condition for point in told if point.condition != _VANILLA))
    dashes = {condition: DASHES[index % len(DASHES)] for index, condition in enumerate(shifts)}
    entries = [Entry(name, sample, line=False) for name, sample in looks.items()]
    entries += [
        Entry(f"→ {label(condition)}", Look(INK, "", dash), marker=False)
        for condition, dash in dashes.items()
    ]
    named = benchmarks(point.benchmark for point in told)
    with styled():
        panels = Panels.of(named, entries, height=_height(len(looks), len(named)))
        for benchmark, axes in zip(named, panels.axes, strict=True):
            here = [point for point in told if point.benchmark == benchmark]
            _frame(axes, scale)
            rate_axis(axes, (100 * point.rate for point in here))
            for name, sample in looks.items():
                mine = {point.condition: point for point in here if point.name == name}
                _shifts(axes, mine, sample, dashes, scale)
        description = f"Resolve rate against {scale.title}. " + " ".join(scale.words(point) for point in told)
        svg = panels.sheet.svg(name="cost-performance", title=_TITLE, description=description)
    return Figure("cost-performance", _TITLE, _caption(found, told, scale), svg, description)


@dataclass(frozen=True, slots=True)
class _Scale:
    """The axis of what a trial costs: dollars, or tokens where no dollars are known."""

    dollars: bool
    log: bool
    title: str

    @classmethod
    def of(cls, *, dollars: bool, values: Sequence[float]) -> _Scale:
        title = "mean cost of a trial, US dollars" if dollars else "mean tokens of a trial"
        return cls(dollars, max(values) / min(values) > _WIDE, title)

    def x(self, point: Point) -> float:
        return _x(point, dollars=self.dollars)

    def tick(self, value: float) -> str:
        if self.dollars:
            return f"${value:,.10g}"
        for size, unit in ((1e6, "M"), (1e3, "k")):
            if value >= size:
                return f"{value / size:g}{unit}"
        return f"{value:g}"

    def words(self, point: Point) -> str:
        where = f" on {label(point.benchmark)}" if point.benchmark else ""
        cost = f"${self.x(point):,.3g}" if self.dollars else f"{self.x(point):,.0f} tokens"
        return f"{point.name}{where}, {label(point.condition)}: {points(point.rate)} at {cost}."


def _height(agents: int, panels: int) -> float:
    """Of a panel, in inches: taller where many agents share it."""
    return (2.6 if panels == 1 else 2.0) + 0.04 * max(0, agents - _MANY)


def _x(point: Point, *, dollars: bool) -> float:
    return (point.dollars if dollars else point.tokens) or 0.0


def _frame(axes: Axes, scale: _Scale) -> None:
    from matplotlib.ticker import LogLocator, NullLocator  # noqa: PLC0415 - heavy

    if scale.log:
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(lambda value, _: scale.tick(value))
    axes.set_xlabel(scale.title)
    axes.margins(x=0.08)
    axes.grid()


def _shifts(
    axes: Axes, mine: Mapping[str, Point], sample: Look, dashes: Mapping[str, object], scale: _Scale
) -> None:
    start = mine.get(_VANILLA)
    for condition, point in mine.items():
        end = (scale.x(point), 100 * point.rate)
        vanilla = condition == _VANILLA
        if start and not vanilla:
            axes.annotate(
                "",
                end,
                (scale.x(start), 100 * start.rate),
                arrowprops={
                    "arrowstyle": "-|>,head_length=0.35,head_width=0.16",
                    "color": sample.colour,
                    "linestyle": dashes[condition],
                    "linewidth": 1.0,
                    "shrinkA": 0,
                    "shrinkB": 2.2,
                },
            )
        axes.plot(
            *([value] for value in end),
            color=sample.colour,
            marker=sample.marker,
            markersize=5.5 if vanilla else 4,
            markerfacecolor=sample.colour if vanilla else "none",
            clip_on=False,
        )


def _caption(found: Sequence[Point], told: Sequence[Point], scale: _Scale) -> str:
    caption = (
        f"Resolve rate against {scale.title}: filled under vanilla, hollow under the condition that the arrow leads "
        f"to. n = {counts((point.trials for point in told), 'scored trial')} a point."
    )
    if scale.log:
        caption += " The horizontal axis is logarithmic."
    if not scale.dollars:
        caption += (
            " No cost above zero is known, so tokens stand in its place; those of different tokenizers do not "
            "compare."
        )
    if left := len(found) - len(told):
        caption += (
            f" {left:,} of {len(found):,} points are left out: their cost is not known, or only a part of it."
        )
    return caption
