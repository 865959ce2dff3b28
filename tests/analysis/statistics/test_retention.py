from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from fourhands.analysis.statistics.clustered import retention_interval
from fourhands.analysis.statistics.retention import excess_loss, null_retention, why_no_null

outcomes = st.lists(st.lists(st.booleans(), max_size=5), max_size=20)


def _runs(random: np.random.Generator, rates: np.ndarray, repeats: int) -> list[list[bool]]:
    return (random.random((len(rates), repeats)) < rates[:, None]).tolist()


@pytest.mark.parametrize("repeats", [2, 3, 5])
def test_the_null_is_what_a_second_arm_shows_when_tasks_are_beta_distributed(repeats: int) -> None:
    random = np.random.default_rng(1)
    rates = random.beta(1.5, 0.5, 40_000)
    first, second = _runs(random, rates, repeats), _runs(random, rates, repeats)
    found, seen = null_retention(first), excess_loss(first, second)
    assert found
    assert seen
    assert seen.observed == pytest.approx(found.rate, abs=0.006)
    assert found.solve_rate == pytest.approx(0.75, abs=0.006)
    assert found.spread == pytest.approx((0.75 * 0.25 / 3) ** 0.5, abs=0.006)


def test_the_null_is_in_closed_form() -> None:
    """Of one repeat E[p²] / E[p]; of three, by the beta-binomial of one arm given the other, summed."""
    twice = [[True, True]] * 5 + [[True, False]] * 2 + [[False, False]] * 3
    of_one = null_retention([*twice, *[[True]] * 11])
    assert of_one
    assert of_one.repeats == 1
    assert of_one.rate == pytest.approx(0.5 / 0.6, abs=1e-9)
    thrice = [[True] * 3] * 5 + [[True, True, False]] * 3 + [[False, False, True]] * 2 + [[False] * 3] * 2
    of_three = null_retention(thrice)
    mean, second = 23 / 36, (5 + 3 * (1 / 3)) / 12
    ratio = (mean - second) / (second - mean**2)
    a, b = mean * ratio, (1 - mean) * ratio
    first = betabinom(3, a, b)
    both = sum(first.pmf(i) * betabinom(3, a + i, b + 3 - i).sf(1) for i in (2, 3))
    assert of_three
    assert of_three.rate == pytest.approx(both / first.sf(1), abs=1e-9)


def test_at_three_solved_of_four_and_three_repeats_noise_alone_takes_four_to_nine_points() -> None:
    """As tasks differ much, or very much: what is told of the published runs."""
    random = np.random.default_rng(2)
    nulls = [null_retention(_runs(random, random.beta(0.75 * s, 0.25 * s, 40_000), 3)) for s in (0.4, 1.0)]
    found = [null.rate for null in nulls if null]
    assert found == pytest.approx([0.95, 0.915], abs=0.01)


def test_tasks_always_or_never_solved_lose_nothing_by_chance() -> None:
    found = null_retention([[True] * 3] * 4 + [[False] * 3] * 2)
    assert found
    assert found.rate == pytest.approx(1, abs=1e-9)


def test_tasks_all_alike_lose_as_a_coin_does() -> None:
    """Less variance than even equal tasks show by chance: q itself, here of p = 2 / 3."""
    found = null_retention([[True, True, False]] * 9)
    assert found
    assert found.spread == 0
    assert found.rate == pytest.approx(20 / 27, abs=1e-9)


def test_a_second_arm_of_fewer_repeats_keeps_less() -> None:
    vanilla = [[True] * 5] * 6 + [[True, True, True, False, False]] * 4 + [[False] * 5] * 2
    full, less = null_retention(vanilla), null_retention(vanilla, again=1)
    assert full
    assert less
    assert (full.again, less.again) == (5, 1)
    assert less.rate < full.rate


@given(outcomes)
def test_there_is_a_null_or_a_reason_why_not(vanilla: list[list[bool]]) -> None:
    found, reason = null_retention(vanilla), why_no_null(vanilla)
    assert (found is None) == (reason is not None)
    if found:
        assert 0 < found.rate <= 1


def test_the_reason_tells_the_cases_apart() -> None:
    assert "two scored repeats" in str(why_no_null([[True], [False]]))
    assert "nothing to retain" in str(why_no_null([[False, False]] * 6))
    assert "too few to tell" in str(why_no_null([[True, True]] * 5))


@given(
    outcomes.flatmap(
        lambda a: st.tuples(
            st.just(a), st.lists(st.lists(st.booleans(), max_size=3), min_size=len(a), max_size=len(a))
        )
    )
)
def test_an_excess_loss_is_the_null_less_what_was_seen(
    sides: tuple[list[list[bool]], list[list[bool]]],
) -> None:
    found = excess_loss(*sides)
    if found:
        assert found.value == pytest.approx(found.null - found.kept / found.solved)
        assert -1 <= found.interval.low < found.interval.high <= 1


def test_the_order_of_tasks_does_not_matter_and_the_seed_decides() -> None:
    random = np.random.default_rng(3)
    rates = random.beta(1.5, 0.5, 60)
    vanilla, condition = _runs(random, rates, 3), _runs(random, rates * 0.8, 3)
    found = excess_loss(vanilla, condition)
    assert found == excess_loss(vanilla[::-1], condition[::-1])
    assert found != excess_loss(vanilla, condition, seed=1)


def test_where_all_is_kept_the_solved_tasks_bound_the_loss() -> None:
    vanilla = [[True, True, True]] * 8 + [[False] * 3] * 4
    found, edge = excess_loss(vanilla, vanilla), retention_interval(8, 8)
    assert found
    assert edge
    assert found.interval.low == pytest.approx(0, abs=1e-9)
    assert found.interval.high == pytest.approx(1 - edge.low, abs=1e-9)
    assert "exact" in found.interval.method


def test_nothing_solved_or_nothing_paired_has_no_excess_loss() -> None:
    assert excess_loss([[False, False]], [[True, True]]) is None
    assert excess_loss([[True, True]], [[]]) is None
    assert excess_loss([], []) is None


def test_two_arms_of_one_agent_show_no_excess_loss_where_retention_looks_bad() -> None:
    """Sixty tasks × three repeats, 200 times: about 95 % of the intervals hold 0, and retention is far from whole."""
    random = np.random.default_rng(4)
    held, observed = [], []
    for _ in range(200):
        rates = random.beta(2.0, 1.0, 60)
        found = excess_loss(_runs(random, rates, 3), _runs(random, rates, 3))
        assert found
        held.append(found.interval.low <= 0 <= found.interval.high)
        observed.append(found.observed)
    assert 0.9 <= np.mean(held) < 1
    assert np.mean(observed) < 0.9


def test_a_real_loss_shows() -> None:
    random = np.random.default_rng(5)
    rates = random.beta(2.0, 1.0, 200)
    found = excess_loss(_runs(random, rates, 3), _runs(random, rates * 0.6, 3))
    assert found
    assert found.interval.low > 0.05
