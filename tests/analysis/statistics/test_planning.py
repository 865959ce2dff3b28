from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from fourhands.analysis.statistics.planning import (
    Variance,
    assumed_variance,
    power,
    tasks_needed,
    variance_of,
)
from fourhands.analysis.statistics.significance import sign_flip
from fourhands.model.errors import InputError

variances = st.builds(Variance, st.floats(0.001, 0.5), st.floats(0, 0.5))
deltas = st.floats(0.02, 0.5)


def _arms(
    random: np.random.Generator, tasks: int, repeats: int, losses: tuple[float, float] = (0.0, 0.3)
) -> tuple[np.ndarray, np.ndarray]:
    """Two arms, tasks × repeats; the condition takes from each task's rate a share between the two ``losses``."""
    before = random.beta(2.0, 1.0, tasks)
    after = before * (1 - random.uniform(*losses, tasks))
    shape = (tasks, repeats)
    return random.random(shape) < before[:, None], random.random(shape) < after[:, None]


@given(deltas, st.integers(6, 400), st.integers(1, 5), variances)
def test_power_is_that_of_the_paired_t_test_in_statsmodels(
    delta: float, tasks: int, repeats: int, variance: Variance
) -> None:
    effect = delta / math.sqrt(variance.at(repeats))
    if effect * math.sqrt(tasks) < 6:  # statsmodels has no number for much larger ones
        expected = TTestPower().power(effect, tasks, 0.05)
        assert power(delta, tasks, repeats, variance) == pytest.approx(expected, abs=1e-9)
    assert power(-delta, tasks, repeats, variance) == power(delta, tasks, repeats, variance)


@given(deltas, st.integers(1, 5), variances, st.sampled_from([0.5, 0.8, 0.9]))
def test_tasks_needed_are_the_fewest_that_do(
    delta: float, repeats: int, variance: Variance, target: float
) -> None:
    tasks = tasks_needed(delta, repeats, variance, power=target)
    assert power(delta, tasks, repeats, variance) >= target
    assert power(delta, tasks - 1, repeats, variance) < target


@given(deltas, variances)
def test_more_repeats_never_need_more_tasks(delta: float, variance: Variance) -> None:
    needed = [tasks_needed(delta, repeats, variance) for repeats in (1, 2, 3, 10)]
    assert needed == sorted(needed, reverse=True)


def test_five_tasks_show_nothing_at_five_percent() -> None:
    """Nor does the exact test: all of one sign has p = 1 / 16."""
    assert power(-0.9, 5, 3, Variance(0.001, 0.001)) == 0
    assert sign_flip([-1.0] * 5) > 0.05 > sign_flip([-1.0] * 6)
    assert tasks_needed(-0.9, 3, Variance(0.001, 0.001)) == 6


def test_without_a_difference_power_is_the_level() -> None:
    assert power(0.0, 40, 3, Variance(0.04, 0.2)) == pytest.approx(0.05, abs=1e-9)


def test_what_cannot_be_missed_has_power_one() -> None:
    assert power(-0.5, 200, 3, Variance(0.0, 0.0)) == 1
    assert power(-0.5, 200, 3, Variance(0.001, 0.001)) == pytest.approx(1)


@pytest.mark.parametrize(("tasks", "repeats", "less"), [(40, 3, 0.0), (80, 1, 0.1)])
def test_the_exact_test_has_the_power_that_is_told(tasks: int, repeats: int, less: float) -> None:
    """800 runs in which the condition takes 20 to 40 % of each task's rate: within four points.

    Of one repeat a side McNemar's exact test is known to ask for more than it must, and has up to ten points less.
    """
    random = np.random.default_rng(repeats)
    runs = [_arms(random, tasks, repeats, (0.2, 0.4)) for _ in range(800)]
    seen = np.mean([sign_flip(list(b.mean(axis=1) - a.mean(axis=1))) <= 0.05 for a, b in runs])
    before = random.beta(2.0, 1.0, 200_000)
    after = before * (1 - random.uniform(0.2, 0.4, before.size))
    within = float(np.mean(before * (1 - before) + after * (1 - after)))
    truth = Variance(float(np.var(after - before)), within)
    told = power(float(np.mean(after - before)), tasks, repeats, truth)
    assert 0.6 < told < 0.99
    assert told - less - 0.04 <= seen <= told + 0.04


def test_repeats_tell_chance_from_differences_between_tasks() -> None:
    random = np.random.default_rng(6)
    before, after = _arms(random, 20_000, 3)
    found = variance_of(before.tolist(), after.tolist())
    assert found
    assert found.separated
    # Of p ~ beta(2, 1), E[p] = 2 / 3 and E[p²] = 1 / 2; the condition keeps a share s, uniform on 0.7…1, of it.
    kept, kept_squared = 0.85, 0.85**2 + 0.3**2 / 12
    assert found.within == pytest.approx(1 / 6 + 2 / 3 * kept - 1 / 2 * kept_squared, abs=0.01)
    lost_squared = 1 - 2 * kept + kept_squared
    assert found.between == pytest.approx(1 / 2 * lost_squared - (2 / 3 * (1 - kept)) ** 2, abs=0.004)


def test_tasks_of_unequal_repeats_are_weighed_by_theirs() -> None:
    """Equal true rates: all of the variance is chance, however many repeats a task has."""
    random = np.random.default_rng(7)
    before, after = _arms(random, 20_000, 4, (0.0, 0.0))
    sizes = random.integers(1, 5, 20_000)
    cut = [row[:size].tolist() for row, size in zip(before, sizes, strict=True)]
    found = variance_of(cut, after.tolist())
    assert found
    assert found.between == pytest.approx(0, abs=0.006)
    assert found.within == pytest.approx(2 / 6, abs=0.01)


def test_one_repeat_cannot_tell_them_apart_and_says_so() -> None:
    before, after = [[True]] * 6 + [[False]] * 4, [[True]] * 3 + [[False]] * 7
    found = variance_of(before, after)
    assert found == Variance(pytest.approx(0.3 * 0.7 * 10 / 9), 0.0, separated=False)
    assert found
    assert power(-0.3, 30, 5, found) == power(-0.3, 30, 1, found)


def test_what_never_varies_or_has_one_task_tells_no_variance() -> None:
    assert variance_of([[True, True]] * 9, [[True, True]] * 9) is None
    assert variance_of([[True]] * 9, [[True]] * 9) is None
    assert variance_of([[True, False]], [[True, True]]) is None
    assert variance_of([[True, False], []], [[True, True], [True]]) is None


def test_assumed_rates_give_the_variance_of_their_beta_distributions() -> None:
    """Of tasks all alike, the two Bernoulli variances lie within tasks; of tasks of certain outcome, between them."""
    assert assumed_variance(0.75, -0.05, 0.0) == Variance(0.0, pytest.approx(0.1875 + 0.21))
    certain = assumed_variance(0.75, -0.05, 1.0, correlation=0.0)
    assert certain == Variance(pytest.approx(0.1875 + 0.21), 0.0)
    assert assumed_variance(0.5, 0.0, 0.5, correlation=1.0).between == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: assumed_variance(1.2, 0.0, 0.5), "rate is 1.2"),
        (lambda: assumed_variance(0.1, -0.2, 0.5), "rate \\+ Δ"),
        (lambda: assumed_variance(0.5, 0.1, -0.5), "spread"),
        (lambda: assumed_variance(0.5, 0.1, 0.5, correlation=2.0), "correlation"),
        (lambda: power(0.1, 0, 3, Variance(0.1, 0.1)), "0 tasks"),
        (lambda: power(0.1, 10, 3, Variance(0.1, 0.1), alpha=1.0), "alpha is 1"),
        (lambda: tasks_needed(0.0, 3, Variance(0.1, 0.1)), "Δ is 0"),
        (lambda: tasks_needed(1e-9, 3, Variance(0.1, 0.1)), "would be needed"),
        (lambda: tasks_needed(0.1, 0, Variance(0.1, 0.1)), "0 repeats"),
        (lambda: tasks_needed(0.1, 3, Variance(0.1, 0.1), power=0.01), "power 0.01"),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(call: object, named: str) -> None:
    with pytest.raises(InputError, match=named):
        call()  # type: ignore[operator]
