"""The controls, and every condition: Δ of each agent, and its mean over the agents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

from fourhands.analysis.findings.arms import Arm, Pairing, agents_of, pair
from fourhands.analysis.findings.conversations.groups import as_compared
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import Interval, paired_interval, sign_flip
from fourhands.analysis.study import Study

__all__ = ["AgentDelta", "ControlRow", "control_table", "first_compared_table"]


@dataclass(frozen=True, slots=True)
class AgentDelta:
    """One agent and model: Δ paired by task with its interval.

    ``not_applicable`` counts tasks without such an edit.
    """

    agent: str
    model: str
    delta: float | None
    interval: Interval | None
    pairs: int
    incomplete_pairs: int
    not_applicable: int


@dataclass(frozen=True, slots=True)
class ControlRow:
    """One condition over all agents that have it and vanilla.

    ``mean_delta`` is the mean of the agents' Δ, each agent alike. Its interval and sign-flip ``p``, exact, take the
    agents as they are and cluster by task: they are of the ``tasks`` that are paired for every agent, and ``None``
    without one. ``not_applicable`` counts tasks that lack such an edit.
    """

    condition: str
    condition_name: str
    agents: tuple[AgentDelta, ...]
    mean_delta: float | None
    mean_interval: Interval | None
    p: float | None
    tasks: int
    not_applicable: int


@kept
def control_table(study: Study) -> tuple[ControlRow, ...]:
    """One row per condition, in order of appearance."""
    return _table(study, lambda arm: arm)


@kept
def first_compared_table(study: Study) -> tuple[ControlRow, ...]:
    """The same rows; of conversations with the verdicts on the states in which the agents first wanted to end.

    That is the rate that the paper has, of what the agent delivers without being sent back.
    """
    return _table(study, as_compared)


def _table(study: Study, state: Callable[[Arm], Arm]) -> tuple[ControlRow, ...]:
    found: dict[str, list[tuple[Arm, Pairing]]] = defaultdict(list)
    for agent in agents_of(study):
        for arm in agent.others:
            if baseline := agent.baseline_of(arm):
                found[arm.condition].append((arm, pair(baseline, state(arm))))
    return tuple(_row(arms) for arms in found.values())


def _row(arms: list[tuple[Arm, Pairing]]) -> ControlRow:
    deltas = [pairing.delta for _, pairing in arms if pairing.delta is not None]
    by_agent = [
        dict(zip(pairing.tasks, pairing.differences, strict=True)) for _, pairing in arms if pairing.tasks
    ]
    common = sorted(set.intersection(*(set(each) for each in by_agent))) if by_agent else []
    means = tuple(fmean(each[task] for each in by_agent) for task in common)
    return ControlRow(
        condition=arms[0][0].condition,
        condition_name=arms[0][0].condition_name,
        agents=tuple(
            AgentDelta(
                agent=arm.agent,
                model=arm.model,
                delta=pairing.delta,
                interval=pairing.interval,
                pairs=len(pairing.tasks),
                incomplete_pairs=len(pairing.incomplete),
                not_applicable=len(_lacking(arm)),
            )
            for arm, pairing in arms
        ),
        mean_delta=fmean(deltas) if deltas else None,
        mean_interval=paired_interval(means),
        p=sign_flip(means) if means else None,
        tasks=len(common),
        not_applicable=len(set[str]().union(*(_lacking(arm) for arm, _ in arms))),
    )


def _lacking(arm: Arm) -> set[str]:
    return {trial.task for trial in arm.trials if not trial.applies}
