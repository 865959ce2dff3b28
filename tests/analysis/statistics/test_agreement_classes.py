"""What a judge finds of a label, and how much there is of it, where the truth is known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from fourhands.analysis.statistics.agreement_classes import class_rates, prevalence_elsewhere
from fourhands.analysis.statistics.agreement_prevalence import rogan_gladen, true_prevalence
from fourhands.analysis.statistics.agreement_tables import Question, Seen
from fourhands.model.agreement import Estimate


def seen(counts: dict[tuple[int, int], int], population: dict[int, int] | None = None) -> Question:
    """Items by the judge's answer and people's; each answer of the judge is a stratum, unless all were drawn."""
    items = [
        Seen(str(first) if population else "all", f"{first}{second}{n}", first, second)
        for (first, second), times in counts.items()
        for n in range(times)
    ]
    sizes = (
        {(str(first), first): float(n) for first, n in population.items()}
        if population
        else dict(Counter((item.stratum, item.first) for item in items))
    )
    return Question(items, sizes, 2)


def holds(found: Estimate | None, truth: float) -> bool:
    return found is not None and found.low is not None and found.low <= truth <= (found.high or 0.0)


def test_what_the_judge_missed_counts_by_how_much_it_stands_for() -> None:
    """Begg and Greenes: 100 flagged, all seen, 80 rightly; 900 not, 90 seen, of which 9 have the label."""
    found = class_rates(seen({(1, 1): 80, (1, 0): 20, (0, 1): 9, (0, 0): 81}, {1: 100, 0: 900}))
    assert found.judged == pytest.approx(0.1)
    assert found.sensitivity
    assert found.specificity
    assert found.true
    assert found.sensitivity.value == pytest.approx(80 / 170)  # and not 80 / 89, as the sample has it
    assert found.specificity.value == pytest.approx(810 / 830)
    assert found.true.value == pytest.approx(0.17)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 40), min_size=4, max_size=4), st.integers(0, 500), st.integers(0, 500))
def test_rogan_and_gladens_correction_of_the_same_population_is_what_people_found_there(
    counts: list[int], more: int, others: int
) -> None:
    a, b, c, d = counts
    question = seen({(1, 1): a, (1, 0): b, (0, 1): c, (0, 0): d}, {1: a + b + more, 0: c + d + others})
    found = class_rates(question)
    assert found.sensitivity
    assert found.specificity
    corrected = rogan_gladen(found.judged, found.sensitivity.value, found.specificity.value)
    assert (corrected is None) == (found.true is None)
    if corrected is not None and found.true:
        assert found.true.value == pytest.approx(corrected, abs=1e-9)
        assert holds(found.true, found.true.value)


def test_a_judge_that_tells_nothing_corrects_nothing() -> None:
    constant = class_rates(seen({(1, 1): 10, (1, 0): 30}))
    assert constant.sensitivity
    assert (constant.sensitivity.value, constant.true) == (1.0, None)
    assert class_rates(seen({(1, 1): 5, (1, 0): 15, (0, 1): 5, (0, 0): 15})).true is None
    assert rogan_gladen(0.5, 0.4, 0.6) is None
    assert true_prevalence((10, 20), (1, 10), (5, 10)) is None


def test_of_a_label_that_nobody_gave_or_an_answer_that_nobody_read_there_are_no_rates() -> None:
    none = class_rates(seen({(1, 0): 4, (0, 0): 16}))
    assert none.sensitivity is None
    assert none.specificity
    unread = class_rates(seen({(0, 1): 4, (0, 0): 16}, {1: 3, 0: 40}))
    assert (unread.sensitivity, unread.specificity, unread.true) == (None, None, None)
    assert unread.judged == pytest.approx(3 / 43)


def test_a_correction_never_leaves_zero_to_one() -> None:
    assert rogan_gladen(0.01, 0.9, 0.9) == 0.0
    assert rogan_gladen(0.99, 0.9, 0.9) == 1.0
    found = true_prevalence((5, 50), (45, 50), (40, 50))
    assert found
    assert (found.value, found.low) == (0.0, 0.0)
    assert 0 < (found.high or 0) < 0.2


def test_where_no_share_could_be_behind_what_the_judge_gives_there_is_no_interval() -> None:
    assert true_prevalence((0, 200), (45, 50), (40, 50)) == Estimate(0.0, None, None)
    counts = {(1, 1): 45, (1, 0): 10, (0, 1): 15, (0, 0): 130}
    assert prevalence_elsewhere(seen(counts, {1: 110, 0: 300}), 400, 400) == Estimate(1.0, None, None)


def test_with_a_judge_that_is_all_but_perfect_the_interval_is_agresti_and_coulls() -> None:
    found = true_prevalence((30, 100), (10**8, 10**8), (10**8, 10**8))
    assert found
    assert (found.low, found.high) == pytest.approx(
        proportion_confint(30, 100, method="agresti_coull"), abs=1e-5
    )


def test_another_population_is_corrected_by_what_was_learnt_here_surely_or_not() -> None:
    counts = {(1, 1): 45, (1, 0): 10, (0, 1): 15, (0, 0): 130}
    even = prevalence_elsewhere(seen(counts), 60, 200)
    assert even == true_prevalence((60, 200), (45, 60), (130, 140))
    question = seen(counts, {1: 55, 0: 1450})
    uneven, rates = prevalence_elsewhere(question, 10, 200), class_rates(question)
    assert uneven
    assert rates.sensitivity
    assert rates.specificity
    assert uneven.value == rogan_gladen(0.05, rates.sensitivity.value, rates.specificity.value)
    assert holds(uneven, uneven.value)
    assert 0.2 < (uneven.high or 0) - (uneven.low or 0) < 0.6
    assert prevalence_elsewhere(seen(counts), 0, 0) is None
    assert prevalence_elsewhere(seen({(1, 1): 5, (1, 0): 15, (0, 1): 5, (0, 0): 15}), 60, 200) is None


@pytest.mark.parametrize(
    ("true", "sensitivity", "specificity"), [(0.03, 0.8, 0.95), (0.15, 0.7, 0.9), (0.4, 0.9, 0.95)]
)
def test_the_corrected_share_holds_the_truth_of_rare_labels_drawn_by_strata(
    true: float, sensitivity: float, specificity: float
) -> None:
    chance = np.random.default_rng(int(100 * true))
    held = runs = 0
    for _ in range(60):
        truth = chance.random(800) < true
        judged = np.where(truth, chance.random(800) < sensitivity, chance.random(800) >= specificity)
        drawn = np.concatenate([chance.permutation(np.flatnonzero(judged == flag))[:45] for flag in (0, 1)])
        counts = Counter((int(judged[n]), int(truth[n])) for n in drawn)
        found = class_rates(seen(dict(counts), {1: int(judged.sum()), 0: int((~judged).sum())}))
        if found.true:
            runs += 1
            held += holds(found.true, true)
    assert runs > 50
    assert held >= 0.87 * runs  # at 95 %: fewer in one of several hundred runs


def test_lang_and_reiczigels_interval_holds_the_truth() -> None:
    chance = np.random.default_rng(8)
    held = 0
    for _ in range(400):
        apparent = 0.1 * 0.8 + 0.9 * 0.1
        counts = (
            (int(chance.binomial(150, apparent)), 150),
            (int(chance.binomial(40, 0.8)), 40),
            (int(chance.binomial(80, 0.9)), 80),
        )
        held += holds(true_prevalence(*counts), 0.1)
    assert held >= 0.925 * 400


def test_where_a_label_is_of_tasks_and_not_of_trials_the_interval_says_so() -> None:
    """20 tasks of five trials, all alike within a task, and a judge that errs in a twentieth: 80 samples."""
    chance = np.random.default_rng(11)
    held = 0
    for _ in range(80):
        items = []
        for task in range(20):
            applies = int(chance.random() < 0.3)
            wrong = chance.random(5) < 0.05
            items += [Seen("all", f"k{task}", applies ^ int(each), applies) for each in wrong]
        held += holds(
            class_rates(Question(items, Counter(("all", item.first) for item in items), 2)).true, 0.3
        )
    assert held >= 68  # of 80, where items taken as independent hold the truth in some 50
