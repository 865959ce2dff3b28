"""What judge models made of plans and code, beside what executable checks found of the same trials."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fourhands.analysis.findings.arms import Arm, Trial, agents_of, mean
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.judged import JudgedTrial, judged_trials
from fourhands.analysis.study import Study
from fourhands.analysis.trust import Voice
from fourhands.model.audit import AUDITS, AuditName

__all__ = ["JudgedRow", "goals_voice", "judged_table"]


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """One judge with one version of its prompts, on one agent and model under one condition.

    ``judged`` are the scored trials that it read; ``plan`` and ``final`` are its means over them, 0 to 100, of what
    counts. ``checked`` is the mean final score of the same trials by executable checks. ``unscored`` are points of
    all states that do not count, of ``points``. ``runs`` are ids of the runs that the trials are of, sorted.
    """

    agent: str
    model: str
    condition: str
    judge: str
    prompt_version: int
    runs: tuple[str, ...]
    judged: int
    plan: float | None
    final: float | None
    checked: float | None
    unscored: int
    points: int

    @property
    def voice(self) -> Voice:
        """The judge, as its agreement with people is looked up."""
        return goals_voice(self.judge, self.prompt_version)


def goals_voice(judge: str, prompt_version: int) -> Voice:
    """A judge of goals, by the audit's question as it is today."""
    audit = AuditName.GOALS
    return Voice(audit, AUDITS[audit].version, judge, prompt_version)


@kept
def judged_table(study: Study) -> tuple[JudgedRow, ...]:
    """One row per agent, model, condition and judge, where a judge has read scored trials."""
    return tuple(row for agent in agents_of(study) for arm in agent.arms for row in _rows(arm))


def _rows(arm: Arm) -> Iterator[JudgedRow]:
    found: dict[tuple[str, int], list[tuple[Trial, JudgedTrial]]] = defaultdict(list)
    for trial in arm.scored:
        for judged in judged_trials(trial.judged):
            found[judged.judge, judged.prompt_version].append((trial, judged))
    for _, pairs in sorted(found.items()):
        yield _row(arm, [trial for trial, _ in pairs], [judged for _, judged in pairs])


def _row(arm: Arm, trials: Sequence[Trial], said: Sequence[JudgedTrial]) -> JudgedRow:
    return JudgedRow(
        agent=arm.agent,
        model=arm.model,
        condition=arm.condition,
        judge=said[0].judge,
        prompt_version=said[0].prompt_version,
        runs=tuple(sorted({trial.run for trial in trials})),
        judged=len(said),
        plan=mean(each.plan for each in said),
        final=mean(each.final for each in said),
        checked=mean(trial.final_score for trial in trials),
        unscored=sum(each.unscored for each in said),
        points=sum(each.points for each in said),
    )
