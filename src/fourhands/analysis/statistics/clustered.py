"""Intervals of means over tasks: repeats of one task are no independent trials, so the task is the unit.

Which rule is used when was chosen by simulation (``benchmarks/coverage.py``): of percentile, expanded percentile
and t bootstraps, Student's t, pseudo-observations after Agresti and Min, Wilson's and Newcombe's intervals, these
hold 95 % best from eight tasks on. The plain bootstrap does not for few tasks, and for rates near 0 or 1 not even
for many: what was not seen, a resample never shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fourhands.analysis.statistics.intervals import CONFIDENCE, Interval

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
_TAIL: Final = (1 - CONFIDENCE) / 2

type _Floats = NDArray[np.float64]


def rate_interval(rates: Sequence[float]) -> Interval | None:
    """The interval of a mean of rates, one a task, each in 0…1; ``None`` without tasks.

    Wilson's with the effective number of trials that the variance between the tasks' rates tells, and Student's
    quantile in the place of the normal one (Korn and Graubard 1998; Dean and Pagano 2015). With all rates
    equal, exact.
    """
    values = np.sort(np.asarray(rates, dtype=np.float64))
    if not values.size:
        return None
    if values[0] == values[-1]:
        return _of_equal(float(values[0]), values.size, 0.0)
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
    is possible: there, losses and gains get Wilson's intervals by themselves, and are put together by square and
    add (Newcombe 1998, method 10; Zou and Donner 2008). With all differences equal, exact.
    """
    values = np.sort(np.asarray(differences, dtype=np.float64))
    if not values.size:
        return None
    if values[0] == values[-1]:
        return _of_equal(float(values[0]), values.size, -1.0)
    if values[-1] <= 0:
        return _one_sided(-values, sign=-1)
    if values[0] >= 0:
        return _one_sided(values, sign=1)
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


def _normal() -> float:
    from scipy.special import ndtri  # noqa: PLC0415 - see `_student`

    return float(ndtri(1 - _TAIL))


def _of_equal(value: float, n: int, lowest: float) -> Interval:
    """Exact for n equal values of a mean in ``lowest``…1.

    Clopper and Pearson's bound of a share never seen in n tasks, all of which might lie at either end.
    """
    unseen = -math.expm1(math.log(_TAIL) / n)
    method = "exact (Clopper–Pearson over tasks)"
    return Interval(value - unseen * (value - lowest), value + unseen * (1 - value), method)


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


def _one_sided(sizes: _Floats, *, sign: int) -> Interval:
    quantile = _normal()
    mean = float(sizes.mean())
    low, high = _wilson_over_tasks(sizes, quantile)
    unseen = quantile**2 / (sizes.size + quantile**2)
    near = mean - math.hypot(mean - low, unseen)
    seen, other = ("gains", "losses") if sign > 0 else ("losses", "gains")
    ends = sorted((sign * near, sign * high))
    return Interval(ends[0], ends[1], f"Newcombe, clustered by task ({seen} alone seen, no {other})")
