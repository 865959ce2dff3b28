"""Spearman's correlation over trials, its interval over tasks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import spearmanr

from fourhands.analysis.statistics import spearman, spearman_interval
from fourhands.analysis.statistics.correlation import FEWEST_TASKS

TASKS = [[(float(n), float(n * n % 7)), (float(n + 1), float(n % 3))] for n in range(12)]


def test_it_is_the_jackknife_over_tasks_on_fishers_z() -> None:
    def z(tasks: list[list[tuple[float, float]]]) -> float:
        pairs = [pair for task in tasks for pair in task]
        return math.atanh(spearmanr([x for x, _ in pairs], [y for _, y in pairs]).statistic)

    parts = [z(TASKS[:left] + TASKS[left + 1 :]) for left in range(12)]
    error = math.sqrt(11 / 12 * sum((part - sum(parts) / 12) ** 2 for part in parts))
    reach = 2.200985160082949 * error  # Student's 97.5 % quantile of 11 degrees of freedom
    found = spearman_interval(TASKS)
    assert found is not None
    assert found.low == pytest.approx(math.tanh(z(TASKS) - reach))
    assert found.high == pytest.approx(math.tanh(z(TASKS) + reach))


def test_repeats_of_one_task_do_not_make_it_narrower() -> None:
    once = spearman_interval([task[:1] for task in TASKS])
    thrice = spearman_interval([task[:1] * 3 for task in TASKS])
    assert once is not None
    assert thrice is not None
    assert (thrice.low, thrice.high) == (pytest.approx(once.low), pytest.approx(once.high))


def test_few_tasks_and_what_is_perfect_or_does_not_vary_have_none() -> None:
    assert spearman_interval(TASKS[: FEWEST_TASKS - 1]) is None
    assert spearman_interval([[(float(n), float(n))] for n in range(20)]) is None
    assert spearman_interval([[(float(n), 1.0)] for n in range(20)]) is None
    one_varies = [[(float(n), float(n == 3))] for n in range(20)]
    assert spearman([x for [(x, _)] in one_varies], [y for [(_, y)] in one_varies]) is not None
    assert spearman_interval(one_varies) is None  # without that task nothing varies


def test_it_covers_what_is_true_about_as_often_as_it_says() -> None:
    dice = np.random.default_rng(4)

    def tasks(count: int) -> list[list[tuple[float, float]]]:
        hard = dice.normal(size=count)
        latent = hard[:, None] + dice.normal(size=(count, 3))
        reward = (latent + dice.normal(size=latent.shape) > 0).astype(float)
        return [
            list(zip(xs.round(1).tolist(), ys.tolist(), strict=True))
            for xs, ys in zip(latent, reward, strict=True)
        ]

    many = [pair for task in tasks(6000) for pair in task]
    truth = spearman([x for x, _ in many], [y for _, y in many])
    assert truth is not None
    found = [spearman_interval(tasks(15)) for _ in range(60)]
    hits = [each.low <= truth <= each.high for each in found if each]
    assert len(hits) == 60
    assert 0.85 <= sum(hits) / 60 <= 1
