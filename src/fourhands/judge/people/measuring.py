"""People's answers and a judge's -> how far the judge agrees with people, and they with each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from fourhands.analysis.statistics.agreement import cohen_kappa, gwet_ac
from fourhands.analysis.statistics.agreement_alternative import alternative_test, why_no_alternative_test
from fourhands.analysis.statistics.agreement_classes import class_rates, prevalence_elsewhere
from fourhands.analysis.statistics.agreement_tables import Question, Seen
from fourhands.judge.people.answers_file import PersonsAnswers
from fourhands.judge.people.drawing import unit_of
from fourhands.judge.people.gold import Gold, gold_of
from fourhands.judge.people.key_file import Key
from fourhands.judge.people.pairs import among_people
from fourhands.judge.people.population import JudgeAnswers
from fourhands.judge.people.sampling import see_that_both_are_drawn
from fourhands.model.agreement import LEAST_ITEMS, Agreement, ClassAgreement, Counted
from fourhands.model.audit import Audit, Choice
from fourhands.model.errors import InputError

__all__ = ["Elsewhere", "Measured", "measure"]


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another run: the judge has read ``items`` of its ``population``, and ``gives`` each label to so many."""

    gives: Mapping[str, int]
    items: int
    population: int


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found of one judge, and of what it was not found.

    Attributes:
        agreement: of the judge with people, for the sheet's own runs.
        ties: items on which people are divided, at least on one label: left out there.
        unanswered: items of the sheet that nobody answered.
        without_opinion: items that people answered, and of which the judge has no opinion.
        notes: what there is to know besides, a sentence each.
        questions: each label as it was asked; for `elsewhere`.
    """

    agreement: Agreement
    ties: int
    unanswered: int
    without_opinion: int
    notes: tuple[str, ...]
    questions: Mapping[str, Question]

    def elsewhere(self, other: Elsewhere) -> Agreement:
        """The agreement as it stands for another run, whose shares of labels it corrects."""
        classes = [self._class_elsewhere(each, other) for each in self.agreement.classes]
        return replace(self.agreement, classes=tuple(classes), population=other.population, read=other.items)

    def _class_elsewhere(self, own: ClassAgreement, other: Elsewhere) -> ClassAgreement:
        if not other.items or other.items < other.population:
            return replace(own, judged=None, corrected=None)
        given = other.gives[own.label]
        corrected = prevalence_elsewhere(self.questions[own.label], given, other.items)
        return replace(own, judged=given / other.items, corrected=corrected)


def measure(
    key: Key, audit: Audit, people: Sequence[PersonsAnswers], judge: JudgeAnswers, *, epsilon: float
) -> Measured:
    """Hold a judge's answers against people's.

    Args:
        key: of the sheet.
        audit: what was asked.
        people: all who answered.
        judge: what it says of the population.
        epsilon: the handicap of people in the alternative-annotator test.

    Raises:
        InputError: too little can be compared, or positives alone: nobody could tell what the judge flags wrongly.
    """
    gold = gold_of(audit, people)
    sample = _Sample(key, audit, judge, gold)
    if len(sample.compared) < LEAST_ITEMS:
        raise InputError(
            f"{judge.judge}: {len(sample.compared)} of the sheet's items have its opinion and an answer that most "
            f"people give: {LEAST_ITEMS} are needed, or one that guesses could pass; have more answered, or draw a "
            "larger sheet"
        )
    sample.see_that_there_are_negatives()
    questions = {label: sample.question_of(label) for label in audit.names}
    asked = list(questions.values()) if audit.choice is Choice.ANY else [sample.question()]
    among = _Among(key, audit, people)
    classes = tuple(_class(label, question, among.of(label)) for label, question in questions.items())
    if not sample.tells_of_all:
        classes = tuple(map(_without_shares, classes))
    kappa, of_all = cohen_kappa(asked), among.of()
    if sample.counts_everywhere:
        counted = Counted(len(sample.compared), kappa, of_all, tuple(map(_without_shares, classes)))
    else:
        counted = _counted(sample, audit, _Among(key, audit, people, key.counted))
    answered = [place for place, name in key.drawn if name in gold]
    of_people = {person.name: person.answers for person in people}
    of_judge = {name: sample.said[place] for place, name in key.drawn if place in sample.said}
    weights = sample.weights()
    no_test = why_no_alternative_test(of_people, of_judge)
    agreement = Agreement(
        audit=audit.name,
        audit_version=audit.version,
        judge=judge.judge,
        prompt_version=judge.prompt_version,
        population=len(key.population),
        read=len(sample.said),
        items=len(sample.compared),
        annotators=tuple(sorted(of_people)),
        sampled=key.sampled,
        kappa=kappa,
        ac2=gwet_ac(asked),
        people=of_all,
        alternative=alternative_test(
            of_people,
            of_judge,
            lambda one, other: _likeness(audit, one, other),
            weights=weights,
            epsilon=epsilon,
        ),
        classes=classes,
        counted=counted,
        measured_on=tuple(run.run for run in key.runs),
        sheet=key.digest,
    )
    return Measured(
        agreement,
        ties=sum(each.is_tied for each in gold.values()),
        unanswered=len(key.drawn) - len(answered),
        without_opinion=sum(place not in sample.said for place in answered),
        notes=tuple(filter(None, (sample.what_it_has_read(), sample.what_people_have_not(), no_test))),
        questions=questions,
    )


@dataclass(frozen=True, slots=True)
class _Among:
    """People among each other, of items ``within`` these places; ``None``: of all."""

    key: Key
    audit: Audit
    people: Sequence[PersonsAnswers]
    within: Collection[int] | None = None

    def of(self, label: str | None = None) -> float | None:
        return among_people(self.key, self.audit, self.people, label=label, within=self.within)


class _Sample:
    """The items of a sheet that both have answered, in the population of those that the judge has."""

    def __init__(self, key: Key, audit: Audit, judge: JudgeAnswers, gold: Mapping[str, Gold]) -> None:
        self._key = key
        self._audit = audit
        self._outdated = judge.outdated
        self._shown = judge.left_out
        self._where = key.counted
        units = {place: unit_of(entry) for place, entry in enumerate(key.population)}
        self.said = {place: judge.answers[unit] for place, unit in units.items() if unit in judge.answers}
        self.compared = [
            (place, gold[name])
            for place, name in key.drawn
            if place in self.said and name in gold and not all(v is None for v in gold[name].applies.values())
        ]

    def see_that_there_are_negatives(self) -> None:
        """Raises InputError: there are none of a label, by the judge's answers or by people's."""
        places = sorted(self.said)
        chosen = {place for place, _ in self.compared}
        remedy = "have more items answered, or draw a larger sheet"
        see_that_both_are_drawn(
            self._audit,
            [self.said[place] for place in places],
            [at for at, place in enumerate(places) if place in chosen],
            remedy,
        )
        for label in self._audit.names:
            if all(
                gold.applies[label] for _, gold in self.compared if gold.applies[label] is not None
            ) and any(gold.applies[label] for _, gold in self.compared):
                raise InputError(
                    f"positives only: people give '{label}' to every item that is compared; {remedy}"
                )

    def what_it_has_read(self) -> str | None:
        """Of how little of the population the judge has an opinion, or none was drawn; ``None``: of all."""
        if self.tells_of_all:
            return None
        if len(self.said) == len(self._key.population):
            return f"the sheet was drawn of what {self._key.by} has read: there are no shares of labels"
        older = f", and of {self._outdated} by an older prompt" if self._outdated else ""
        return (
            f"the judge has an opinion of {len(self.said)} of {len(self._key.population)} items there are{older}: "
            "all numbers are of these, which need not be like the rest, so there are no shares of labels"
        )

    def what_people_have_not(self) -> str | None:
        """Of how many items people were shown less than the judge; ``None``: of none, as far as is known."""
        entries = [self._key.population[place] for place, _ in self.compared]
        cut = sum(
            entry.left_out is not None and self._shown.get(unit_of(entry), entry.left_out) < entry.left_out
            for entry in entries
        )
        return f"people were shown less of {cut} of the {len(entries)} items than the judge" if cut else None

    @property
    def tells_of_all(self) -> bool:
        """Whether the judge has an opinion of all of the population, and the sheet was drawn of all of it."""
        entries = self._key.population
        drawn = {entries[place].stratum for place, _ in self._key.drawn}
        return len(self.said) == len(entries) and {entry.stratum for entry in entries} <= drawn

    @property
    def counted(self) -> list[int]:
        """Places of items that both have answered, and where the judge's word counts."""
        return [place for place, _ in self.compared if place in self._where]

    @property
    def counts_everywhere(self) -> bool:
        """Whether its word counts of all that it has read."""
        return self.said.keys() <= self._where

    def question_of(self, label: str, *, counted: bool = False) -> Question:
        """Whether the label is given, ``counted``: where the judge's word counts, and nowhere else."""
        return self._asked(
            2,
            {place: int(label in answer) for place, answer in self.said.items()},
            {place: gold.applies[label] for place, gold in self.compared},
            counted=counted,
        )

    def question(self, *, counted: bool = False) -> Question:
        """Which one label is given; likewise."""
        numbers = {label: number for number, label in enumerate(self._audit.names)}
        return self._asked(
            len(numbers),
            {place: min(numbers[label] for label in answer) for place, answer in self.said.items()},
            {
                place: next(numbers[label] for label, applies in gold.applies.items() if applies)
                for place, gold in self.compared
            },
            counted=counted,
        )

    def weights(self) -> dict[str, float]:
        """How many items of the population each item of the sheet stands for that the judge has an opinion of."""
        entries = self._key.population
        whole = Counter(entries[place].stratum for place in self.said)
        drawn = Counter(entries[place].stratum for place, _ in self._key.drawn if place in self.said)
        return {
            name: whole[entries[place].stratum] / drawn[entries[place].stratum]
            for place, name in self._key.drawn
            if place in self.said
        }

    def _asked(
        self, categories: int, judged: Mapping[int, int], gold: Mapping[int, int | None], *, counted: bool
    ) -> Question:
        entries = self._key.population
        if counted:
            judged = {place: first for place, first in judged.items() if place in self._where}
            gold = {place: second for place, second in gold.items() if place in self._where}
        return Question(
            items=[
                Seen(entries[place].stratum, entries[place].task, judged[place], int(second))
                if (second := gold.get(place)) is not None
                else None
                for place, _ in self._key.drawn
            ],
            population=Counter((entries[place].stratum, first) for place, first in judged.items()),
            categories=categories,
            ordered=self._audit.choice is Choice.STEP,
        )


def _counted(sample: _Sample, audit: Audit, among: _Among) -> Counted:
    """What a judge is trusted by. A part of the population has no shares of labels of its own."""
    if not sample.counted:
        return Counted(0, None, None, ())
    questions = {label: sample.question_of(label, counted=True) for label in audit.names}
    is_any = audit.choice is Choice.ANY
    asked = list(questions.values()) if is_any else [sample.question(counted=True)]
    return Counted(
        items=len(sample.counted),
        kappa=cohen_kappa(asked),
        people=among.of(),
        classes=tuple(
            _without_shares(_class(label, question, among.of(label))) for label, question in questions.items()
        ),
    )


def _without_shares(found: ClassAgreement) -> ClassAgreement:
    return replace(found, judged=None, corrected=None)


def _class(label: str, question: Question, people: float | None) -> ClassAgreement:
    rates = class_rates(question)
    return ClassAgreement(
        label=label,
        positives=sum(item.second for item in question.seen),
        items=len(question.seen),
        kappa=cohen_kappa([question]),
        sensitivity=rates.sensitivity,
        specificity=rates.specificity,
        judged=rates.judged,
        corrected=rates.true,
        people=people,
    )


def _likeness(audit: Audit, one: frozenset[str], other: frozenset[str]) -> float:
    """How much two answers agree: more is more alike."""
    labels = audit.names
    if audit.choice is Choice.ANY:
        return -len(one ^ other)  # whole numbers: of what is as far apart, the sums are equal
    if audit.choice is Choice.ONE:
        return float(one == other)
    first, second = (labels.index(next(iter(answer))) for answer in (one, other))
    return 1 - ((first - second) / (len(labels) - 1)) ** 2
