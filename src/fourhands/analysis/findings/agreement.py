"""How far judges agree: with people, where that was measured, and with execution, where both speak of one trial."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from fourhands.analysis.findings.arms import trials_of
from fourhands.analysis.findings.evidence import Failure, failed_arms, opinions_in
from fourhands.analysis.findings.judged import goals_voice
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.judged import judged_trials
from fourhands.analysis.statistics import wilson
from fourhands.analysis.statistics.agreement import cohen_kappa
from fourhands.analysis.statistics.agreement_tables import Question, Seen
from fourhands.analysis.study import Study
from fourhands.analysis.trust import Trust, Voice, trust_in
from fourhands.model.agreement import Agreement, ClassAgreement, Estimate
from fourhands.model.audit import AUDITS, AuditName, Choice
from fourhands.model.failure import FoundBy

__all__ = ["AgreementRow", "Source", "agreement_table", "heard_voices"]


class Source(StrEnum):
    """With whom a judge is compared."""

    PEOPLE = "people"
    EXECUTION = "execution"
    """What tests, checks or ablation show: a free audit, of what they decide alone."""


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One judge in one audit, compared with one source.

    Attributes:
        voice: the judge, with the versions of question and prompt.
        source: with what it is compared.
        runs: ids of the runs that this holds for, sorted.
        items: that both speak of; 0: the judge has spoken, and nobody has compared it.
        kappa: as in `Agreement`.
        classes: each label of which the source says something.
        agreement: what people's answers gave, where they are the source.
        trust: how far to trust the judge by people's answers in these runs, whatever the source.
        is_heard: whether it has spoken of any trial here by these versions.
    """

    voice: Voice
    source: Source
    runs: tuple[str, ...]
    items: int
    kappa: Estimate | None
    classes: tuple[ClassAgreement, ...]
    agreement: Agreement | None
    trust: Trust
    is_heard: bool


def agreement_table(study: Study) -> tuple[AgreementRow, ...]:
    """By audit and judge: with people each time that was measured, or that it was not; then with execution."""
    rows = [*_with_people(study), *_unaudited(study), *_with_execution(study)]
    sources = [*Source]
    return tuple(sorted(rows, key=lambda row: (_order(row.voice), sources.index(row.source), row.runs)))


def _order(voice: Voice) -> tuple[int, str, int, int]:
    return [*AuditName].index(voice.audit), voice.judge, voice.audit_version, voice.prompt_version


def _with_people(study: Study) -> Iterator[AgreementRow]:
    runs: dict[Agreement, list[str]] = defaultdict(list)
    for run in study.runs:
        for each in run.agreements:
            runs[each].append(run.run)
    for each, held in runs.items():
        voice = Voice(each.audit, each.audit_version, each.judge, each.prompt_version)
        yield AgreementRow(
            voice=voice,
            source=Source.PEOPLE,
            runs=tuple(sorted(held)),
            items=each.items,
            kappa=each.kappa,
            classes=each.classes,
            agreement=each,
            trust=Trust(each),
            is_heard=voice in heard_voices(study),
        )


def _unaudited(study: Study) -> Iterator[AgreementRow]:
    for voice, runs in heard_voices(study).items():
        trust = trust_in(study, voice, runs)
        if not trust.is_audited:
            yield AgreementRow(voice, Source.PEOPLE, runs, 0, None, (), None, trust, is_heard=True)


def _with_execution(study: Study) -> Iterator[AgreementRow]:
    for voice, found in _executed(study).items():
        trust = trust_in(study, voice, heard_voices(study)[voice])
        yield AgreementRow(
            voice,
            Source.EXECUTION,
            found.runs,
            found.items,
            found.kappa,
            found.classes,
            None,
            trust,
            is_heard=True,
        )


@kept
def heard_voices(study: Study) -> Mapping[Voice, tuple[str, ...]]:
    """Every judge that has spoken of any trial, by audit and judge, and the ids of the runs that these are of."""
    runs: dict[Voice, set[str]] = defaultdict(set)
    for trial in trials_of(study):
        for said in opinions_in(trial):
            voice = Voice(said.audit, said.audit_version, said.judge, said.prompt_version)
            runs[voice].add(trial.run)
        for each in judged_trials(trial.judged):
            runs[goals_voice(each.judge, each.prompt_version)].add(trial.run)
    return {voice: tuple(sorted(runs[voice])) for voice in sorted(runs, key=_order)}


@dataclass(frozen=True, slots=True)
class _Measured:
    runs: tuple[str, ...]
    items: int
    kappa: Estimate | None
    classes: tuple[ClassAgreement, ...]


@kept
def _executed(study: Study) -> Mapping[Voice, _Measured]:
    """Each judge beside execution, where that decides anything of what the judge has read."""
    both: dict[Voice, list[Failure]] = defaultdict(list)
    for arm in failed_arms(study):
        for failure in arm.failures:
            for voice in failure.opinions:
                both[voice].append(failure)
    return {voice: found for voice, told in both.items() if (found := _measured(voice, told))}


def _measured(voice: Voice, failures: Sequence[Failure]) -> _Measured | None:
    """``None`` where execution decides nothing of what the judge has read."""
    spoken = [each for each in failures if FoundBy.EXECUTION in each.found.values()]
    if not spoken:
        return None
    audit = AUDITS[voice.audit]
    given = [[each.label for each in failure.opinions[voice].labels] for failure in spoken]
    pairs = {label: _pairs(spoken, given, label) for label in audit.names}
    questions = {label: _question(spoken, found, 2) for label, found in pairs.items() if any(found)}
    whole = [*questions.values()]
    if audit.choice is Choice.ONE:
        places = {label: place for place, label in enumerate(audit.names)}
        one = [
            (places[said[0]], places[next(iter(each.found))]) if said else None
            for each, said in zip(spoken, given, strict=True)
        ]
        whole = [_question(spoken, one, len(audit.names))]
    return _Measured(
        runs=tuple(sorted({each.trial.run for each in spoken})),
        items=len(spoken),
        kappa=cohen_kappa(whole),
        classes=tuple(_class(label, each) for label, each in questions.items()),
    )


def _pairs(
    spoken: Iterable[Failure], given: Iterable[Sequence[str]], label: str
) -> list[tuple[int, int] | None]:
    """Of each trial whether the judge gives a label, and whether execution does; ``None`` where that cannot tell.

    It can tell that a label is there; that it is not, only where all is decided, and by execution alone.
    """
    found: list[tuple[int, int] | None] = []
    for each, said in zip(spoken, given, strict=True):
        is_there = each.found.get(label) is FoundBy.EXECUTION
        is_all = not each.left and set(each.found.values()) == {FoundBy.EXECUTION}
        found.append((int(label in said), int(is_there)) if is_there or is_all else None)
    return found


def _question(
    spoken: Iterable[Failure], pairs: Sequence[tuple[int, int] | None], categories: int
) -> Question:
    """All that both speak of is compared: no sample of it."""
    items = [pair and Seen("all", each.trial.task, *pair) for each, pair in zip(spoken, pairs, strict=True)]
    return Question(items, Counter(("all", item.first) for item in items if item), categories)


def _class(label: str, question: Question) -> ClassAgreement:
    there, absent = ([item.first for item in question.seen if item.second == side] for side in (1, 0))
    return ClassAgreement(
        label=label,
        positives=len(there),
        items=len(question.seen),
        kappa=cohen_kappa([question]),
        sensitivity=_share(sum(there), len(there)),
        specificity=_share(len(absent) - sum(absent), len(absent)),
        judged=None,
        corrected=None,
    )


def _share(count: int, of: int) -> Estimate | None:
    interval = wilson(count, of)
    return Estimate(count / of, interval.low, interval.high) if interval else None
