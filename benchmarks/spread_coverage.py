"""How often 95 % intervals of ratios and medians hold the truth: simulated runs of values without bounds.

Steps, tokens, costs and churn are log-normal: tasks differ, a task's ratio differs from the others', and repeats of
one task differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fourhands.analysis.statistics import median_interval, ratio_interval
from measure import Figure, Outcome

__all__ = ["measure"]

_RUNS: Final = 400
_TASKS: Final = (6, 8, 15, 30, 75)
_REPEATS: Final = (1, 3)
_RATIO: Final = 3.0
_NOTHING: Final = 0.3
"""The share of trials without any churn, in one of the worlds of medians."""
_TARGET: Final = "93…97 %"

type _Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _World:
    """How much the logarithms differ: between tasks, between the tasks' ratios, and within a task."""

    name: str
    tasks: float
    ratios: float
    within: float


_WORLDS: Final = (
    _World("steps", 0.5, 0.3, 0.3),
    _World("tokens", 1.0, 0.5, 0.5),
    _World("heavy tails", 1.0, 0.8, 1.0),
)


def measure() -> Outcome:
    """Ratios of means, and medians with and without trials that have nothing."""
    random = np.random.default_rng(0)
    figures = []
    for tasks, repeats, world in product(_TASKS, _REPEATS, _WORLDS):
        title = f"{world.name}, {tasks} tasks × {repeats}: covered"
        figures += [
            Figure(f"ratio, {title}", "%", _ratios(random, tasks, repeats, world), target=_TARGET),
            Figure(f"median, {title}", "%", _medians(random, tasks, repeats, world, 0.0), target=_TARGET),
            Figure(
                f"median, part of them 0, {title}",
                "%",
                _medians(random, tasks, repeats, world, _NOTHING),
                target=_TARGET,
            ),
        ]
    error = 100 * math.sqrt(0.95 * 0.05 / _RUNS)
    return Outcome(tuple(figures), (f"{_RUNS} runs of each kind, standard error {error:.1f} points",))


def _ratios(random: np.random.Generator, tasks: int, repeats: int, world: _World) -> float:
    truth = _RATIO * math.exp(world.ratios**2 / 2)
    held = []
    for _ in range(_RUNS):
        task = np.exp(random.normal(0, world.tasks, (tasks, 1)))
        ratio = _RATIO * np.exp(random.normal(0, world.ratios, (tasks, 1)))
        before, after = (
            side * np.exp(random.normal(0, world.within, (tasks, repeats))) for side in (task, task * ratio)
        )
        found = ratio_interval(before.tolist(), after.tolist())
        held.append(found is not None and found.low <= truth <= found.high)
    return 100 * float(np.mean(held))


def _medians(random: np.random.Generator, tasks: int, repeats: int, world: _World, nothing: float) -> float:
    truth = float(np.median(_churn(np.random.default_rng(1), 200_000, 1, world, nothing)))
    held = []
    for _ in range(_RUNS):
        found = median_interval(_churn(random, tasks, repeats, world, nothing).tolist())
        held.append(found is not None and found.low <= truth <= found.high)
    return 100 * float(np.mean(held))


def _churn(random: np.random.Generator, tasks: int, repeats: int, world: _World, nothing: float) -> _Values:
    task = random.normal(0, world.tasks, (tasks, 1))
    values = np.exp(task + random.normal(0, world.within, (tasks, repeats)))
    return np.asarray(np.where(random.random((tasks, repeats)) < nothing, 0.0, values))
