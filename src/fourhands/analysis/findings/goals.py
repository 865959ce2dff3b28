"""Goals reached in the end, set against what the verifier says: the SWE-Interact paper's figure 4b.

Only of scores that were made without the hidden tests: those that were would agree with the verifier by construction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.findings.arms import mean
from fourhands.analysis.findings.conversations.groups import Group, groups
from fourhands.analysis.findings.conversations.measures import Rate, rate_of
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.findings.scores import (
    CHECKS,
    HIDDEN_TESTS,
    ScoreMean,
    ScoreSource,
    TrialScores,
    by_source,
    mean_of,
    trust_in_source,
    with_sources_told,
)
from fourhands.analysis.statistics import Interval, spearman, spearman_interval
from fourhands.analysis.study import Study
from fourhands.analysis.trust import Trust

__all__ = ["NEAR_PERFECT", "GoalsRow", "Quadrants", "goals_table"]

NEAR_PERFECT: Final = 90.0
"""From this score on goals are called reached: the paper's."""


@dataclass(frozen=True, slots=True)
class Quadrants:
    """Trials by verdict and by whether their goals are reached, that is `NEAR_PERFECT`."""

    resolved_reached: int
    resolved_short: int
    unresolved_reached: int
    unresolved_short: int


@dataclass(frozen=True, slots=True)
class GoalsRow:
    """One agent and model under one condition with one simulator, or all pooled, by one source of scores.

    Of the scored trials with a final score: its mean ``score`` (0 to 100), the verifier's mean ``reward`` (0 to 1),
    the rate ``resolved``, and Spearman's ``correlation`` of score and reward
    over trials. ``verifier_informed`` trials are left out: hidden tests made their score. ``trust`` is in a judge;
    ``None``: it is none. ``told`` says in words whose scores they are.
    """

    agent: str
    model: str
    condition: str
    simulator: str
    source: ScoreSource
    trust: Trust | None
    told: str
    trials: int
    score: ScoreMean | None
    reward: float | None
    resolved: Rate
    correlation: float | None
    correlation_interval: Interval | None
    quadrants: Quadrants
    verifier_informed: int


def goals_table(study: Study) -> tuple[GoalsRow, ...]:
    """One row per agent, model, condition, simulator and source, where there is anything, or was left out."""
    rows = [replace(row, trust=trust_in_source(study, row.source, runs)) for row, runs in _rows(study)]
    return with_sources_told(rows)


@kept
def _rows(study: Study) -> tuple[tuple[GoalsRow, frozenset[str]], ...]:
    """With the runs that the trials of each are of; without what these do not tell."""
    return tuple(found for group in groups(study) for found in _of_group(group))


def _of_group(group: Group) -> Iterator[tuple[GoalsRow, frozenset[str]]]:
    found = dict(by_source(group.arm.scored))
    informed = len(found.pop(HIDDEN_TESTS, ()))
    if informed:
        found = {CHECKS: (), **found}
    for source, scored in found.items():
        row = _row(group, source, scored, informed if source == CHECKS else 0)
        yield row, frozenset(each.trial.run for each in scored)


def _row(group: Group, source: ScoreSource, scored: Sequence[TrialScores], informed: int) -> GoalsRow:
    tasks: dict[str, list[tuple[float, float, bool]]] = defaultdict(list)
    for each in sorted(scored, key=lambda each: each.trial.task):
        if each.final is not None:
            resolved = bool(each.trial.resolved)
            reward = float(resolved) if each.trial.reward is None else each.trial.reward
            tasks[each.trial.task].append((each.final, reward, resolved))
    ends = [end for each in tasks.values() for end in each]
    pairs = [[(score, reward) for score, reward, _ in each] for each in tasks.values()]
    return GoalsRow(
        agent=group.arm.agent,
        model=group.arm.model,
        condition=group.condition,
        simulator=group.simulator,
        source=source,
        trust=None,
        told="",
        trials=len(ends),
        score=mean_of((task, score) for task, each in tasks.items() for score, _, _ in each),
        reward=mean(reward for _, reward, _ in ends),
        resolved=rate_of((task, resolved) for task, each in tasks.items() for *_, resolved in each),
        correlation=spearman([score for score, _, _ in ends], [reward for _, reward, _ in ends]),
        correlation_interval=spearman_interval(pairs),
        quadrants=_quadrants(ends),
        verifier_informed=informed,
    )


def _quadrants(ends: Sequence[tuple[float, float, bool]]) -> Quadrants:
    found = [(resolved, score >= NEAR_PERFECT) for score, _, resolved in ends]
    return Quadrants(
        *(found.count(each) for each in ((True, True), (True, False), (False, True), (False, False)))
    )
