from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from fourhands.analysis.statistics.repeats import is_majority, pass_hat_k, spearman


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(1, 8))
def test_pass_hat_k_is_the_share_of_choices_that_are_all_solved(outcomes: list[bool], k: int) -> None:
    choices = list(combinations(outcomes, k))
    expected = sum(map(all, choices)) / len(choices) if choices else None
    assert pass_hat_k(sum(outcomes), len(outcomes), k) == pytest.approx(expected, abs=1e-12)


def test_pass_hat_one_is_the_rate() -> None:
    assert pass_hat_k(3, 4, 1) == pytest.approx(0.75)


@pytest.mark.parametrize("case", [(1, 2, 0), (3, 2, 1), (-1, 2, 1)])
def test_counts_that_cannot_be_are_refused(case: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="out of"):
        pass_hat_k(*case)


def test_a_majority_is_more_than_half() -> None:
    assert is_majority([True, True, False])
    assert not is_majority([True, False])
    assert not is_majority([])


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=30))
def test_spearman_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    xs, ys = zip(*pairs, strict=True)
    found = spearman(xs, ys)
    if min(len(set(xs)), len(set(ys))) == 1:
        assert found is None
    else:
        assert found == pytest.approx(float(spearmanr(xs, ys).statistic), abs=1e-9)


def test_spearman_needs_pairs_that_vary() -> None:
    assert spearman([], []) is None
    assert spearman([1.0], [2.0]) is None
    with pytest.raises(ValueError, match="2 and 1"):
        spearman([1.0, 2.0], [1.0])
