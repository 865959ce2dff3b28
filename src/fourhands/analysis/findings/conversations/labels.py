"""Why conversations failed, by execution and events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.arms import Trial
from fourhands.analysis.findings.conversations.groups import Group, groups, is_covered, kept_agreement
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.schema import WHOLE
from fourhands.analysis.study import Study
from fourhands.model.failure import FailureLabel

__all__ = ["LabelCount", "LabelRow", "label_table"]


@dataclass(frozen=True, slots=True)
class LabelCount:
    """In how many trials a label is given, and to how many requirements in all: one of a whole trial is none's."""

    trials: int
    requirements: int


@dataclass(frozen=True, slots=True)
class LabelRow:
    """Why failed trials of one arm failed, by execution and events.

    ``failed`` are its scored trials that are unresolved in the final state and kept the working agreement; a trial
    may have any of the five labels, also one of it as a whole. ``undecided`` have something of which execution and
    events do not tell why, be there labels or not; ``unexplained`` have no label at all.
    ``at_will_failed`` and ``missing_at_will`` are the same of the state in which the agent first wanted to end.
    ``covered`` of the failed trials were told everything; ``missing_covered`` of these have a missing requirement,
    which is none by construction.
    """

    agent: str
    model: str
    condition: str
    simulator: str
    failed: int
    missing: LabelCount
    forgotten: LabelCount
    regressed: LabelCount
    misread: LabelCount
    buggy: LabelCount
    undecided: LabelCount
    unexplained: int
    covered: int
    missing_covered: int
    at_will_failed: int
    missing_at_will: LabelCount
    verifier_informed: int


@kept
def label_table(study: Study) -> tuple[LabelRow, ...]:
    """The same rows, of those that have a scored trial: why trials failed."""
    return tuple(_labels(group) for group in groups(study) if group.arm.scored)


def _labels(group: Group) -> LabelRow:
    own = [trial for trial in group.arm.scored if kept_agreement(trial)]
    failed = [trial for trial in own if not trial.resolved]
    early = [trial for trial in own if trial.resolved_at_will is False]
    covered = [trial for trial in failed if is_covered(trial)]
    return LabelRow(
        agent=group.arm.agent,
        model=group.arm.model,
        condition=group.condition,
        simulator=group.simulator,
        failed=len(failed),
        missing=_count(failed, FailureLabel.MISSING),
        forgotten=_count(failed, FailureLabel.FORGOTTEN),
        regressed=_count(failed, FailureLabel.REGRESSION),
        misread=_count(failed, FailureLabel.MISINTERPRETATION),
        buggy=_count(failed, FailureLabel.TECHNICAL),
        undecided=_counted(trial.undecided for trial in failed),
        unexplained=sum(not any(of(trial) for of in _OF.values()) for trial in failed),
        covered=len(covered),
        missing_covered=_count(covered, FailureLabel.MISSING).requirements,
        at_will_failed=len(early),
        missing_at_will=_counted(trial.missing_at_will for trial in early),
        verifier_informed=group.arm.at_least_once("verifier_informed"),
    )


_OF: Final[dict[FailureLabel, Callable[[Trial], Sequence[str] | None]]] = {
    FailureLabel.MISSING: lambda trial: trial.missing,
    FailureLabel.FORGOTTEN: lambda trial: trial.forgotten,
    FailureLabel.REGRESSION: lambda trial: trial.regressed,
    FailureLabel.MISINTERPRETATION: lambda trial: trial.misread,
    FailureLabel.TECHNICAL: lambda trial: trial.buggy,
}


def _count(trials: Iterable[Trial], label: FailureLabel) -> LabelCount:
    return _counted(map(_OF[label], trials))


def _counted(named: Iterable[Sequence[str] | None]) -> LabelCount:
    found = [each or () for each in named]
    return LabelCount(sum(map(bool, found)), sum(name != WHOLE for each in found for name in each))
