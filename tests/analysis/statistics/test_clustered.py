from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm, ttest_1samp
from statsmodels.stats.proportion import proportion_confint

from fourhands.analysis.statistics.clustered import (
    FEW_TASKS,
    paired_interval,
    rate_interval,
    retention_interval,
)
from fourhands.analysis.statistics.intervals import Interval, clopper_pearson
from fourhands.analysis.statistics.significance import mcnemar

rates = st.lists(
    st.integers(1, 5).flatmap(lambda n: st.integers(0, n).map(lambda c: c / n)), min_size=1, max_size=60
)
differences = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3)).map(lambda pair: (pair[1] - pair[0]) / 3),
    min_size=1,
    max_size=60,
)
losses = st.lists(st.integers(-3, 0).map(lambda third: third / 3), min_size=1, max_size=15)


def _certain(interval: Interval | None) -> Interval:
    assert interval
    return interval


@given(rates)
def test_an_interval_of_a_rate_holds_it_and_stays_a_rate(values: list[float]) -> None:
    found = _certain(rate_interval(values))
    assert 0 <= found.low <= math.fsum(values) / len(values) + 1e-12
    assert math.fsum(values) / len(values) - 1e-12 <= found.high <= 1
    assert found.high - found.low > 0.01


@given(differences)
def test_an_interval_of_a_difference_holds_it_and_is_never_without_width(values: list[float]) -> None:
    found = _certain(paired_interval(values))
    mean = math.fsum(values) / len(values)
    assert -1 <= found.low <= mean + 1e-12
    assert mean - 1e-12 <= found.high <= 1
    assert found.high - found.low > 0.01


@given(differences, st.randoms(use_true_random=False))
def test_the_order_of_tasks_does_not_matter(values: list[float], random: object) -> None:
    shuffled = sorted(values, key=lambda _: random.random())  # type: ignore[attr-defined]
    assert paired_interval(shuffled) == paired_interval(values)


@given(differences)
def test_losses_are_as_uncertain_as_gains(values: list[float]) -> None:
    one, other = _certain(paired_interval(values)), _certain(paired_interval([-value for value in values]))
    # The bootstrap's own noise is not mirrored; the other rules are.
    tolerance = 0.03 if "bootstrap" in one.method else 1e-9
    assert one.low == pytest.approx(-other.high, abs=tolerance)
    assert one.high == pytest.approx(-other.low, abs=tolerance)


@given(rates)
def test_failures_are_as_uncertain_as_successes(values: list[float]) -> None:
    one, other = _certain(rate_interval(values)), _certain(rate_interval([1 - value for value in values]))
    assert one.low == pytest.approx(1 - other.high, abs=1e-9)
    assert one.high == pytest.approx(1 - other.low, abs=1e-9)


def test_a_seed_decides_the_bootstrap() -> None:
    values = [math.sin(task) for task in range(50)]
    assert paired_interval(values, seed=3) == paired_interval(values, seed=3)
    assert paired_interval(values, seed=3) != paired_interval(values, seed=4)


def test_the_bootstrap_of_many_tasks_is_near_the_normal_interval() -> None:
    values = [(task % 7 - 3) / 3 for task in range(400)]
    found = _certain(paired_interval(values))
    half = norm.ppf(0.975) * np.std(values) / math.sqrt(len(values))
    assert found.method == "bootstrap over tasks"
    assert found.low == pytest.approx(np.mean(values) - half, abs=0.005)
    assert found.high == pytest.approx(np.mean(values) + half, abs=0.005)


def test_few_tasks_have_students_interval() -> None:
    values = [0, 1 / 3, -2 / 3, 0, -1 / 3, 0, -1, 1 / 3]
    expected = ttest_1samp(values, 0).confidence_interval(0.95)
    found = _certain(paired_interval(values))
    assert len(values) < FEW_TASKS
    assert found.method == "Student's t over tasks"
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("solved", [0, 8])
def test_all_or_nothing_has_the_exact_interval_over_tasks(solved: int) -> None:
    found = _certain(rate_interval([float(solved == 8)] * 8))
    exact = _certain(clopper_pearson(solved, 8))
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert found.method == "exact over tasks (Gaffke)"


def test_no_difference_anywhere_leaves_the_exact_bound_open_on_both_sides() -> None:
    unseen = 1 - 0.025 ** (1 / 8)
    found = _certain(paired_interval([0.0] * 8))
    assert (found.low, found.high) == pytest.approx((-unseen, unseen), abs=1e-9)


def test_equal_rates_that_are_not_whole_have_room_towards_both_ends() -> None:
    unseen = 1 - 0.025 ** (1 / 5)
    found = _certain(rate_interval([2 / 3] * 5))
    assert (found.low, found.high) == pytest.approx((2 / 3 * (1 - unseen), 2 / 3 + unseen / 3), abs=1e-9)


def test_one_repeat_a_task_has_wilsons_interval_with_students_quantile() -> None:
    """Wilson's own, with the alpha that makes its quantile Student's, of the 39 trials that 40 are worth."""
    found = _certain(rate_interval([1.0] * 30 + [0.0] * 10))
    alpha = 2 * norm.sf(2.0226909117347285)
    low, high = proportion_confint(30 * 39 / 40, 39, alpha=alpha, method="wilson")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize(
    ("alike", "unlike"),
    [
        ([-1 / 3] * 10, [2 / 3 - 1] * 5 + [1 / 3 - 2 / 3] * 5),
        ([-1 / 3] * 2, [2 / 3 - 1, 1 / 3 - 2 / 3]),
        ([0.0] * 4 + [-1.0] * 4, [0.1 + 0.2 - 0.3] * 4 + [-1.0] * 4),
        ([0.0, 1 / 3, -1.0] * 20, [0.1 + 0.2 - 0.3, 1 - 2 / 3, -1.0] * 20),
    ],
)
def test_how_a_float_was_computed_does_not_change_an_interval(
    alike: list[float], unlike: list[float]
) -> None:
    assert sorted(alike) != sorted(unlike)
    assert paired_interval(alike) == paired_interval(unlike)
    rates = [[(1 + value) / 2 for value in values] for values in (alike, unlike)]
    assert rate_interval(rates[0]) == rate_interval(rates[1])


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=5))
def test_fewer_than_six_tasks_never_exclude_no_difference(values: list[float]) -> None:
    found = _certain(paired_interval(values))
    assert found.low < 0 < found.high


@given(losses, st.data())
def test_stronger_losses_are_never_told_from_chance_less(weaker: list[float], data: st.DataObject) -> None:
    stronger = [data.draw(st.floats(-1, value)) for value in weaker]
    one, other = _certain(paired_interval(weaker)), _certain(paired_interval(stronger))
    assert other.high <= one.high + 1e-9
    assert other.low <= one.low + 1e-9


@pytest.mark.parametrize("tasks", [2, 5, 6, 12, 40])
def test_losses_alone_exclude_0_just_where_mcnemar_rejects_it(tasks: int) -> None:
    for lost in range(tasks + 1):
        found = _certain(paired_interval([-1.0] * lost + [0.0] * (tasks - lost)))
        assert (found.high < 0) == (mcnemar(lost, 0) <= 0.05)
        exact = _certain(clopper_pearson(lost, tasks))
        assert found.low == pytest.approx(-exact.high, abs=1e-9)


def test_gains_of_many_sizes_have_the_bounds_that_simulated_shares_have() -> None:
    """Each task, and one more at the end, with a random share of all: 2.5 % of such means lie beyond a bound."""
    values = [0.0, 0.0, 0.1, 1 / 3, 1 / 3, 2 / 3, 1.0]
    shares = np.random.default_rng(0).dirichlet([1.0] * 8, 200_000)
    found = _certain(paired_interval(values))
    assert np.mean(shares @ [*values, 1.0] > found.high) == pytest.approx(0.025, abs=0.0015)
    assert np.mean(shares @ [*values, -1.0] < found.low) == pytest.approx(0.025, abs=0.0015)


def test_repeats_of_a_task_are_not_taken_for_tasks() -> None:
    """Twenty tasks, ten always and ten never solved: three repeats tell no more than one."""
    values = [1.0] * 10 + [0.0] * 10
    found, independent = _certain(rate_interval(values)), proportion_confint(30, 60, method="wilson")
    assert found.high - found.low > 1.5 * (independent[1] - independent[0])


def test_a_task_more_draws_the_interval_closer() -> None:
    widths = []
    for tasks in (8, 20, 50, 200, 1000):
        found = _certain(paired_interval([(task % 4 - 1.5) / 3 for task in range(tasks)]))
        widths.append(found.high - found.low)
    assert widths == sorted(widths, reverse=True)


def test_retention_is_a_rate_over_the_solved_tasks() -> None:
    assert retention_interval(9, 12) == rate_interval([1.0] * 9 + [0.0] * 3)
    assert retention_interval(0, 0) is None
    with pytest.raises(ValueError, match="13 of 12"):
        retention_interval(13, 12)


def test_no_tasks_have_no_interval() -> None:
    assert rate_interval([]) is None
    assert paired_interval([]) is None


def test_one_task_says_next_to_nothing() -> None:
    found = _certain(paired_interval([0.0]))
    assert (found.low, found.high) == pytest.approx((-0.975, 0.975))


@pytest.mark.parametrize(("tasks", "repeats"), [(8, 3), (20, 1), (50, 3)])
@pytest.mark.parametrize("delta", [0.0, -0.15])
def test_of_a_hundred_intervals_about_ninety_five_hold_the_truth(
    tasks: int, repeats: int, delta: float
) -> None:
    """Of 300 runs with tasks of beta-distributed difficulty: three standard errors of such a count are 4 points."""
    random = np.random.default_rng(tasks + repeats)
    before, after = _arms(random, 300, tasks, repeats, (0.7, 0.7 + delta))
    held = [_holds(paired_interval(list(b - a)), delta) for a, b in zip(before, after, strict=True)]
    assert np.mean(held) >= 0.91
    assert np.mean(held) < 1
    rates = [_holds(rate_interval(list(a)), 0.7) for a in before]
    assert np.mean(rates) >= 0.91
    assert np.mean(rates) < 1


def _arms(
    random: np.random.Generator, runs: int, tasks: int, repeats: int, means: Sequence[float]
) -> list[np.ndarray]:
    """For each arm, runs × tasks of rates over repeats; the true rates of a task are alike in both arms."""
    first = random.standard_normal((runs, tasks))
    second = 0.8 * first + 0.6 * random.standard_normal((runs, tasks))
    spread = 1.5
    return [
        random.binomial(repeats, beta.ppf(norm.cdf(z), mean * spread, (1 - mean) * spread)) / repeats
        for z, mean in zip((first, second), means, strict=True)
    ]


def _holds(interval: Interval | None, truth: float) -> bool:
    return bool(interval and interval.low <= truth <= interval.high)
