from __future__ import annotations

from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.analysis.statistics import median_interval, ratio_interval
from fourhands.analysis.statistics.resampled import LEAST_TASKS

sides = st.lists(
    st.tuples(
        st.lists(st.floats(1, 1000), min_size=1, max_size=3),
        st.lists(st.floats(1, 1000), min_size=1, max_size=3),
    ),
    min_size=LEAST_TASKS,
    max_size=20,
)


@given(sides)
def test_a_ratio_turned_over_has_its_interval_turned_over(
    tasks: list[tuple[list[float], list[float]]],
) -> None:
    before, after = zip(*tasks, strict=True)
    there, back = ratio_interval(before, after), ratio_interval(after, before)
    assert (there is None) == (back is None)
    if there and back:
        assert there.low < there.high
        assert (back.low, back.high) == pytest.approx((1 / there.high, 1 / there.low))
        tenfold = ratio_interval(before, [[10 * each for each in task] for task in after])
        assert tenfold
        assert (tenfold.low, tenfold.high) == pytest.approx((10 * there.low, 10 * there.high))


def test_fewer_than_six_tasks_or_nothing_that_varies_has_no_interval() -> None:
    before, after = [[1.0], [2.0], [3.0], [4.0], [5.0]], [[3.0], [4.0], [5.0], [9.0], [9.0]]
    assert ratio_interval(before, after) is None
    assert median_interval(before) is None
    assert ratio_interval([*before, []], [*after, [9.0]]) is None
    assert ratio_interval([*before, [6.0]], [*after, [9.0]]) is not None
    assert ratio_interval([[1.0]] * 9, [[3.0]] * 9) is None
    assert ratio_interval([[1.0]] * 9, [[0.0]] * 9) is None
    assert median_interval([[2.0]] * 9) is None


def test_ends_of_a_median_are_around_it_and_its_repeats_are_no_tasks() -> None:
    dice = np.random.default_rng(3)
    tasks = [[float(x)] for x in dice.lognormal(0, 1, 40)]
    found = median_interval(tasks)
    assert found is not None
    assert found.low < median(each for task in tasks for each in task) < found.high
    assert median_interval([task * 5 for task in tasks]) == found
    independent = median_interval([task for task in tasks for _ in range(5)])
    assert independent is not None
    assert independent.high - independent.low < 0.7 * (found.high - found.low)


@pytest.mark.parametrize("repeats", [1, 3])
def test_both_hold_about_what_they_promise(repeats: int) -> None:
    dice = np.random.default_rng(repeats)
    held = [0, 0]
    for _ in range(200):
        task, change = np.exp(dice.normal(0, 0.5, 12)), np.exp(dice.normal(1, 0.3, 12))
        before = [list(each * np.exp(dice.normal(0, 0.3, repeats))) for each in task]
        after = [list(each * np.exp(dice.normal(0, 0.3, repeats))) for each in task * change]
        ratio, middle = ratio_interval(before, after), median_interval(before)
        assert ratio
        assert middle
        held[0] += ratio.low <= np.exp(1 + 0.3**2 / 2) <= ratio.high
        held[1] += middle.low <= 1 <= middle.high
    assert min(held) >= 0.89 * 200, held
