"""Causal ablation: how many failures the user's edits caused, per agent and condition, as execution shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourhands.analysis.findings.arms import Arm, Pairing, Trial, agents_of
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.findings.populations import lost_tasks
from fourhands.analysis.statistics import Interval, wilson
from fourhands.analysis.study import Study
from fourhands.model.ablation import Cause, Conclusion

__all__ = ["CausalRow", "Failures", "causal_table"]


@dataclass(frozen=True, slots=True)
class Failures:
    """``failed`` trials and what their ablation concluded.

    They are the sum of ``edit_caused``, ``also_broken_without``, ``cannot_compose`` and ``not_yet`` (not ablated).
    ``by_removal`` and ``by_replacement`` add up to ``edit_caused``; ``stood`` are those in whose final state anything
    of the edit was left; ``timed_out`` those in which tests ran out of time: the next ``ablate`` concludes on them
    again. ``caused_rate`` is of those that are ablated, with Wilson's interval.
    """

    failed: int
    edit_caused: int
    by_removal: int
    by_replacement: int
    also_broken_without: int
    cannot_compose: int
    not_yet: int
    stood: int
    timed_out: int
    caused_rate: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class CausalRow:
    """One agent and model under one condition.

    ``touched`` are the trials that failed after an edit was delivered. ``lost`` are those of them whose task is
    majority-solved under vanilla and not under the condition, the population of the paper's F4 as far as an edit was
    delivered, of ``lost_failed`` failed trials of such tasks; ``None`` where no task is scored under both.
    """

    agent: str
    model: str
    condition: str
    touched: Failures
    lost: Failures | None
    lost_failed: int | None


@kept
def causal_table(study: Study) -> tuple[CausalRow, ...]:
    """One row per agent, model and condition with a trial that failed after an edit, in order of appearance."""
    rows = []
    for agent in agents_of(study):
        for arm in agent.arms:
            touched = [trial for trial in arm.trials if trial.failed_touched]
            if touched:
                rows.append(_row(arm, agent.pairings.get(arm.condition), touched))
    return tuple(rows)


def _row(arm: Arm, pairing: Pairing | None, touched: Sequence[Trial]) -> CausalRow:
    lost = lost_tasks(pairing) if pairing and pairing.tasks else None
    failed = [trial for trial in arm.scored if not trial.resolved and trial.task in (lost or ())]
    return CausalRow(
        agent=arm.agent,
        model=arm.model,
        condition=arm.condition,
        touched=_failures(touched),
        lost=None if lost is None else _failures([trial for trial in touched if trial.task in lost]),
        lost_failed=None if lost is None else len(failed),
    )


def _failures(trials: Sequence[Trial]) -> Failures:
    done = [trial for trial in trials if trial.ablation is not None]
    conclusions = [trial.ablation for trial in done]
    causes = [trial.ablation_by for trial in done]
    caused = conclusions.count(Conclusion.EDIT_CAUSED)
    return Failures(
        failed=len(trials),
        edit_caused=caused,
        by_removal=causes.count(Cause.REMOVAL),
        by_replacement=causes.count(Cause.REPLACEMENT),
        also_broken_without=conclusions.count(Conclusion.ALSO_BROKEN_WITHOUT),
        cannot_compose=conclusions.count(Conclusion.CANNOT_COMPOSE),
        not_yet=len(trials) - len(done),
        stood=sum(bool(trial.ablation_stood) for trial in done),
        timed_out=sum(trial.ablation_final is False for trial in done),
        caused_rate=caused / len(done) if done else None,
        interval=wilson(caused, len(done)),
    )
