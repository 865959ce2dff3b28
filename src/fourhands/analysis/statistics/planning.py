"""How likely a paired comparison is to show a difference, and how many tasks it takes.

The mean over n tasks of the differences of rates, with r repeats a side, has the variance
(between + within / r) / n: true differences differ from task to task, and each outcome is a draw. Power is that of
the paired t test on tasks (Student's noncentral distribution), which the exact tests of `significance` come close to;
with fewer than six tasks those can reject nothing at 5 %, so there it is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fourhands.model.errors import InputError

__all__ = ["CORRELATION", "Variance", "assumed_variance", "power", "tasks_needed", "variance_of"]

CORRELATION: Final = 0.8
"""Of a task's true solve rates in the two arms, where nothing is known: hard tasks stay hard."""
_MOST: Final = 10**9
_CERTAIN: Final = 12.0
"""Standard errors at which a difference cannot be missed, not even with six tasks."""
_ONE_SIDED: Final = 6.0
"""Standard errors at which it cannot be taken for its opposite; scipy has no number for much more."""


@dataclass(frozen=True, slots=True)
class Variance:
    """Of a task's difference of rates: ``between`` tasks, of the true differences, and ``within`` a task.

    ``within`` is that of the difference of one repeat a side. Without ``separated``, no task had two repeats: all
    of the variance stands in ``between``, so that more repeats are promised to help nothing.
    """

    between: float
    within: float
    separated: bool = True

    def at(self, repeats: int) -> float:
        """The variance of a task's difference of rates, each over ``repeats``."""
        return self.between + self.within / repeats


def variance_of(vanilla: Sequence[Sequence[bool]], condition: Sequence[Sequence[bool]]) -> Variance | None:
    """Unbiased from a run's scored repeats by task, then cut off at 0; tasks without an outcome on one side left out.

    ``None`` with fewer than two tasks, or when no outcome differs from another: then nothing is known of it.

    Raises:
        ValueError: the two sides have not the same number of tasks.
    """
    pairs = [(a, b) for a, b in zip(vanilla, condition, strict=True) if a and b]
    if len(pairs) < 2:  # noqa: PLR2004 - a variance takes two
        return None
    total = float(np.var([sum(b) / len(b) - sum(a) / len(a) for a, b in pairs], ddof=1))
    draws = [_draw_variance(arm) for arm in zip(*pairs, strict=True)]
    known = [draw for draw in draws if draw is not None]
    if len(known) < len(draws):
        return Variance(total, 0.0, separated=False) if total else None
    chance = sum(
        draw * float(np.mean([1 / len(task) for task in arm]))
        for draw, arm in zip(known, zip(*pairs, strict=True), strict=True)
    )
    found = Variance(max(total - chance, 0.0), sum(known))
    return found if found.at(1) else None


def assumed_variance(
    rate: float, delta: float, spread: float, *, correlation: float = CORRELATION
) -> Variance:
    """From rates that are assumed: ``rate`` under `vanilla`, ``rate + delta`` under the condition, as fractions.

    ``spread`` is how much of an outcome's variance lies between tasks: 0 when all tasks are equally hard, 1 when each
    is always or never solved (the correlation of two repeats of a task). ``correlation`` is that of a task's true
    rates in the two arms.

    Raises:
        InputError: a rate, ``spread`` or ``correlation`` outside 0…1.
    """
    rates = (rate, rate + delta)
    for name, value in {
        "rate": rate,
        "rate + Δ": rates[1],
        "spread": spread,
        "correlation": correlation,
    }.items():
        if not 0 <= value <= 1:
            raise InputError(f"{name} is {value:g}: give a fraction from 0 to 1")
    outcome = [p * (1 - p) for p in rates]
    shared = 2 * correlation * math.sqrt(outcome[0] * outcome[1])
    return Variance(spread * (sum(outcome) - shared), (1 - spread) * sum(outcome))


def power(delta: float, tasks: int, repeats: int, variance: Variance, alpha: float = 0.05) -> float:
    """The chance that a paired test shows a true difference ``delta`` at the two-sided level ``alpha``.

    Raises:
        InputError: ``tasks`` or ``repeats`` below 1, or ``alpha`` not between 0 and 1.
    """
    if min(tasks, repeats) < 1:
        raise InputError(f"{tasks} tasks × {repeats} repeats: give at least 1 of each")
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha:g}: give a fraction between 0 and 1, such as 0.05")
    return _chance(delta, tasks, variance.at(repeats), alpha)


def tasks_needed(
    delta: float,
    repeats: int,
    variance: Variance,
    power: float = 0.8,
    alpha: float = 0.05,
) -> int:
    """The fewest tasks with which a true difference ``delta`` is shown with the chance ``power``.

    Raises:
        InputError: ``delta`` is 0 or too small for a thousand million tasks, ``repeats`` is below 1, or not
            0 < ``alpha`` < ``power`` < 1.
    """
    if not delta:
        raise InputError("Δ is 0: no number of tasks shows a difference that is not there")
    if not 0 < alpha < power < 1:
        raise InputError(
            f"alpha is {alpha:g} and power {power:g}: give fractions, the latter larger: 0.05 and 0.8"
        )
    if repeats < 1:
        raise InputError(f"{repeats} repeats: give at least 1")
    each = variance.at(repeats)
    low, high = 0, _fewest(alpha)
    while _chance(delta, high, each, alpha) < power:
        low, high = high, 2 * high
        if high > _MOST:
            raise InputError(f"Δ is {delta:g}: more than {_MOST:,} tasks would be needed; give a larger one")
    while high - low > 1:
        middle = (low + high) // 2
        if _chance(delta, middle, each, alpha) < power:
            low = middle
        else:
            high = middle
    return high


def _fewest(alpha: float) -> int:
    """Tasks with which an exact test of signs can reject at all: all n of one sign have p = 2 / 2ⁿ."""
    return math.ceil(1 - math.log2(alpha))


def _draw_variance(arm: Sequence[Sequence[bool]]) -> float | None:
    """The mean over tasks of p (1 - p), unbiased, from those with two repeats; ``None`` when none has."""
    repeated = [(sum(task) / len(task), len(task)) for task in arm if len(task) > 1]
    if not repeated:
        return None
    return float(np.mean([p * (1 - p) * n / (n - 1) for p, n in repeated]))


def _chance(delta: float, tasks: int, variance: float, alpha: float) -> float:
    if tasks < _fewest(alpha):
        return 0.0
    error = math.sqrt(variance / tasks)
    if abs(delta) >= _CERTAIN * error:
        return 1.0 if delta else alpha
    from scipy.special import nctdtr, stdtrit  # noqa: PLC0415 - only power needs scipy

    critical = stdtrit(tasks - 1, 1 - alpha / 2)
    shift = abs(delta) / error
    opposite = nctdtr(tasks - 1, shift, -critical) if shift < _ONE_SIDED else 0.0
    return float(1 - nctdtr(tasks - 1, shift, critical) + opposite)
