"""What became of the requirements over the course of a conversation: areas of their mean shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fourhands.analysis.findings.conversations.whole import whole
from fourhands.analysis.findings.requirement_states import states_table
from fourhands.analysis.study import Study
from fourhands.model.ledger_state import RequirementState
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.headings import conditions
from fourhands.report.figures.labels import counts, label, names, points
from fourhands.report.figures.panels import Panels
from fourhands.report.figures.sheet import Entry
from fourhands.report.figures.style import (
    BLUE,
    COLUMN,
    GREEN,
    HATCHES,
    INK,
    PAGE,
    PURPLE,
    SKY,
    VERMILION,
    Fill,
    face,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["States", "draw", "of_study"]

_TITLE: Final = "What became of the requirements"
_MOST: Final = 30
"""Panels in one figure."""
_LONGEST: Final = 26
"""Letters of a condition's label that a heading has room for."""
_END: Final = 1.1
"""Where a panel ends: from progress 1 on it shows the final state."""
_FILLS: Final = {
    RequirementState.SATISFIED: Fill(GREEN, ""),
    RequirementState.ACKNOWLEDGED: Fill(SKY, HATCHES[1]),
    RequirementState.REVEALED: Fill(BLUE, HATCHES[3]),
    RequirementState.VIOLATED: Fill(VERMILION, HATCHES[5]),
    RequirementState.FORGOTTEN: Fill(PURPLE, HATCHES[2]),
    RequirementState.HELD: Fill("none", ""),
}
"""From the bottom."""


@dataclass(frozen=True, slots=True)
class States:
    """One agent under one condition: the shares at each point of progress, which both ascend from 0 to 1."""

    name: str
    condition: str
    progress: Sequence[float]
    shares: Sequence[Mapping[RequirementState, float]]
    trials: int


def of_study(study: Study) -> Figure | None:
    """Of every agent in every kind of conversation; simulators together."""
    found: dict[tuple[str, str, str], list[tuple[float, Mapping[RequirementState, float]]]] = {}
    trials: dict[tuple[str, str, str], int] = {}
    table = whole(states_table(study))
    shown = names(((row.agent, row.model) for row in table), 20)
    where = conditions((row.condition for row in table), _LONGEST)
    for row in table:
        key = (row.agent, row.model, row.condition)
        found.setdefault(key, []).append((row.progress, row.shares))
        trials[key] = row.n
    return draw(
        [
            States(
                shown[agent, model],
                where[condition],
                [progress for progress, _ in course],
                [shares for _, shares in course],
                trials[agent, model, condition],
            )
            for (agent, model, condition), course in found.items()
        ]
    )


def draw(states: Sequence[States]) -> Figure | None:
    """A panel for each; None without any."""
    shown = states[:_MOST]
    if not shown:
        return None
    present = [state for state in _FILLS if any(share[state] for each in shown for share in each.shares)]
    entries = [Entry(state.value, _FILLS[state]) for state in present]
    with styled():
        sheet = Panels.of(
            _headings(shown),
            entries,
            height=1.6,
            width=COLUMN if len(shown) == 1 else PAGE,
        )
        for each, axes in zip(shown, sheet.axes, strict=True):
            _areas(axes, each)
        description = (
            "Stacked areas of the shares of requirements in each state against progress. "
            + " ".join(map(_words, shown))
        )
        svg = sheet.sheet.svg(name="requirement-states", title=_TITLE, description=description)
    caption = (
        "Mean share of the requirements in each state, from before the user's first message (0) to the final state, "
        "which is the last strip (from 1 on); each stands until the next. held: not said; revealed: said; "
        "acknowledged: taken up in the agent's words; satisfied, violated: found in the code, or found not to hold; "
        "forgotten: in the end, never met and never taken up. n = "
        f"{counts((each.trials for each in shown), 'scored trial')} a panel."
    )
    if len(states) > len(shown):
        caption += f" The first {len(shown)} of {len(states)} panels."
    return Figure("requirement-states", _TITLE, caption, svg, description)


def _headings(shown: Sequence[States]) -> list[str]:
    """What tells the panels apart: agent, condition, or both."""
    if len({each.name for each in shown}) == 1:
        return [each.condition for each in shown]
    if len({each.condition for each in shown}) == 1:
        return [each.name for each in shown]
    return [f"{each.name} · {each.condition}" for each in shown]


def _areas(axes: Axes, states: States) -> None:
    # A state stands until the next one: the final one, which nothing follows, needs a width of its own.
    progress = [*states.progress, _END]
    shares = [*states.shares, states.shares[-1]]
    low = [0.0] * len(progress)
    for state, fill in _FILLS.items():
        high = [start + 100 * share[state] for start, share in zip(low, shares, strict=True)]
        if any(share[state] for share in shares):
            axes.fill_between(
                progress,
                low,
                high,
                step="post",
                facecolor=face(fill),
                edgecolor=INK,
                hatch=fill.hatch or None,
                linewidth=0.5,
            )
        low = high
    axes.set_xlim(0, _END)
    axes.set_ylim(0, 100)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.set_yticks([0, 50, 100])
    axes.set_xlabel("progress")
    axes.set_ylabel("requirements, %")


def _words(states: States) -> str:
    final = states.shares[-1]
    told = [f"{state.value} {points(final[state])}" for state in _FILLS if final[state]]
    return f"{states.name}, {label(states.condition, 80)}, in the end: {', '.join(told)}."
