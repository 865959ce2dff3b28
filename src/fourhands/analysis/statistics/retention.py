"""Retention beside its null: with noise alone, a second run does not keep all that the first solved.

Retention is the share, among tasks majority-solved under `vanilla`, that are majority-solved under the condition.
How much of it noise alone takes depends on how the tasks' solve rates p spread, which repeats under `vanilla` tell:
p is taken to be beta-distributed over tasks, with the mean and the variance that unbiased estimates of E[p] and
E[p²] give, so outcomes of a task are beta-binomial. With q(p) the chance that a majority of a task's repeats is
solved, the null is E[q²] / E[q], in closed form.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fourhands.analysis.statistics.clustered import RESAMPLES, expanded_quantiles, retention_interval
from fourhands.analysis.statistics.intervals import Interval
from fourhands.analysis.statistics.repeats import is_majority

__all__ = ["ExcessLoss", "NullRetention", "excess_loss", "null_retention", "why_no_null"]

LEAST_TASKS = 6
"""Of fewer, the spread of solve rates is not estimated: the null would be a guess that looks like a number."""

type _Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NullRetention:
    """The retention that a second `vanilla` arm would show, as a fraction: ``rate``.

    ``solve_rate`` and ``spread`` are mean and standard deviation over tasks of the true solve rates, as estimated
    from the ``tasks`` that have at least two repeats; ``repeats`` of `vanilla` and ``again`` of the second arm are
    what a majority is taken of.
    """

    rate: float
    solve_rate: float
    spread: float
    repeats: int
    again: int
    tasks: int


@dataclass(frozen=True, slots=True)
class ExcessLoss:
    """How much more is lost than noise alone would lose: ``value`` = ``null`` − ``observed`` retention, as fractions.

    ``interval`` is of ``value``; ``kept`` of ``solved`` tasks give ``observed``. Above 0: the condition costs.
    """

    value: float
    interval: Interval
    null: float
    observed: float
    kept: int
    solved: int


def null_retention(outcomes: Sequence[Sequence[bool]], *, again: int | None = None) -> NullRetention | None:
    """The null of retention, from the scored repeats of `vanilla` by task; ``None`` as `why_no_null` says.

    A majority is taken of the usual number of repeats (the commonest; the larger of two), and of ``again`` in the
    second arm, by default as many.
    """
    if why_no_null(outcomes):
        return None
    repeats = _usual(outcomes)
    again = again or repeats
    first, second = _moments(outcomes)
    # Sums that do not depend on the order of tasks.
    solve_rate, square = math.fsum(first) / first.size, math.fsum(second) / first.size
    variance = float(np.clip(square - solve_rate**2, 0.0, solve_rate * (1 - solve_rate)))
    rate = float(_null(np.array([solve_rate]), np.array([square]), repeats, again)[0])
    return NullRetention(rate, solve_rate, math.sqrt(variance), repeats, again, first.size)


def why_no_null(outcomes: Sequence[Sequence[bool]]) -> str | None:
    """Why these repeats of `vanilla` give no null, in words; ``None`` when they do."""
    repeated = [task for task in outcomes if len(task) > 1]
    if not repeated:
        return "no task has two scored repeats under vanilla: chance and difficulty cannot be told apart"
    if len(repeated) < LEAST_TASKS:
        return (
            f"fewer than {LEAST_TASKS} tasks have two scored repeats under vanilla: too few to tell chance and "
            "difficulty apart"
        )
    if not any(map(any, repeated)):
        return "vanilla solved no task that has two scored repeats: there is nothing to retain"
    return None


def excess_loss(
    vanilla: Sequence[Sequence[bool]], condition: Sequence[Sequence[bool]], *, seed: int = 0
) -> ExcessLoss | None:
    """Null − observed retention; ``vanilla[i]`` and ``condition[i]`` are the scored repeats of one task.

    Tasks without an outcome on one side are left out. ``None`` when no task is majority-solved under `vanilla`, or
    there is no null (`why_no_null`). The interval is a bootstrap over tasks, of null and observed together; where
    all or none of the solved tasks were kept, of which a resample would show no doubt, it is that of the observed
    retention by itself.

    Raises:
        ValueError: the two sides have not the same number of tasks.
    """
    pairs = [(a, b) for a, b in zip(vanilla, condition, strict=True) if a and b]
    before = [a for a, _ in pairs]
    solved = np.array([is_majority(a) for a, _ in pairs], dtype=np.float64)
    kept = np.array([is_majority(a) and is_majority(b) for a, b in pairs], dtype=np.float64)
    null = null_retention(before, again=_usual([b for _, b in pairs])) if pairs else None
    if null is None or not solved.any():
        return None
    observed = float(kept.sum() / solved.sum())
    counts = (int(kept.sum()), int(solved.sum()))
    edge = retention_interval(*counts)
    assert edge
    if 0 < observed < 1:
        interval = _resampled(before, solved, kept, null, seed)
    else:
        interval = Interval(
            null.rate - edge.high, null.rate - edge.low, f"{edge.method}; the null as estimated"
        )
    return ExcessLoss(null.rate - observed, interval, null.rate, observed, *counts)


def _usual(outcomes: Sequence[Sequence[bool]]) -> int:
    """The commonest number of repeats, of tasks that have any; the larger of two."""
    counts = Counter(len(task) for task in outcomes if task)
    return max(counts, key=lambda repeats: (counts[repeats], repeats))


def _moments(outcomes: Sequence[Sequence[bool]]) -> tuple[_Floats, _Floats]:
    """Of each task with two repeats or more, unbiased estimates of its p and p²."""
    repeated = [(sum(task), len(task)) for task in outcomes if len(task) > 1]
    first = np.array([c / n for c, n in repeated])
    second = np.array([c * (c - 1) / (n * (n - 1)) for c, n in repeated])
    return first, second


def _null(first: _Floats, second: _Floats, repeats: int, again: int) -> _Floats:
    """E[q²] / E[q] for each pair of moments; NaN where nothing is ever solved."""
    room = first * (1 - first)
    with np.errstate(divide="ignore", invalid="ignore"):
        likeness = np.clip(np.where(room > 0, (second - first**2) / room, 1.0), 0.0, 1 - 1e-12)
        return _majority(first, likeness, repeats, again) / _majority(first, likeness, repeats, 0)


def _majority(rate: _Floats, likeness: _Floats, repeats: int, again: int) -> _Floats:
    """The chance of a majority of ``repeats``, and of ``again`` more (0: of the former alone), of one task.

    ``likeness`` is 1 / (a + b + 1) of the beta distribution: 0 when all tasks are alike, 1 when each is always or
    never solved. Written with it, the beta-binomial has no pole at either end.
    """
    chance = np.zeros_like(rate)
    for i, ways in _majorities(repeats):
        for j, more in _majorities(again):
            chance += ways * more * _solved(rate, likeness, i + j, repeats + again)
    return chance


def _majorities(n: int) -> list[tuple[int, int]]:
    """The numbers of successes that are more than half of n, and in how many ways; of no repeats, none in one way."""
    return [(count, math.comb(n, count)) for count in range(n // 2 + 1, n + 1)] or [(0, 1)]


def _solved(rate: _Floats, likeness: _Floats, successes: int, n: int) -> _Floats:
    """E[pˢ (1 - p)ⁿ⁻ˢ]."""
    apart = 1 - likeness
    product = np.ones_like(rate)
    for k in range(n):
        mean, seen = (rate, k) if k < successes else (1 - rate, k - successes)
        product *= (mean * apart + seen * likeness) / (apart + k * likeness)
    return product


def _resampled(
    before: Sequence[Sequence[bool]], solved: _Floats, kept: _Floats, null: NullRetention, seed: int
) -> Interval:
    repeated = np.array([len(task) > 1 for task in before], dtype=np.float64)
    first, second = np.zeros((2, len(before)))
    first[repeated > 0], second[repeated > 0] = _moments(before)
    # Tasks alike in all of this are drawn together: quicker, and their order cannot matter.
    kinds, counts = np.unique(
        np.stack([solved, kept, repeated, first, second], axis=1), axis=0, return_counts=True
    )
    weights = np.random.default_rng(seed).multinomial(len(before), counts / len(before), size=RESAMPLES)
    totals = weights @ kinds
    usable = totals[(totals[:, 0] > 0) & (totals[:, 3] > 0)]
    nulls = _null(usable[:, 3] / usable[:, 2], usable[:, 4] / usable[:, 2], null.repeats, null.again)
    low, high = expanded_quantiles(nulls - usable[:, 1] / usable[:, 0], len(before))
    return Interval(low, high, "bootstrap over tasks, null and observed together")
