"""How much each agent loses or gains when the user touches the code: differences with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fourhands.analysis.findings.controls import control_table
from fourhands.analysis.statistics import Interval
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.labels import counts, label, names, signed
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import ROW, Sheet
from fourhands.report.figures.style import BLUE, FAINT, INK, MUTED, PAGE, VERMILION, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Effect", "draw", "of_study"]

_TITLE: Final = "Change of the resolve rate under each condition"
_NUMBERS: Final = 2.1
_TOP: Final = 0.22
_LEAST: Final = 4.0
_AXIS: Final = 0.42


@dataclass(frozen=True, slots=True)
class Effect:
    """One row: the paired difference to vanilla in percentage points, and its 95 % interval where there is one.

    ``name`` is what to call the agent; of a mean over agents ``mean`` is set, and ``pairs`` are the tasks that are
    paired for each of them.
    """

    name: str
    condition: str
    difference: float | None
    low: float | None
    high: float | None
    pairs: int
    incomplete: int = 0
    mean: bool = False


def of_study(study: Study) -> Figure | None:
    """Of every agent under every condition, and the mean over the agents of a condition where there are several."""
    table = control_table(study)
    shown = names((agent.agent, agent.model) for row in table for agent in row.agents)
    effects = []
    for row in table:
        effects += [
            Effect(
                shown[agent.agent, agent.model],
                row.condition,
                *_percent(agent.delta, agent.interval),
                pairs=agent.pairs,
                incomplete=agent.incomplete_pairs,
            )
            for agent in row.agents
        ]
        told = sum(agent.delta is not None for agent in row.agents)
        if told > 1:
            percent = _percent(row.mean_delta, row.mean_interval)
            effects.append(
                Effect(f"mean of {told} agents", row.condition, *percent, pairs=row.tasks, mean=True)
            )
    return draw(effects)


def _percent(
    difference: float | None, interval: Interval | None
) -> tuple[float | None, float | None, float | None]:
    """The difference and the ends of its interval, in percentage points."""
    return (
        None if difference is None else 100 * difference,
        100 * interval.low if interval else None,
        100 * interval.high if interval else None,
    )


def draw(effects: Sequence[Effect]) -> Figure | None:
    """Rows in the order given; None without any difference."""
    known = [effect for effect in effects if effect.difference is not None]
    if not known:
        return None
    with styled():
        rows = Rows.of(effects, ROW)
        sheet = Sheet(PAGE, _TOP + rows.height + _AXIS)
        panel = sheet.panel(rows.margin, _TOP, PAGE - rows.margin - _NUMBERS, rows.height)
        _frame(panel, known, rows.height)
        rows.write(sheet, _TOP)
        sheet.text(PAGE - _NUMBERS + 0.1, _TOP / 2, "Δ and 95 % interval", alpha=MUTED)
        sheet.text(PAGE - 0.02, _TOP / 2, "pairs", align="right", alpha=MUTED)
        for at, effect in rows.placed:
            _mark(panel, effect, at)
            _numbers(sheet, effect, _TOP + at)
        description = _description(known)
        svg = sheet.svg(name="forest", title=_TITLE, description=description)
    return Figure("forest", _TITLE, _caption(effects), svg, description)


def _frame(panel: Axes, known: Sequence[Effect], height: float) -> None:
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - heavy

    ends = [0.0]
    for effect in known:
        ends += [end for end in (effect.difference, effect.low, effect.high) if end is not None]
    room = max(1.0, 0.06 * (max(ends) - min(ends)))
    panel.set_xlim(min(-_LEAST, *ends) - room, max(_LEAST, *ends) + room)
    panel.xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))
    panel.set_ylim(height, 0)
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)
    panel.grid(axis="x")
    panel.axvline(0, color=INK, linewidth=0.9)
    panel.set_xlabel("Δ resolve rate in percentage points")
    panel.xaxis.set_major_formatter(lambda value, _: signed(value).removesuffix(".0"))


def _mark(panel: Axes, effect: Effect, at: float) -> None:
    if effect.difference is None:
        return
    colour = VERMILION if effect.mean else BLUE
    if effect.mean:
        panel.axhspan(at - ROW / 2, at + ROW / 2, color=INK, alpha=FAINT / 2, linewidth=0)
    if effect.low is not None and effect.high is not None:
        panel.plot([effect.low, effect.high], [at, at], color=colour, linewidth=1.4, solid_capstyle="butt")
        for end in (effect.low, effect.high):
            panel.plot([end, end], [at - ROW / 5, at + ROW / 5], color=colour, linewidth=1.0)
    marker, size = ("D", 6.0) if effect.mean else ("o", 4.5)
    panel.plot([effect.difference], [at], marker=marker, color=colour, markersize=size, clip_on=False)


def _numbers(sheet: Sheet, effect: Effect, y: float) -> None:
    pairs = f"{effect.pairs:,}"
    if effect.incomplete:
        pairs += f" (+{effect.incomplete:,} inc.)"
    sheet.text(PAGE - 0.02, y, pairs, align="right")
    left = PAGE - _NUMBERS + 0.1
    if effect.difference is None:
        sheet.text(left, y, "no complete pair", alpha=MUTED)
        return
    told = signed(effect.difference)
    if effect.low is not None and effect.high is not None:
        told += f" [{signed(effect.low)}, {signed(effect.high)}]"
    sheet.text(left, y, told, bold=effect.mean)


def _caption(effects: Sequence[Effect]) -> str:
    agents = [effect for effect in effects if not effect.mean]
    caption = (
        "Resolve rate under the condition minus that under vanilla, in percentage points, paired by task, from "
        "unrounded means; bars are 95 % intervals, clustered by task. "
        f"n = {counts((row.pairs for row in agents), 'complete pair')} of tasks a row."
    )
    missing = sum(row.incomplete for row in agents)
    if missing:
        caption += f" {missing:,} incomplete (inc.): a side of the pair has no scored trial."
    if any(effect.mean for effect in effects):
        caption += " Diamonds: the mean over agents; its interval is over the tasks that are paired for each of them."
    return caption


def _description(known: Sequence[Effect]) -> str:
    told = []
    for effect in known:
        assert effect.difference is not None
        words = f"{effect.name}, {label(effect.condition)}: {signed(effect.difference)}"
        if effect.low is not None and effect.high is not None:
            words += f" ({signed(effect.low)} to {signed(effect.high)})"
        told.append(words)
    return f"Forest plot of the change in percentage points. {'; '.join(told)}."
