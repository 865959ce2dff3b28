"""F4 and F5: what failures are composed of, overall and per agent, and by what each part was found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.conversations.measures import Rate, rate_of
from fourhands.analysis.findings.evidence import FailedArm, Failure, failed_arms
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.study import Study
from fourhands.analysis.trust import Voice
from fourhands.model.audit import AUDITS, AuditName
from fourhands.model.condition import Condition, Coverage
from fourhands.model.failure import FoundBy

__all__ = ["ALL", "UNDECIDED", "FailureRow", "LabelShare", "failure_table"]

ALL: Final = "all"
"""The agent, model or condition of a row that counts the trials of several."""
UNDECIDED: Final = "undecided"
"""The label of what neither execution nor events nor the row's judge decides."""


@dataclass(frozen=True, slots=True)
class LabelShare:
    """One label in one row, or what is `UNDECIDED`: then nothing found it.

    ``execution``, ``events`` and ``judge`` are the trials that have it by that and by nothing better; ``rate`` is of
    them all, of the row's trials. ``share`` is of all labels of the row, what is undecided counted as one more label
    of its trial. ``judged`` are trials to which the row's judge gives it, whatever else was found, of all that it
    read; ``None`` without a judge.
    """

    label: str
    execution: int
    events: int
    judge: int
    share: float | None
    rate: Rate
    judged: int | None


@dataclass(frozen=True, slots=True)
class FailureRow:
    """Failures of one scheme: of an agent, its model and a condition, or of several (`ALL`), with one judge or none.

    Attributes:
        scheme: whose labels they are: of `AuditName.SWE_INTERACT` a trial may have several, of `SWE_TOUCH` one.
        coverage: of conversations of several kinds, which kind; of one kind, or of no conversations, ``None``.
        voice: who is heard on what execution and events leave open, a judge or a user's own model; ``None``: nobody.
        n: trials of the population.
        unresolved: all scored trials that failed under these conditions, be their tasks of the population or not.
        read: of them the judge read.
        left: something was left open by execution and events.
        waiting: of these, for an ablation, or for one to the end, which might decide it.
        heard: ids of the runs whose trials the judge read, sorted.
        runs: ids of the runs that the trials are of, sorted.
        is_whole: it counts all that the study has of the scheme.
        shares: each label of the scheme, in its order, then what is `UNDECIDED`.
    """

    scheme: AuditName
    coverage: Coverage | None
    agent: str
    model: str
    condition: str
    voice: Voice | None
    n: int
    unresolved: int
    read: int
    left: int
    waiting: int
    heard: tuple[str, ...]
    runs: tuple[str, ...]
    is_whole: bool
    shares: tuple[LabelShare, ...]

    @property
    def undecided(self) -> int:
        """Trials in which something is left that nobody decides."""
        return self.shares[-1].rate.count

    def share_of(self, label: str) -> LabelShare:
        """What there is of a label. Raises KeyError: the scheme has no such label."""
        return {each.label: each for each in self.shares}[label]


@kept
def failure_table(study: Study) -> tuple[FailureRow, ...]:
    """Of each scheme all failures, then each agent and model, then under each condition: each where it is news.

    Conversations in which everything is told in the end are never counted together with those that end at will, for
    of the first no requirement can be missing. Where there are both, each kind has rows over all its conditions.

    Every one of them without a judge; then once with each judge who read any of its trials, and with each model of a
    user on whose word any of its labels rest.
    """
    return tuple(row for group in _groups(failed_arms(study)) for row in _rows(group))


@dataclass(frozen=True, slots=True)
class _Group:
    """``arms`` may have no failure of the population: of such ones no label is counted, but what is unresolved."""

    scheme: AuditName
    coverage: Coverage | None
    agent: str
    model: str
    condition: str
    arms: tuple[FailedArm, ...]
    is_whole: bool


def _groups(arms: Sequence[FailedArm]) -> Iterator[_Group]:
    schemes: dict[AuditName, list[FailedArm]] = defaultdict(list)
    for arm in arms:
        schemes[arm.scheme].append(arm)
    for scheme, found in schemes.items():
        kinds: dict[Coverage, list[FailedArm]] = defaultdict(list)
        for arm in found:
            kinds[Condition.parse(arm.arm.condition).coverage].append(arm)
        told = {kind: own for kind, own in kinds.items() if any(arm.failures for arm in own)}
        if scheme is AuditName.SWE_INTERACT and len(told) > 1:
            for kind, own in told.items():
                yield from _of_kind(scheme, kind, own)
        else:
            yield from _of_kind(scheme, None, found)


def _of_kind(scheme: AuditName, kind: Coverage | None, found: Sequence[FailedArm]) -> Iterator[_Group]:
    """``kind``: there are others as well; then an agent has a row over its conditions be it of one alone."""
    over = ALL if kind is None else f"{ALL}[coverage={kind}]"
    agents: dict[tuple[str, str], list[FailedArm]] = defaultdict(list)
    for each in found:
        agents[each.arm.agent, each.arm.model].append(each)
    failing = {agent: lost for agent, own in agents.items() if (lost := [arm for arm in own if arm.failures])}
    alone = len(failing) == 1 and kind is None
    if len(failing) > 1:
        yield _Group(scheme, kind, ALL, ALL, over, tuple(found), is_whole=kind is None)
    for (agent, model), lost in failing.items():
        if len(lost) > 1 or kind is not None:
            yield _Group(scheme, kind, agent, model, over, tuple(agents[agent, model]), is_whole=alone)
        for each in lost:
            whole = alone and len(lost) == 1
            yield _Group(scheme, kind, agent, model, each.arm.condition, (each,), is_whole=whole)


def _rows(group: _Group) -> Iterator[FailureRow]:
    failures = [failure for arm in group.arms for failure in arm.failures]
    voices = {voice for failure in failures for voice in failure.voices}
    yield _row(group, failures, None)
    for voice in sorted(voices, key=lambda each: (each.judge, each.prompt_version)):
        yield _row(group, failures, voice)


def _row(group: _Group, failures: Sequence[Failure], voice: Voice | None) -> FailureRow:
    opinions = [(each, each.voices[voice]) for each in failures if voice in each.voices] if voice else []
    found = [each.by(voice) for each in failures]
    undecided = [each.is_open(voice) for each in failures]
    total = sum(map(len, found)) + sum(undecided)

    def share(label: str, has: Sequence[bool], judged: int | None) -> LabelShare:
        by = [labels[label] for labels in found if label in labels]
        tasks = (each.trial.task for each in failures)
        return LabelShare(
            label=label,
            execution=by.count(FoundBy.EXECUTION),
            events=by.count(FoundBy.EVENTS),
            judge=by.count(FoundBy.JUDGE),
            share=sum(has) / total if total else None,
            rate=rate_of(zip(tasks, has, strict=True)),
            judged=judged,
        )

    given = [{each.label for each in opinion.labels} for _, opinion in opinions]
    return FailureRow(
        scheme=group.scheme,
        coverage=group.coverage,
        agent=group.agent,
        model=group.model,
        condition=group.condition,
        voice=voice,
        n=len(failures),
        unresolved=sum(arm.unresolved for arm in group.arms),
        read=len(opinions),
        left=sum(bool(each.left) for each in failures),
        waiting=sum(each.waits for each in failures),
        heard=tuple(sorted({failure.trial.run for failure, _ in opinions})),
        runs=tuple(sorted({failure.trial.run for failure in failures})),
        is_whole=group.is_whole,
        shares=(
            *(
                share(
                    label,
                    [label in labels for labels in found],
                    sum(label in labels for labels in given) if voice else None,
                )
                for label in AUDITS[group.scheme].names
            ),
            share(UNDECIDED, undecided, None),
        ),
    )
