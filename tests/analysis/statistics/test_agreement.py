"""κ and AC, held against statsmodels, published examples and the truth of populations that are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa

from fourhands.analysis.statistics.agreement import cohen_kappa, gwet_ac, kappa_alone, standard_error
from fourhands.analysis.statistics.agreement_tables import Question, Seen

Pairs = Sequence[tuple[int, int]]


def asked(pairs: Pairs, categories: int = 2, *, ordered: bool = False, clusters: int = 10**6) -> Question:
    """Of all items of a population, each a task of its own unless there are fewer ``clusters``."""
    items = [Seen("all", str(place % clusters), *pair) for place, pair in enumerate(pairs)]
    return Question(items, Counter(("all", first) for first, _ in pairs), categories, ordered)


def of_table(*rows: Sequence[int]) -> Pairs:
    return [(i, j) for i, row in enumerate(rows) for j, times in enumerate(row) for _ in range(times)]


@settings(max_examples=25)
@given(
    st.integers(2, 6), st.booleans(), st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=8)
)
def test_kappa_and_its_standard_error_are_those_of_statsmodels(k: int, ordered: bool, pairs: Pairs) -> None:
    pairs = [(a % k, b % k) for a, b in pairs]
    assume(min(len(set(side)) for side in zip(*pairs, strict=True)) > 1)
    table = np.zeros((k, k))
    np.add.at(table, tuple(np.array(pairs).T), 1)
    theirs = cohens_kappa(table, wt="fc" if ordered else None)
    question = asked(pairs, k, ordered=ordered)
    assert kappa_alone([question]) == pytest.approx(theirs.kappa, abs=1e-9)
    assert standard_error(question, "kappa") == pytest.approx(theirs.std_kappa, abs=1e-9)


def test_where_one_category_is_everywhere_kappa_is_low_and_ac1_is_not() -> None:
    """Gwet's example (2002): 118 and 2, 5 and 0 of 125."""
    question = asked(of_table((118, 5), (2, 0)))
    kappa, ac1 = cohen_kappa([question]), gwet_ac([question])
    assert kappa
    assert ac1
    assert kappa.value == pytest.approx(-0.0234, abs=1e-4)
    assert ac1.value == pytest.approx(0.9408, abs=1e-4)


def test_ac2_and_its_standard_error_are_those_of_the_reference_implementation() -> None:
    """Of irrCAC 0.4.4, with quadratic weights."""
    pairs = of_table((9, 3, 1), (2, 11, 4), (0, 2, 8))
    found = gwet_ac([asked(pairs, 3, ordered=True)])
    assert found
    assert found.value == pytest.approx(0.726527, abs=1e-6)
    n = len(pairs)
    ours = standard_error(asked(pairs, 3, ordered=True), "ac") * (n / (n - 1)) ** 0.5
    assert ours == pytest.approx(0.087035, abs=1e-6)


@pytest.mark.parametrize(("table"), [((0, 0), (7, 13)), ((7, 0), (13, 0)), ((0, 0), (20, 0))])
def test_where_one_of_two_never_varies_kappa_is_zero_whichever_it_is(
    table: tuple[Sequence[int], ...],
) -> None:
    for pairs in (of_table(*table), [(second, first) for first, second in of_table(*table)]):
        constant = cohen_kappa([asked(pairs)])
        assert constant
        assert constant.value == 0.0
        assert kappa_alone([asked(pairs)]) == 0.0


def test_where_both_always_say_the_same_there_is_nothing_to_tell_apart() -> None:
    assert cohen_kappa([asked(of_table((20, 0), (0, 0)))]) is None
    assert kappa_alone([asked(of_table((20, 0), (0, 0)))]) is None


def test_a_judge_does_not_gain_by_labels_that_nobody_else_gives() -> None:
    """It copies one label, and invents three: on 80 % of the items, to none of which people give them."""
    chance = np.random.default_rng(3)
    people = chance.random(30) < 0.5
    copied = asked([*zip(people.astype(int).tolist(), people.astype(int).tolist(), strict=True)])
    invented = [asked([(int(given), 0) for given in chance.random(30) < 0.8]) for _ in range(3)]
    found = cohen_kappa([copied, *invented])
    assert found
    assert found.value == pytest.approx(0.25)


def test_a_mean_is_of_the_questions_that_can_be_told_apart_and_is_surer_than_its_parts() -> None:
    chance = np.random.default_rng(5)
    questions = []
    for _ in range(4):
        second = chance.integers(0, 2, 60)
        first = np.where(chance.random(60) < 0.8, second, 1 - second)
        questions.append(asked([*zip(first.tolist(), second.tolist(), strict=True)]))
    parts = [found for each in questions if (found := cohen_kappa([each]))]
    mean = cohen_kappa([*questions, asked([(0, 0)] * 60)])
    assert mean
    assert mean.low is not None
    assert mean.high is not None
    assert mean.value == pytest.approx(sum(part.value for part in parts) / 4)
    widths = [part.high - part.low for part in parts if part.high is not None and part.low is not None]
    assert 0.3 < (mean.high - mean.low) / (sum(widths) / 4) < 0.8
    same = cohen_kappa([questions[0]] * 4)
    assert same
    assert (same.low, same.high) == pytest.approx((parts[0].low, parts[0].high), abs=0.03)


def test_a_sample_by_strata_tells_of_the_population_and_not_of_itself() -> None:
    """900 items that nobody flags, of which 45 have the label, and 100 that are, 60 of them rightly."""
    whole = asked(of_table((855, 45), (40, 60)))
    drawn = [Seen("flagged", f"f{n}", 1, int(n < 60)) for n in range(100)]
    drawn += [Seen("not", f"n{n}", 0, int(n < 2)) for n in range(40)]
    sample = Question(drawn, {("flagged", 1): 100, ("not", 0): 900}, 2)
    assert kappa_alone([sample]) == pytest.approx(kappa_alone([whole]) or 0, abs=1e-12)
    naive = kappa_alone([asked([(item.first, item.second) for item in drawn])])
    assert naive is not None
    assert abs(naive - (kappa_alone([whole]) or 0)) > 0.1


def test_items_of_one_task_that_are_alike_count_for_less_and_of_one_task_alone_nothing_is_sure() -> None:
    pairs = of_table((12, 3), (4, 11))
    alone = cohen_kappa([asked(pairs)])
    fourfold = cohen_kappa([asked(list(pairs) * 4, clusters=len(pairs))])
    single = cohen_kappa([asked(pairs, clusters=1)])
    assert alone
    assert fourfold
    assert single
    assert alone.low is not None
    assert fourfold.low is not None
    assert fourfold.value == pytest.approx(alone.value)
    assert fourfold.low == pytest.approx(alone.low, abs=0.06)
    assert (single.low, single.high) == (None, None)


@pytest.mark.parametrize(("categories", "rate", "n"), [(2, 0.8, 40), (2, 0.95, 80), (3, 0.7, 60)])
def test_intervals_hold_the_truth_as_often_as_they_say(categories: int, rate: float, n: int) -> None:
    chance = np.random.default_rng(n)
    base = np.array([0.7, *[0.3 / (categories - 1)] * (categories - 1)])
    true = rate * np.diag(base) + (1 - rate) * np.outer(base, base)
    held = 0
    for _ in range(60):
        cells = chance.choice(categories**2, n, p=true.ravel())
        found = cohen_kappa([asked([divmod(int(cell), categories) for cell in cells], categories)])
        held += found is not None and found.low is not None and found.low <= rate <= (found.high or 0)
    assert held >= 52  # of 60 at 95 %: fewer in one of a thousand runs
