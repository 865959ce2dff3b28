"""Judges against people whose truth is known: the good one is accepted, the others are exposed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from fourhands.judge.people.answers_file import PersonsAnswers
from fourhands.judge.people.key_file import Key, KeyEntry, KeyRun
from fourhands.judge.people.measuring import Elsewhere, measure
from fourhands.judge.people.population import JudgeAnswers, Unit
from fourhands.model.agreement import Agreement, Estimate, Verdict
from fourhands.model.audit import AUDITS, TRUSTED_FROM, AuditName, Choice
from fourhands.model.errors import InputError

from .sheets import SyntheticSheet, synthetic

Answer = frozenset[str]
ANY, ONE, STEP = (AUDITS[name] for name in (AuditName.SWE_INTERACT, AuditName.SWE_TOUCH, AuditName.GOALS))


@pytest.fixture(scope="module", params=[ANY, ONE, STEP], ids=lambda audit: audit.name)
def sheet(request: pytest.FixtureRequest) -> SyntheticSheet:
    return synthetic(request.param)


def agreement(sheet: SyntheticSheet, judge: str) -> Agreement:
    return measure(sheet.key, sheet.audit, sheet.people, sheet.judges[judge], epsilon=0.2).agreement


def holds(found: Estimate | None, truth: float) -> bool:
    return found is not None and found.low is not None and found.low <= truth <= (found.high or 0.0)


def test_a_good_judge_is_accepted_and_its_shares_corrected_to_the_truth(sheet: SyntheticSheet) -> None:
    found = agreement(sheet, "good")
    assert found.is_trusted
    assert found.kappa
    assert found.people is not None
    assert found.kappa.value > found.people
    assert found.ac2
    assert found.ac2.value > 0.6
    assert found.alternative
    assert found.alternative.passed
    assert found.annotators == ("ann", "bob", "eve")
    assert [each.label for each in found.classes] == list(sheet.audit.names)
    missed = [each.label for each in found.classes if not holds(each.corrected, sheet.share(each.label))]
    assert len(missed) <= 1  # of seven at 95 %; people err, too


@pytest.mark.parametrize("judge", ["constant", "random"])
def test_a_judge_that_always_says_the_same_and_one_that_guesses_are_exposed(
    sheet: SyntheticSheet, judge: str
) -> None:
    found = agreement(sheet, judge)
    assert not found.is_trusted
    assert found.kappa
    assert abs(found.kappa.value) < 0.2
    assert found.alternative
    assert not found.alternative.passed
    first = found.classes[0]
    assert first.sensitivity
    assert first.specificity
    assert first.sensitivity.value + first.specificity.value == pytest.approx(1, abs=0.25)
    if judge == "constant":
        assert all(each.corrected is None for each in found.classes)
        assert all(each.kappa is not None and each.kappa.value == 0 for each in found.classes)


def test_that_rare_labels_were_sought_out_changes_no_number_but_their_certainty() -> None:
    sought, random = (synthetic(ANY, by=by, size=60, error=0.02) for by in ("good", None))
    assert sought.truth == random.truth
    rare = ANY.names[3]
    of_sought, of_random = (
        next(each for each in agreement(sheet, "good").classes if each.label == rare)
        for sheet in (sought, random)
    )
    assert of_sought.positives > of_random.positives
    assert of_sought.judged == of_random.judged
    assert holds(of_sought.corrected, sought.share(rare))
    assert holds(of_random.corrected, sought.share(rare))


def test_for_another_run_what_the_judge_gives_there_is_corrected() -> None:
    sheet = synthetic(ANY, by=None, size=150)
    measured = measure(sheet.key, ANY, sheet.people, sheet.judges["good"], epsilon=0.2)
    elsewhere = measured.elsewhere(Elsewhere(dict.fromkeys(ANY.names, 40), 80, 80))
    first, own = elsewhere.classes[0], measured.agreement.classes[0]
    assert (first.judged, first.sensitivity) == (0.5, own.sensitivity)
    assert own.sensitivity
    assert own.specificity
    informed = own.sensitivity.value + own.specificity.value - 1
    assert first.corrected
    assert first.corrected.value == pytest.approx((0.5 + own.specificity.value - 1) / informed)
    assert (elsewhere.read, elsewhere.population) == (80, 80)
    nothing = measured.elsewhere(Elsewhere(dict.fromkeys(ANY.names, 0), 0, 80))
    some = measured.elsewhere(Elsewhere(dict.fromkeys(ANY.names, 30), 60, 80))
    for part in (nothing, some):
        assert [(each.judged, each.corrected) for each in part.classes] == [(None, None)] * 5
    assert (some.read, some.population) == (60, 80)


def test_ties_missing_answers_and_missing_opinions_are_left_out_and_counted() -> None:
    sheet = synthetic(ANY, size=60)
    units = dict(enumerate(sheet.key.population))
    _first, second, third, *rest = [name for _, name in sheet.key.drawn]
    two = [
        PersonsAnswers("ann", {name: sheet.people[0].answers[name] for name in [second, third, *rest]}),
        PersonsAnswers("bob", {name: sheet.people[0].answers[name] for name in [third, *rest]}),
    ]
    none = frozenset[str]()
    everything = frozenset(ANY.names)
    two[0] = PersonsAnswers("ann", {**two[0].answers, third: none})
    two[1] = PersonsAnswers("bob", {**two[1].answers, third: everything})
    judge = sheet.judges["good"]
    silent = next(place for place, name in sheet.key.drawn if name == second)
    answers = {unit: said for unit, said in judge.answers.items() if unit.trial != units[silent].trial}
    found = measure(sheet.key, ANY, two, JudgeAnswers("judge:good", 1, answers), epsilon=0.2)
    assert (found.unanswered, found.without_opinion, found.ties) == (1, 1, 1)
    assert found.agreement.items == 57
    assert found.agreement.alternative is None
    read, no_test = found.notes
    assert read.startswith("the judge has an opinion of 399 of 400 items there are: all numbers are of these")
    assert (found.agreement.read, found.agreement.population) == (399, 400)
    assert [(each.judged, each.corrected) for each in found.agreement.classes] == [(None, None)] * 5
    assert "takes 3 annotators: there are 2" in no_test


def test_positives_alone_are_refused_be_they_the_judges_or_the_peoples() -> None:
    sheet = synthetic(ANY, size=100)
    label = ANY.names[0]
    flagged = {
        entry.item
        for entry, (unit, said) in zip(
            sheet.key.population, sheet.judges["good"].answers.items(), strict=True
        )
        if entry.item and label in said and unit.trial == entry.trial
    }
    few = [
        PersonsAnswers(each.name, {item: a for item, a in each.answers.items() if item in flagged})
        for each in sheet.people
    ]
    with pytest.raises(
        InputError, match=r"positives only: the sample has no item to which the judge does not give"
    ):
        measure(sheet.key, ANY, few, sheet.judges["good"], epsilon=0.2)
    agreed = [
        PersonsAnswers(each.name, {item: a | {label} for item, a in each.answers.items()})
        for each in sheet.people
    ]
    with pytest.raises(
        InputError, match=r"positives only: people give 'technical implementation bug' to every item"
    ):
        measure(sheet.key, ANY, agreed, sheet.judges["good"], epsilon=0.2)


def test_one_person_is_enough_to_measure_by_and_not_to_trust_and_few_items_are_for_neither() -> None:
    sheet = synthetic(STEP, size=60)
    found = measure(sheet.key, STEP, sheet.people[:1], sheet.judges["good"], epsilon=0.2).agreement
    assert found.people is None
    assert found.kappa
    assert found.kappa.value > TRUSTED_FROM
    assert found.verdict() is Verdict.TOO_LITTLE
    few = [PersonsAnswers("ann", dict([*sheet.people[0].answers.items()][:19]))]
    with pytest.raises(
        InputError, match=r"judge:good: 19 of the sheet's items have its opinion .* 20 are needed"
    ):
        measure(sheet.key, STEP, few, sheet.judges["good"], epsilon=0.2)


def test_answers_that_are_further_apart_weigh_more_where_labels_have_an_order() -> None:
    assert STEP.choice is Choice.STEP
    sheet = synthetic(STEP, size=100, error=0.02)
    judge = sheet.judges["good"]
    swap = {
        "near": {"no": "partly", "partly": "no", "yes": "yes"},
        "far": {"no": "yes", "partly": "partly", "yes": "no"},
    }
    kappas = {}
    for name, to in swap.items():
        answers = {unit: frozenset({to[next(iter(said))]}) for unit, said in judge.answers.items()}
        wrong = replace(judge, answers=answers)
        kappa = measure(sheet.key, STEP, sheet.people, wrong, epsilon=0.2).agreement.kappa
        assert kappa
        kappas[name] = kappa.value
    assert kappas["far"] < kappas["near"] - 0.3


def hand_made(
    truth: Sequence[Answer],
    said: Sequence[Answer | None],
    *,
    left: Sequence[bool],
    people: Sequence[Sequence[Answer]] = (),
) -> Agreement:
    """People read every item and see the ``truth``, if they are not given; the judge, but where it ``said`` None."""
    units = [Unit(0, f"t{n}", 1, f"task-{n}") for n in range(len(truth))]
    names = [f"item-{n:03d}" for n in range(len(truth))]
    entries = (
        KeyEntry(run=0, trial=unit.trial, attempt=1, task=unit.task, stratum="all", left=own, item=name)
        for unit, own, name in zip(units, left, names, strict=True)
    )
    key = Key(
        audit=ANY.name,
        audit_version=ANY.version,
        sampled="all",
        seed=0,
        runs=(KeyRun(run="r", path="r"),),
        population=tuple(entries),
    )
    heard = [
        PersonsAnswers(f"p{n}", dict(zip(names, answers, strict=True)))
        for n, answers in enumerate(people or [truth] * 3)
    ]
    answers = {unit: own for unit, own in zip(units, said, strict=True) if own is not None}
    return measure(key, ANY, heard, JudgeAnswers("judge:j", 1, answers), epsilon=0.2).agreement


def of_labels(n: int, *rates: float, seed: int = 0) -> list[Answer]:
    chance = random.Random(seed)
    return [
        frozenset(label for label, rate in zip(ANY.names, rates, strict=False) if chance.random() < rate)
        for _ in range(n)
    ]


def test_a_judge_that_repeats_what_is_decided_is_not_trusted_on_what_is_left() -> None:
    truth = of_labels(100, 0.45, 0.3, 0.2, 0.2, 0.2)
    said = [own if n < 70 else frozenset({ANY.names[1]}) for n, own in enumerate(truth)]
    found = hand_made(truth, said, left=[n >= 70 for n in range(100)])
    assert found.kappa
    assert found.kappa.value > TRUSTED_FROM
    assert found.counted.items == 30
    assert found.counted.kappa
    assert found.counted.kappa.value == 0
    assert found.verdict() is Verdict.NOT_TRUSTED


@pytest.mark.parametrize(("n", "verdict"), [(19, Verdict.TOO_LITTLE), (40, Verdict.TRUSTED)])
def test_of_few_items_that_are_left_open_there_is_too_little_to_say(n: int, verdict: Verdict) -> None:
    truth = of_labels(80, 0.5, 0.4)
    found = hand_made(truth, truth, left=[place < n for place in range(80)])
    assert (found.items, found.counted.items, found.verdict()) == (80, n, verdict)
    nothing = hand_made(truth, truth, left=[False] * 80)
    assert (nothing.counted.items, nothing.verdict()) == (0, Verdict.TOO_LITTLE)


def test_each_label_is_trusted_by_its_own_kappa() -> None:
    truth = of_labels(60, 0.5, 0.5, 0.4)
    regression, missing = ANY.names[2], ANY.names[4]
    guessed = of_labels(60, 0, 0, 0.4, seed=1)
    said = [(own - {regression}) | guess for own, guess in zip(truth, guessed, strict=True)]
    found = hand_made(truth, said, left=[True] * 60)
    kappa = found.kappa_of(regression)
    assert kappa
    assert kappa.value < 0.3
    assert [found.verdict(label) for label in (None, *ANY.names[:3], missing)] == [
        Verdict.TRUSTED,
        Verdict.TRUSTED,
        Verdict.TRUSTED,
        Verdict.NOT_TRUSTED,
        Verdict.TOO_LITTLE,  # nobody ever gives it
    ]


def test_labels_that_people_never_give_are_nothing_that_a_judge_may_invent() -> None:
    truth = of_labels(60, 0.5)
    said = [own | (frozenset(ANY.names[1:4]) if n % 5 else frozenset()) for n, own in enumerate(truth)]
    found = hand_made(truth, said, left=[True] * 60)
    assert found.verdict() is Verdict.NOT_TRUSTED
    assert {found.verdict(label) for label in ANY.names} == {Verdict.NOT_TRUSTED}


def test_where_people_do_not_agree_with_each_other_there_is_too_little_to_say() -> None:
    truth = of_labels(200, 0.5)
    people = [of_labels(200, 0.5, seed=seed) for seed in (1, 2)]
    agreed = [own if own == other else truth[n] for n, (own, other) in enumerate(zip(*people, strict=True))]
    found = hand_made(truth, agreed, left=[True] * 200, people=people)  # it agrees wherever they do
    assert found.kappa
    assert found.kappa.value == 1
    assert found.verdict() is Verdict.TOO_LITTLE


def test_of_a_judge_that_has_not_read_all_there_are_no_shares_of_labels() -> None:
    truth = of_labels(60, 0.5, 0.4)
    whole = hand_made(truth, truth, left=[True] * 60)
    part = hand_made(truth, [own if n % 2 else None for n, own in enumerate(truth)], left=[True] * 60)
    assert (whole.read, part.read, part.population) == (60, 30, 60)
    assert whole.classes[0].judged == sum(ANY.names[0] in own for own in truth) / 60
    assert [(each.judged, each.corrected) for each in part.classes] == [(None, None)] * 5


def test_it_is_said_where_people_were_shown_less_than_the_judge() -> None:
    sheet = synthetic(STEP, size=40)
    judge = sheet.judges["good"]
    cut = {name: 900 if n % 3 == 0 else 10 for n, (_, name) in enumerate(sheet.key.drawn)}
    judge = replace(judge, left_out=dict.fromkeys(judge.answers, 10))
    found = measure(sheet.key.showing(cut), STEP, sheet.people, judge, epsilon=0.2)
    assert "people were shown less of 13 of the 39 items than the judge" in found.notes
    unknown = measure(sheet.key, STEP, sheet.people, judge, epsilon=0.2)
    assert not any("shown" in note for note in unknown.notes)
