"""Causal ablations -> how many failures the user's edits caused, per agent and condition. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fourhands.model.ablation import Ablation, Cause, Conclusion
from fourhands.model.condition import Condition
from fourhands.model.event import Event
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.trajectories.ablations import failed_after_edit

__all__ = ["AblatedTrial", "AblationRow", "ablated_trial", "ablation_row", "ablation_table"]


@dataclass(frozen=True, slots=True)
class AblatedTrial:
    """A trial and its ablation, if it has one. ``applies``: it is scored, failed, and an edit was delivered."""

    key: TrialKey
    applies: bool
    ablation: Ablation | None


@dataclass(frozen=True, slots=True)
class AblationRow:
    """One agent under one condition, in trials.

    ``failed_touched`` is the population; it is the sum of ``edit_caused``, ``also_broken_without``,
    ``cannot_compose`` and ``not_yet`` (not ablated). ``by_removal`` and ``by_replacement`` add up to
    ``edit_caused``; ``stood`` are those in whose final state anything of the edit was left; ``timed_out`` those in
    which tests ran out of time: the next ``ablate`` concludes on them again.
    """

    agent: str
    model: str
    condition: str
    failed_touched: int
    edit_caused: int
    by_removal: int
    by_replacement: int
    also_broken_without: int
    cannot_compose: int
    not_yet: int
    stood: int
    timed_out: int

    def as_json(self) -> dict[str, Any]:
        """As ``ablate --json`` prints it."""
        return asdict(self)


def ablated_trial(key: TrialKey, events: Sequence[Event], ablation: Ablation | None) -> AblatedTrial:
    """A trial from the events of its final attempt and what that attempt's ablation holds."""
    return AblatedTrial(key, failed_after_edit(events), ablation)


def ablation_table(trials: Iterable[AblatedTrial]) -> list[AblationRow]:
    """One row per agent and condition that has a trial in the population, in order of appearance."""
    groups: dict[tuple[AgentSpec, Condition], list[Ablation | None]] = defaultdict(list)
    for trial in trials:
        if trial.applies:
            groups[trial.key.agent, trial.key.condition].append(trial.ablation)
    return [ablation_row(agent, condition, found) for (agent, condition), found in groups.items()]


def ablation_row(agent: AgentSpec, condition: Condition, found: Sequence[Ablation | None]) -> AblationRow:
    """The row of one agent under one condition; ``found`` has ``None`` for a trial that is not ablated yet."""
    done = [ablation for ablation in found if ablation is not None]
    conclusions = [ablation.conclusion for ablation in done]
    causes = [ablation.by for ablation in done]
    return AblationRow(
        agent=agent.name,
        model=agent.model,
        condition=condition.label,
        failed_touched=len(found),
        edit_caused=conclusions.count(Conclusion.EDIT_CAUSED),
        by_removal=causes.count(Cause.REMOVAL),
        by_replacement=causes.count(Cause.REPLACEMENT),
        also_broken_without=conclusions.count(Conclusion.ALSO_BROKEN_WITHOUT),
        cannot_compose=conclusions.count(Conclusion.CANNOT_COMPOSE),
        not_yet=len(found) - len(done),
        stood=sum(ablation.stood for ablation in done),
        timed_out=sum(not ablation.is_final for ablation in done),
    )
