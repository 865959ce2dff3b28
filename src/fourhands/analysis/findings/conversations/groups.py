"""The rows of all tables of conversations: an arm whose user talks, and the arms of several simulators together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.findings.arms import Agent, Arm, Trial, agents_of
from fourhands.analysis.study import Study
from fourhands.model.condition import Condition
from fourhands.model.outcome import Termination

__all__ = [
    "POOLED",
    "Group",
    "as_compared",
    "at_will",
    "groups",
    "groups_of",
    "is_covered",
    "kept_agreement",
    "together_of",
]


POOLED: Final = "pooled"
"""The simulator of a row that counts the trials of several."""


@dataclass(frozen=True, slots=True)
class Group:
    """Trials that a row is of."""

    agent: Agent
    arm: Arm
    condition: str
    simulator: str


def groups(study: Study) -> Iterator[Group]:
    """Each arm whose user talks; of an agent that met several simulators, then all of these arms together."""
    return groups_of(agents_of(study))


def groups_of(agents: Iterable[Agent]) -> Iterator[Group]:
    """The same of some agents."""
    for agent in agents:
        together: dict[str, list[Arm]] = defaultdict(list)
        for arm in (arm for arm in agent.others if arm.talks):
            condition = Condition.parse(arm.condition)
            yield Group(agent, arm, arm.condition, condition.simulator)
            together[replace(condition, simulator="*").label].append(arm)
        for label, arms in together.items():
            if len(arms) > 1:
                yield Group(agent, together_of(arms), label, POOLED)


def together_of(arms: Sequence[Arm]) -> Arm:
    """The trials of several arms of one agent as if they were of the first."""
    return replace(arms[0], trials=tuple(trial for arm in arms for trial in arm.trials))


def at_will(arm: Arm) -> Arm:
    """The same trials as they stood when the agent first wanted to end: the verdict on that state, if there is one.

    Also what it had taken of the agent's model and of the user's words by then.
    """
    return replace(
        arm,
        trials=tuple(
            trial._replace(
                resolved=trial.resolved_at_will,
                scored=bool(trial.scored) and trial.resolved_at_will is not None,
                steps=trial.steps_at_will,
                tokens=trial.tokens_at_will,
                uncounted_replies=trial.uncounted_at_will,
                cost=trial.cost_at_will,
                cost_at_least=trial.cost_at_will_at_least,
                said=trial.said_at_will,
            )
            for trial in arm.trials
        ),
    )


def as_compared(arm: Arm) -> Arm:
    """What an arm is first compared by: of a conversation how it stood at will, where its record tells that."""
    willing = at_will(arm) if arm.talks else arm
    return willing if willing.scored else arm


def kept_agreement(trial: Trial) -> bool:
    """Whether the agent did not break the working agreement."""
    return trial.termination != Termination.PROTOCOL_FAILURE


def is_covered(trial: Trial) -> bool:
    """Whether everything was told in the end."""
    return bool(trial.requirements) and not trial.held
