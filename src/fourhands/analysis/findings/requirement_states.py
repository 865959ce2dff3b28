"""How many of a conversation's requirements are held, told, met or lost, from its first message to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import orjson

from fourhands.analysis.discovery import GRID, held
from fourhands.analysis.findings.arms import Trial
from fourhands.analysis.findings.conversations.groups import Group, groups
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.study import Study
from fourhands.model.ledger_state import RequirementState

__all__ = ["StatesRow", "states_table"]


@dataclass(frozen=True, slots=True)
class StatesRow:
    """One agent and model under one condition with one simulator, or all pooled, at one point of progress.

    ``progress`` is 0 before the user's first message and 1 in the final state; ``shares`` are means over ``n`` scored
    trials of the share of the requirements in each state, which sum to 1. ``verifier_informed`` of the trials have
    states that were found with hidden tests.
    """

    agent: str
    model: str
    condition: str
    simulator: str
    progress: float
    n: int
    shares: Mapping[RequirementState, float]
    verifier_informed: int


@kept
def states_table(study: Study) -> tuple[StatesRow, ...]:
    """The points of the grid, for each agent, model, condition and simulator that has scored trials."""
    return tuple(row for group in groups(study) for row in _rows(group))


def _rows(group: Group) -> list[StatesRow]:
    told = [(trial, states) for trial in group.arm.scored if (states := _states(trial))]
    curves = [[states[index] for index in held(len(states))] for _, states in told]
    return [
        StatesRow(
            agent=group.arm.agent,
            model=group.arm.model,
            condition=group.condition,
            simulator=group.simulator,
            progress=progress,
            n=len(told),
            shares={
                state: fmean(curve[place][state] / sum(curve[place].values()) for curve in curves)
                for state in RequirementState
            },
            verifier_informed=sum(bool(trial.verifier_informed) for trial, _ in told),
        )
        for place, progress in enumerate(GRID)
        if told
    ]


def _states(trial: Trial) -> Sequence[Mapping[str, int]]:
    found: list[dict[str, int]] = orjson.loads(trial.states or "[]")
    return found
