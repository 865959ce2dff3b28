"""How conversations went: messages, looks, what was told when, scores, churn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from fourhands.analysis.findings.arms import Trial, mean
from fourhands.analysis.findings.conversations.churn import ChurnRow, Spread, churn_table
from fourhands.analysis.findings.conversations.groups import Group, groups
from fourhands.analysis.findings.conversations.measures import Rate, rate_of
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.study import Study

__all__ = ["Many", "TalkRow", "is_premature", "talk_table", "told_share"]


_FEW: Final = 1
"""With so many corrections, at most, a handover is called premature."""


@dataclass(frozen=True, slots=True)
class Many:
    """Of something that is counted a trial, over the trials that tell."""

    mean: float | None
    median: float | None
    most: int | None


@dataclass(frozen=True, slots=True)
class TalkRow:
    """How the conversations of one arm went, over its ``scored`` trials.

    ``told_at_will`` and ``told`` are mean shares of the requirements, when the agent first wanted to end and in the
    end. ``said`` are the user's messages a trial, ``looks`` what they chose to look at, and ``said_at_will`` and
    ``looks_at_will`` those before the agent first wanted to end: mean, median, most. ``questions``, ``corrections``
    and ``blocked`` are means. ``early`` is the rate of trials that wanted to end with something untold, or were cut
    with it, ``premature`` that of those to which it happened after one correction or none. ``plan_score`` and
    ``final_score`` are means from 0 to 100 over the trials that have one. ``churn``, ``late`` and ``undefined`` are
    as in `ChurnRow`.
    """

    agent: str
    model: str
    condition: str
    simulator: str
    scored: int
    told_at_will: float | None
    told: float | None
    said: Many
    said_at_will: Many
    questions: float | None
    corrections: float | None
    looks: Many
    looks_at_will: Many
    blocked: float | None
    early: Rate
    premature: Rate
    plan_score: float | None
    final_score: float | None
    churn: Spread
    undefined: int
    late: Spread
    verifier_informed: int


@kept
def talk_table(study: Study) -> tuple[TalkRow, ...]:
    """The same rows: how the conversations went."""
    return tuple(_talk(*each) for each in zip(groups(study), churn_table(study), strict=True))


def _talk(group: Group, churn: ChurnRow) -> TalkRow:
    scored = group.arm.scored
    return TalkRow(
        agent=group.arm.agent,
        model=group.arm.model,
        condition=group.condition,
        simulator=group.simulator,
        scored=len(scored),
        told_at_will=mean(told_share(trial, trial.held_at_will) for trial in scored),
        told=mean(told_share(trial, trial.held) for trial in scored),
        said=_many(trial.said for trial in scored),
        said_at_will=_many(trial.said_at_will for trial in scored),
        questions=mean(trial.questions for trial in scored),
        corrections=mean(trial.corrections for trial in scored),
        looks=_many(trial.looks for trial in scored),
        looks_at_will=_many(trial.looks_at_will for trial in scored),
        blocked=mean(trial.blocked for trial in scored),
        early=rate_of((trial.task, bool(trial.held_at_will)) for trial in scored),
        premature=rate_of((trial.task, is_premature(trial)) for trial in scored),
        plan_score=mean(trial.plan_score for trial in scored),
        final_score=mean(trial.final_score for trial in scored),
        churn=churn.overhead,
        undefined=churn.undefined,
        late=churn.late,
        verifier_informed=group.arm.at_least_once("verifier_informed"),
    )


def _many(counts: Iterable[int | None]) -> Many:
    known = [each for each in counts if each is not None]
    return Many(mean(known), median(known) if known else None, max(known, default=None))


def is_premature(trial: Trial) -> bool:
    """Whether the agent wanted to end with something untold, or was cut, and few corrections before that."""
    return bool(trial.held_at_will) and (trial.corrections_at_will or 0) <= _FEW


def told_share(trial: Trial, held: Sequence[str] | None) -> float | None:
    """Of the requirements, what is not among those held; ``None`` without any."""
    return 1 - len(held or ()) / len(trial.requirements) if trial.requirements else None
