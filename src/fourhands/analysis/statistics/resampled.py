"""Intervals of ratios of means and of medians, whose values have no bounds: the bootstrap over tasks.

Percentiles of resampled tasks, expanded after Hesterberg (2015) as those of differences are. Simulated on log-normal
steps, tokens and churn, in part zero, one and three trials a task (``benchmarks/spread_coverage.py``): from six tasks
on, 95 % intervals of a median hold 92 to 99 %, those of a ratio 88 to 96 %, less where tasks differ more. With fewer
tasks there is none: no rule that was tried holds there, and values without bounds have no exact one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fourhands.analysis.statistics.clustered import expanded_quantiles
from fourhands.analysis.statistics.intervals import Interval

__all__ = ["LEAST_TASKS", "median_interval", "ratio_interval"]

LEAST_TASKS: Final = 6
"""With fewer tasks there is no such interval."""
_RESAMPLES: Final = 2000
_PARTS: Final = 20
"""So that memory stays bounded: of as many resamples as trials at once, a large run would take gigabytes."""
_METHOD: Final = "bootstrap over tasks"

type _Floats = NDArray[np.float64]


def ratio_interval(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]) -> Interval | None:
    """The interval of mean(after) / mean(before), each over all trials; ``before[i]``, ``after[i]`` are of one task.

    Values are not negative. ``None`` with fewer than `LEAST_TASKS` tasks that have both, where all that is before or
    all that is after is 0 in some resample, and where nothing varies, which tells nothing of what was not seen.

    Raises:
        ValueError: the two sides have not the same number of tasks.
    """
    pairs = [(b, a) for b, a in zip(before, after, strict=True) if b and a]
    if len(pairs) < LEAST_TASKS:
        return None
    sides = [*zip(*pairs, strict=True)]
    totals = [[of(task) for task in side] for side in sides for of in (math.fsum, len)]
    drawn = _weights(len(pairs)) @ np.array(totals, dtype=np.float64).T
    below, above = drawn[:, 0] / drawn[:, 1], drawn[:, 2] / drawn[:, 3]
    if not (below.all() and above.all()):
        return None
    logs = np.log(above) - np.log(below)
    low, high = (float(np.exp(end)) for end in expanded_quantiles(logs, len(pairs)))
    return Interval(low, high, _METHOD) if not np.isclose(low, high) else None


def median_interval(values: Sequence[Sequence[float]]) -> Interval | None:
    """The interval of the median of all trials' values, given by task.

    ``None`` with fewer than `LEAST_TASKS` tasks that have a value, and where nothing varies.
    """
    tasks = [task for task in values if task]
    if len(tasks) < LEAST_TASKS:
        return None
    flat = np.array(list(chain.from_iterable(tasks)), dtype=np.float64)
    order = np.argsort(flat, kind="stable")
    place = np.repeat(np.arange(len(tasks)), [len(task) for task in tasks])[order]
    if flat[order[0]] == flat[order[-1]]:
        return None
    weights, ordered = _weights(len(tasks)), flat[order]
    medians = [_medians(ordered, part[:, place]) for part in np.array_split(weights, _PARTS)]
    low, high = expanded_quantiles(np.concatenate(medians), len(tasks))
    return Interval(low, high, _METHOD)


def _medians(ordered: _Floats, weights: _Floats) -> _Floats:
    """Of ascending values, each as often as its weight says: one median for each row of weights."""
    counts = np.cumsum(weights, axis=1)
    half = counts[:, -1:] / 2
    lower, upper = (counts >= half).argmax(axis=1), (counts > half).argmax(axis=1)
    return np.asarray((ordered[lower] + ordered[upper]) / 2)


@lru_cache(maxsize=4)
def _weights(tasks: int) -> _Floats:
    """How often each task is in each resample: the same for all that is resampled over so many tasks."""
    drawn = np.random.default_rng(0).multinomial(tasks, np.full(tasks, 1 / tasks), size=_RESAMPLES)
    weights = drawn.astype(np.float64)
    weights.setflags(write=False)
    return weights
