from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from statsmodels.stats.multitest import multipletests

from fourhands.analysis.statistics.significance import Test, holm, mcnemar, paired_test, sign_flip

fractions = st.tuples(st.integers(0, 3), st.integers(0, 5)).map(lambda pair: pair[1] / 5 - pair[0] / 3)
families = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_that_of_statsmodels(lost: int, gained: int) -> None:
    expected = reference_mcnemar([[5, lost], [gained, 7]], exact=True).pvalue if lost + gained else 1.0
    assert mcnemar(lost, gained) == pytest.approx(expected, abs=1e-9)


@given(st.lists(fractions, min_size=2, max_size=9))
def test_sign_flip_is_the_exact_permutation_test_of_scipy(differences: list[float]) -> None:
    found = permutation_test(
        # Rounded, as sums of floats in another order miss ties.
        (np.array(differences),),
        lambda x, axis: np.round(np.abs(np.mean(x, axis=axis)), 9),
        permutation_type="samples",
        alternative="greater",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert sign_flip(differences) == pytest.approx(float(found.pvalue), abs=1e-9)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=300))
def test_of_whole_differences_sign_flip_is_mcnemar(differences: list[float]) -> None:
    expected = mcnemar(differences.count(-1.0), differences.count(1.0))
    assert sign_flip(differences) == pytest.approx(expected, abs=1e-9)


@given(st.lists(fractions, max_size=40), st.randoms(use_true_random=False))
def test_neither_signs_nor_order_nor_unchanged_tasks_matter(differences: list[float], random: object) -> None:
    p = sign_flip(differences)
    assert 0 < p <= 1
    assert sign_flip([-d for d in differences]) == pytest.approx(p, abs=1e-12)
    assert sign_flip([*differences, 0.0]) == pytest.approx(p, abs=1e-12)
    shuffled = sorted(differences, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert sign_flip(shuffled) == pytest.approx(p, abs=1e-12)


def test_a_thousand_tasks_are_still_exact() -> None:
    """All of one sign: two of 2ⁿ, however small."""
    assert sign_flip([-1 / 3] * 1000) == pytest.approx(2.0**-999, rel=1e-9)


def test_repeats_of_many_numbers_are_put_on_a_fine_grid() -> None:
    differences = [1 / prime for prime in (7, 11, 13, 17, 19, 23)]
    assert sign_flip(differences) == pytest.approx(2 / 64, abs=1e-12)


def test_one_outcome_a_task_is_tested_by_mcnemar() -> None:
    before = [[True]] * 9 + [[False]] * 3
    after = [[False]] * 6 + [[True]] * 6
    assert paired_test(before, after) == Test(mcnemar(6, 3), "McNemar, exact", 12)


def test_repeats_are_tested_by_signs_over_tasks() -> None:
    before = [[True, True, True]] * 7
    after = [[True, False, False]] * 6 + [[True, True]]
    found = paired_test(before, after)
    assert found == Test(pytest.approx(2 / 64), "sign-flip permutation over tasks, exact", 7)


def test_a_task_without_an_outcome_on_one_side_is_no_pair() -> None:
    found = paired_test([[True], [], [True]], [[False], [True], []])
    assert found == Test(1.0, "McNemar, exact", 1)
    assert paired_test([[True]], [[]]) is None


def test_sides_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        paired_test([[True], [True]], [[True]])


@settings(max_examples=20)  # statsmodels takes its time
@given(families)
def test_holm_is_that_of_statsmodels_and_never_less_than_p(ps: list[float]) -> None:
    found = holm(ps)
    assert found == pytest.approx(list(multipletests(ps, method="holm")[1]), abs=1e-12)
    assert all(p - 1e-12 <= adjusted <= 1 for p, adjusted in zip(ps, found, strict=True))


@given(families)
def test_holm_keeps_the_order_of_its_family(ps: list[float]) -> None:
    ranked = [adjusted for _, adjusted in sorted(zip(ps, holm(ps), strict=True))]
    assert ranked == sorted(ranked)


def test_a_family_of_none_is_empty_and_of_one_unchanged() -> None:
    assert holm([]) == []
    assert holm([0.03]) == [0.03]


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 lost"):
        mcnemar(-1, 3)


def test_false_alarms_are_at_most_the_nominal_share() -> None:
    """Two equal arms of twenty tasks × three repeats, 1,000 times: exact tests do not reject more than 5 %."""
    random = np.random.default_rng(0)
    rates = random.beta(1.5, 0.5, (1000, 20))
    before, after = random.binomial(3, rates), random.binomial(3, rates)
    alarms = np.mean([sign_flip(list(row / 3)) <= 0.05 for row in after - before])
    assert 0.01 < alarms <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 1000)
