"""Intervals of means over tasks: repeats of one task are no independent trials, so the task is the unit.

Which rule is used when was chosen by simulation (``benchmarks/coverage.py``): of percentile, expanded percentile
and t bootstraps, Student's t, pseudo-observations after Agresti and Min, Wilson's and Newcombe's intervals, these
hold 95 % best from eight tasks on. The plain bootstrap does not for few tasks, and for rates near 0 or 1 not even
for many: what was not seen, a resample never shows. Where none of them can be relied on, for very few tasks or where
all changes go one way, the interval is exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fourhands.analysis.statistics.intervals import CONFIDENCE, Interval
from fourhands.analysis.statistics.significance import as_fractions

__all__ = [
    "FEW_TASKS",
    "RESAMPLES",
    "expanded_quantiles",
    "paired_interval",
    "rate_interval",
    "retention_interval",
]

FEW_TASKS: Final = 30
"""Below, a difference has Student's interval instead of the bootstrap's."""
RESAMPLES: Final = 4000
_TESTABLE_TASKS: Final = 6
"""Below, no exact test of signs reaches p = 0.05: all tasks of one sign have p = 2 / 2ⁿ."""
_TAIL: Final = (1 - CONFIDENCE) / 2

type _Floats = NDArray[np.float64]


def rate_interval(rates: Sequence[float]) -> Interval | None:
    """The interval of a mean of rates, one a task, each in 0…1; ``None`` without tasks.

    Wilson's with the effective number of trials that the variance between the tasks' rates tells, and Student's
    quantile in the place of the normal one (Korn and Graubard 1998; Dean and Pagano 2015). With all rates
    equal, exact.
    """
    values = _sorted(rates)
    if not values.size:
        return None
    if values[0] == values[-1]:
        return _exact(values, 0.0)
    low, high = _wilson_over_tasks(values, _student(values.size))
    return Interval(low, high, "Wilson, clustered by task")


def retention_interval(kept: int, solved: int) -> Interval | None:
    """The interval of kept / solved, one outcome a task; ``None`` when no task was solved.

    Raises:
        ValueError: more kept than solved, or fewer than none.
    """
    if not 0 <= kept <= solved:
        raise ValueError(f"{kept} of {solved} tasks kept: give 0 … solved")
    return rate_interval([1.0] * kept + [0.0] * (solved - kept))


def paired_interval(differences: Sequence[float], *, seed: int = 0) -> Interval | None:
    """The interval of a mean of differences of rates, one a task, each in -1…1; ``None`` without tasks.

    From `FEW_TASKS` on, the bootstrap over tasks with the expanded percentiles of Hesterberg (2015); below,
    Student's t over tasks. Where all differences that are not 0 have one sign, neither knows that the other sign
    is possible: there, exact. So with fewer than six tasks, which never exclude 0, as no exact test of them rejects
    it.
    """
    values = _sorted(differences)
    if not values.size:
        return None
    if values.size < _TESTABLE_TASKS or values[-1] <= 0 or values[0] >= 0:
        return _exact(values, -1.0)
    if values.size < FEW_TASKS:
        return _student_interval(values)
    distinct, counts = np.unique(values, return_counts=True)
    weights = np.random.default_rng(seed).multinomial(values.size, counts / values.size, size=RESAMPLES)
    low, high = expanded_quantiles(weights @ distinct / values.size, values.size)
    return Interval(low, high, "bootstrap over tasks")


def expanded_quantiles(means: _Floats, tasks: int) -> tuple[float, float]:
    """The percentiles of resampled statistics, as far out as makes up for the few tasks they were drawn from.

    Hesterberg, "What Teachers Should Know about the Bootstrap" (2015), section 4.3.
    """
    from scipy.special import ndtr  # noqa: PLC0415 - see `_student`

    tail = float(ndtr(-math.sqrt(tasks / (tasks - 1)) * _student(tasks)))
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def _student(n: int) -> float:
    from scipy.special import stdtrit  # noqa: PLC0415 - only tables need scipy

    return float(stdtrit(n - 1, 1 - _TAIL))


def _sorted(values: Sequence[float]) -> _Floats:
    """In ascending order, and those equal that differ by how they were computed only."""
    return np.sort(np.array([float(value) for value in as_fractions(values)], dtype=np.float64))


def _exact(values: _Floats, lowest: float) -> Interval:
    """Of a mean in ``lowest``…1, whatever the distribution of the ascending values.

    Gaffke's bounds (2005; Learned-Miller and Thomas 2019): as if each task, and one more that lies at the end of
    what is possible, had a random share of all there are. Of zeros and ones they are Clopper and Pearson's; of losses
    alone, one outcome a task, they exclude 0 just where McNemar's exact p is at most 0.05. No larger value makes an
    end smaller. That they hold 95 % of any distribution is not proven, but no exception is known.
    """
    low = 0.0 - _upper_bound(-values[::-1], -lowest)
    return Interval(low, _upper_bound(values, 1.0), "exact over tasks (Gaffke)")


def _upper_bound(values: _Floats, end: float) -> float:
    from scipy.optimize import brentq  # noqa: PLC0415 - see `_student`

    if values[0] == end:
        return end
    knots = np.append(values, end)
    return float(brentq(lambda mean: _chance_above(knots, mean) - _TAIL, values[0], end))


def _chance_above(knots: _Floats, mean: float) -> float:
    """The chance that the mean of ascending knots, weighed by spacings of uniform numbers, is above ``mean``.

    After Hermite and Genocchi it is the divided difference of (x - mean)₊ⁿ over the knots. Each step goes from the
    runs of neighbouring knots that lie around ``mean`` to those of one more, by a weighted mean: no rounding grows.
    """
    distances = knots - mean
    chances = (distances > 0).astype(np.float64)
    below = int(np.count_nonzero(distances <= 0))
    for step in range(1, knots.size):
        first, end = max(below - step, 0), min(below, knots.size - step)
        low, high = distances[first:end], distances[first + step : end + step]
        chances[first:end] = (high * chances[first + 1 : end + 1] - low * chances[first:end]) / (high - low)
    return float(chances[0])


def _wilson_over_tasks(values: _Floats, quantile: float) -> tuple[float, float]:
    mean = float(values.mean())
    spread = mean * (1 - mean)
    # At least one: values in 0…1 vary at most as zeros and ones do, but for the n / (n - 1) of the sample.
    n = max(spread * values.size / float(values.var(ddof=1)), 1.0)
    shrink = 1 + quantile**2 / n
    centre = (mean + quantile**2 / (2 * n)) / shrink
    half = quantile / shrink * math.sqrt(spread / n + (quantile / (2 * n)) ** 2)
    return max(centre - half, 0.0), min(centre + half, 1.0)


def _student_interval(values: _Floats) -> Interval:
    mean = float(values.mean())
    half = _student(values.size) * float(values.std(ddof=1)) / math.sqrt(values.size)
    return Interval(max(mean - half, -1.0), min(mean + half, 1.0), "Student's t over tasks")
