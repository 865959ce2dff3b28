"""Which failures are explained: those of conversations, and those under the user's hands of tasks that these lost."""

from __future__ import annotations

from fourhands.analysis.findings.arms import Arm, Pairing, Trial, agents_of
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import is_majority
from fourhands.analysis.study import Study
from fourhands.model.condition import Condition
from fourhands.model.outcome import Termination

__all__ = ["failed_conversations", "failed_touched", "lost_tasks"]


@kept
def failed_conversations(study: Study) -> tuple[tuple[Arm, tuple[Trial, ...]], ...]:
    """SWE-Interact's, figure 5: of each arm whose user talks, the trials with no reward, without protocol failures.

    What a machine or our own set-up broke is not scored, and so not among them.
    """
    return tuple(
        (arm, tuple(trial for trial in _failed(arm) if trial.termination != Termination.PROTOCOL_FAILURE))
        for agent in agents_of(study)
        for arm in agent.others
        if arm.talks
    )


@kept
def failed_touched(study: Study) -> tuple[tuple[Arm, tuple[Trial, ...]], ...]:
    """SWE-Touch's, figure 4: of each arm whose user edits against the task, the failed trials of tasks that it lost.

    Its types are of an edit that conflicts: an arm whose user helps, says it only, or changes no meaning has none. An
    arm without a pair is left out: of it nothing can be told. The paper's exact rule is not known.
    """
    found = []
    for agent in agents_of(study):
        for arm in agent.others:
            pairing = agent.pairings.get(arm.condition)
            is_asked_of = Condition.parse(arm.condition).conflicts
            if is_asked_of and pairing is not None and pairing.tasks:
                lost = lost_tasks(pairing)
                found.append((arm, tuple(trial for trial in _failed(arm) if trial.task in lost)))
    return tuple(found)


def lost_tasks(pairing: Pairing) -> frozenset[str]:
    """Tasks that are majority-solved under the baseline and not under the condition."""
    sides = zip(pairing.tasks, pairing.before, pairing.after, strict=True)
    return frozenset(task for task, before, after in sides if is_majority(before) and not is_majority(after))


def _failed(arm: Arm) -> tuple[Trial, ...]:
    return tuple(trial for trial in arm.scored if not trial.resolved)
