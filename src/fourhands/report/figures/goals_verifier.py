"""Goals reached in the end beside the verifier's reward, and how the two fall together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fourhands.analysis.findings.conversations.whole import whole
from fourhands.analysis.findings.goals import NEAR_PERFECT, GoalsRow, Quadrants, goals_table
from fourhands.analysis.findings.scores import ScoreMean
from fourhands.analysis.statistics import Interval
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.headings import conditions
from fourhands.report.figures.labels import counts, names
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import Entry, Sheet, bar, key_height
from fourhands.report.figures.style import (
    BLUE,
    GREEN,
    HATCHES,
    INK,
    MUTED,
    ORANGE,
    PAGE,
    SKY,
    VERMILION,
    Fill,
    Look,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Ending", "draw", "of_study"]

_TITLE: Final = "Goals reached against the verifier"
_PITCH: Final = 0.23
_COUNT: Final = 0.5
_HEADING: Final = 46
"""Letters: a judge's name, and how far to trust it, must stand whole."""
_BETWEEN: Final = 0.28
_AXIS: Final = 0.42
_FROM: Final = f"{NEAR_PERFECT:.0f}"
_SCORE: Final = Look(BLUE, "o", "-")
_REWARD: Final = Look(VERMILION, "D", "-")
_FILLS: Final = {
    "resolved_reached": (f"resolved, score ≥ {_FROM}", Fill(GREEN, "")),
    "resolved_short": (f"resolved, score < {_FROM}", Fill(SKY, HATCHES[3])),
    "unresolved_reached": (f"unresolved, score ≥ {_FROM}", Fill(ORANGE, HATCHES[1])),
    "unresolved_short": (f"unresolved, score < {_FROM}", Fill("none", "")),
}


@dataclass(frozen=True, slots=True)
class Ending:
    """One agent's last states: mean score (0 to 100) by ``condition`` and source, mean reward (0 to 1)."""

    name: str
    condition: str
    score: ScoreMean
    reward: float
    reward_interval: Interval | None
    quadrants: Quadrants
    trials: int


def of_study(study: Study) -> Figure | None:
    """Of every agent in every kind of conversation; simulators together."""
    table = whole(goals_table(study))
    shown = names((row.agent, row.model) for row in table)
    where = conditions(row.condition for row in table)
    endings = [
        ending for row in table if (ending := _ending(shown[row.agent, row.model], where[row.condition], row))
    ]
    return draw(endings, left_out=sum(row.verifier_informed for row in table))


def _ending(name: str, condition: str, row: GoalsRow) -> Ending | None:
    if row.score is None or row.reward is None:
        return None
    condition = f"{condition}, by {row.told}"
    # A reward of tests is the share that is resolved; of another verifier no interval is known.
    interval = row.resolved.clustered if row.reward == row.resolved.rate else None
    return Ending(name, condition, row.score, row.reward, interval, row.quadrants, row.trials)


def draw(endings: Sequence[Ending], *, left_out: int = 0) -> Figure | None:
    """A row for each; ``left_out`` trials have scores by hidden tests. None without rows."""
    if not endings:
        return None
    entries = [Entry("mean score", _SCORE), Entry("mean reward × 100", _REWARD)]
    entries += [Entry(words, fill) for words, fill in _FILLS.values()]
    with styled():
        rows = Rows.of(endings, _PITCH, heading=_HEADING)
        top = key_height(entries, PAGE) + 0.1
        sheet = Sheet(PAGE, top + rows.height + _AXIS)
        sheet.key(entries, 0.05, 0, PAGE)
        rows.write(sheet, top)
        width = (PAGE - rows.margin - _COUNT - _BETWEEN) / 2
        means = sheet.panel(rows.margin, top, width, rows.height)
        shares = sheet.panel(rows.margin + width + _BETWEEN, top, width, rows.height)
        for panel, words in ((means, "score, reward × 100"), (shares, "share of trials, %")):
            panel.set_xlim(0, 100)
            panel.set_ylim(rows.height, 0)
            panel.set_yticks([])
            panel.set_xticks(range(0, 101, 25))
            panel.set_xlabel(words)
        means.grid(axis="x")
        means.axvline(NEAR_PERFECT, color=INK, linewidth=0.6, alpha=MUTED)
        for at, ending in rows.placed:
            _draw_means(means, ending, at)
            _draw_shares(shares, ending, at)
            sheet.text(PAGE - 0.02, top + at, f"n = {ending.trials:,}", align="right", alpha=MUTED)
        description = (
            f"Dots of the mean score and the mean reward, the line at {_FROM}; beside them stacked shares of trials. "
            + " ".join(map(_words, endings))
        )
        svg = sheet.svg(name="goals-verifier", title=_TITLE, description=description)
    caption = (
        "Mean score of the goals in the last state and mean reward of the verifier, with 95 % intervals, by "
        f"task; and trials by both, a score of {_FROM} or more being called reached, as the paper has it. n = "
        f"{counts((ending.trials for ending in endings), 'scored trial')} a row."
    )
    if left_out:
        caption += f" {counts([left_out], 'trial')} left out: hidden tests made their scores."
    return Figure("goals-verifier", _TITLE, caption, svg, description)


def _draw_means(panel: Axes, ending: Ending, at: float) -> None:
    reward = ending.reward_interval
    spans = (
        (_SCORE, ending.score.value, ending.score.interval, 1.0, -0.2),
        (_REWARD, 100 * ending.reward, reward, 100.0, 0.2),
    )
    for sample, value, interval, scale, side in spans:
        y = at + side * _PITCH
        if interval:
            ends = [scale * interval.low, scale * interval.high]
            panel.plot(ends, [y, y], color=sample.colour, linewidth=0.8, clip_on=False)
        panel.plot([value], [y], color=sample.colour, marker=sample.marker, markersize=3.6, clip_on=False)


def _draw_shares(panel: Axes, ending: Ending, at: float) -> None:
    left = 0.0
    for name, (_, fill) in _FILLS.items():
        share = 100 * getattr(ending.quadrants, name) / ending.trials
        bar(panel, fill, y=at, length=share, height=0.72 * _PITCH, left=left)
        left += share


def _words(ending: Ending) -> str:
    told = [
        f"{count} {words}"
        for name, (words, _) in _FILLS.items()
        if (count := getattr(ending.quadrants, name))
    ]
    means = f"score {ending.score.value:.1f}, reward {ending.reward:.2f}"
    return f"{ending.name}, {ending.condition}: {means}; {'; '.join(told)}."
