"""Rates at will and with full coverage, and what was left untold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fourhands.analysis.findings.arms import Trial
from fourhands.analysis.findings.conversations.groups import Group, groups, is_covered, kept_agreement
from fourhands.analysis.findings.conversations.measures import Rate, rate_of
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.study import Study

__all__ = ["ConversationRow", "conversation_table"]


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One agent and model under one condition whose user talks, with one simulator, or all of them `POOLED`.

    ``at_will`` is of the state in which the agent first wanted to end, ``full`` of the final state of the trials in
    which everything was told by then: ``cut`` scored trials ended before that. ``lenient`` takes the final verdict of
    every scored trial, ``strict`` the same but for a protocol failure, which is unresolved: ``slipped`` of them.
    ``at_will_strict`` is to ``at_will`` what ``strict`` is to ``lenient``.

    ``held_at_will`` and ``held`` are requirements that were never told by then, of all scored trials, each as
    ``(trial, ids)`` where there are any.
    """

    agent: str
    model: str
    condition: str
    simulator: str
    trials: int
    scored: int
    at_will: Rate
    at_will_strict: Rate
    full: Rate
    lenient: Rate
    strict: Rate
    cut: int
    slipped: int
    held_at_will: tuple[tuple[str, tuple[str, ...]], ...]
    held: tuple[tuple[str, tuple[str, ...]], ...]
    verifier_informed: int


@kept
def conversation_table(study: Study) -> tuple[ConversationRow, ...]:
    """One row per agent, model, condition and simulator, then one of several simulators together."""
    return tuple(_conversation(group) for group in groups(study))


def _conversation(group: Group) -> ConversationRow:
    scored = group.arm.scored
    early = [trial for trial in scored if trial.resolved_at_will is not None]
    covered = [trial for trial in scored if is_covered(trial)]
    return ConversationRow(
        agent=group.arm.agent,
        model=group.arm.model,
        condition=group.condition,
        simulator=group.simulator,
        trials=len(group.arm.trials),
        scored=len(scored),
        at_will=rate_of((trial.task, bool(trial.resolved_at_will)) for trial in early),
        at_will_strict=rate_of((t.task, bool(t.resolved_at_will) and kept_agreement(t)) for t in early),
        full=rate_of((trial.task, bool(trial.resolved)) for trial in covered),
        lenient=rate_of((trial.task, bool(trial.resolved)) for trial in scored),
        strict=rate_of((trial.task, bool(trial.resolved) and kept_agreement(trial)) for trial in scored),
        cut=len(scored) - len(covered),
        slipped=sum(not kept_agreement(trial) for trial in scored),
        held_at_will=_named(scored, lambda trial: trial.held_at_will),
        held=_named(scored, lambda trial: trial.held),
        verifier_informed=group.arm.at_least_once("verifier_informed"),
    )


def _named(
    trials: Iterable[Trial], ids: Callable[[Trial], Sequence[str] | None]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((trial.trial, tuple(found)) for trial in trials if (found := ids(trial)))
