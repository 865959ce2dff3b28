"""How often a 95 % interval holds the truth: simulated runs of which the truth is known.

A run has tasks of beta-distributed difficulty, alike but not the same in its two arms, and some repeats of each.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm

from fourhands.analysis.statistics import Interval, excess_loss, paired_interval, rate_interval
from measure import Figure, Outcome

__all__ = ["measure"]

_RUNS: Final = 400
_RETENTION_RUNS: Final = 200
_TASKS: Final = (8, 12, 20, 50, 200)
_REPEATS: Final = (1, 3)
_RATES: Final = (0.5, 0.7, 0.85)
_DELTAS: Final = (0.0, -0.05, -0.15)
_WORLDS: Final = ((1.0, 0.7), (3.0, 0.9))
"""How much difficulties differ (a + b of the beta distribution), and the correlation of a task's in the two arms."""
_TARGET: Final = "93…97 %"

type _Rates = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Cell:
    """One kind of run, and the share of its intervals, in percent, that hold the truth."""

    name: str
    covered: float


def measure() -> Outcome:
    """Differences, rates, the edges, and excess loss of two arms of one agent."""
    random = np.random.default_rng(0)
    figures: list[Figure] = []
    rates = ", ".join(f"{rate:.0%}" for rate in _RATES)
    deltas = ", ".join(f"{delta:+.0%}" for delta in _DELTAS)
    notes = [
        f"kinds: rates {rates}; Δ {deltas}; tasks' rates beta(a, b) with a + b of 1 and of 3",
        f"{_RUNS} runs of each kind, standard error {_error(_RUNS):.1f} points: extremes of many lie further off",
        f"{_RETENTION_RUNS} runs for excess loss, standard error {_error(_RETENTION_RUNS):.1f} points",
    ]
    for tasks, repeats in product(_TASKS, _REPEATS):
        title = f"{tasks} tasks × {repeats}"
        figures += _figures(f"Δ, {title}", list(_differences(random, tasks, repeats)), notes)
        figures += _figures(f"rate, {title}", list(_means(random, tasks, repeats)), notes)
    figures += [_edge(tasks) for tasks in _TASKS]
    figures += [_one_sided(random, tasks, repeats) for tasks, repeats in product(_TASKS, _REPEATS)]
    figures += [_excess(random, tasks) for tasks in _TASKS]
    return Outcome(tuple(figures), tuple(notes))


def _error(runs: int) -> float:
    return 100 * math.sqrt(0.95 * 0.05 / runs)


def _figures(name: str, cells: Sequence[_Cell], notes: list[str]) -> Iterator[Figure]:
    covered = [cell.covered for cell in cells]
    yield Figure(f"{name}: covered, mean of {len(cells)} kinds", "%", float(np.mean(covered)), target=_TARGET)
    yield Figure(f"{name}: covered, lowest", "%", min(covered), target=_TARGET)
    yield Figure(f"{name}: covered, highest", "%", max(covered), target=_TARGET)
    worst = min(cells, key=lambda cell: cell.covered)
    notes.append(f"{name}: lowest at {worst.name}")


def _differences(random: np.random.Generator, tasks: int, repeats: int) -> Iterator[_Cell]:
    for rate, delta, world in product(_RATES, _DELTAS, _WORLDS):
        before, after = _arms(random, tasks=tasks, repeats=repeats, means=(rate, rate + delta), world=world)
        covered = _covered(after - before, paired_interval, delta)
        yield _Cell(f"{rate:.0%}, Δ {delta:+.0%}, a + b = {world[0]:g}", covered)


def _means(random: np.random.Generator, tasks: int, repeats: int) -> Iterator[_Cell]:
    for rate, world in product(_RATES, _WORLDS):
        arm, _ = _arms(random, tasks=tasks, repeats=repeats, means=(rate, rate), world=world)
        yield _Cell(f"{rate:.0%}, a + b = {world[0]:g}", _covered(arm, rate_interval, rate))


def _edge(tasks: int) -> Figure:
    """Every task always, or never, solved: there is one outcome, and its interval must hold the truth."""
    cases = [
        _covered(np.full((1, tasks), value), interval, value)
        for interval, value in ((rate_interval, 0.0), (rate_interval, 1.0), (paired_interval, 0.0))
    ]
    return Figure(f"{tasks} tasks at 0 % and 100 %: covered", "%", min(cases), target="≥ 95 %")


def _one_sided(random: np.random.Generator, tasks: int, repeats: int) -> Figure:
    """All solved under vanilla, 15 points less under the condition: no gain is possible, nor seen."""
    _, after = _arms(random, tasks=tasks, repeats=repeats, means=(0.5, 0.85), world=(1.0, 0.0))
    covered = _covered(after - 1, paired_interval, -0.15)
    return Figure(f"Δ from 100 % to 85 %, {tasks} tasks × {repeats}: covered", "%", covered, target="≥ 93 %")


def _excess(random: np.random.Generator, tasks: int) -> Figure:
    """Two arms of one agent, 70 % solved, three repeats: no excess loss."""
    held = []
    for _ in range(_RETENTION_RUNS):
        rates = random.beta(1.05, 0.45, (tasks, 1))
        first, second = (random.random((tasks, 3)) < rates for _ in range(2))
        found = excess_loss(first.tolist(), second.tolist())
        held.append(found is None or found.interval.low <= 0 <= found.interval.high)
    return Figure(
        f"no excess loss, {tasks} tasks × 3: covered", "%", 100 * float(np.mean(held)), target="≥ 93 %"
    )


def _arms(
    random: np.random.Generator,
    *,
    tasks: int,
    repeats: int,
    means: tuple[float, float],
    world: tuple[float, float],
) -> tuple[_Rates, _Rates]:
    """Two arms, each runs × tasks of rates over the repeats."""
    spread, alike = world
    first, other = random.standard_normal((2, _RUNS, tasks))
    second = alike * first + math.sqrt(1 - alike**2) * other
    before, after = (
        random.binomial(repeats, beta.ppf(norm.cdf(place), mean * spread, (1 - mean) * spread)) / repeats
        for place, mean in zip((first, second), means, strict=True)
    )
    return before, after


def _covered(runs: _Rates, interval: Callable[[Sequence[float]], Interval | None], truth: float) -> float:
    """The share of runs, in percent, whose interval holds the truth."""
    alike = Counter(tuple(sorted(run)) for run in runs.tolist())
    held = 0
    for run, times in alike.items():
        found = interval(run)
        # A sum of fractions misses an end that is the truth itself by a rounding.
        held += times * (found is not None and found.low - 1e-12 <= truth <= found.high + 1e-12)
    return 100 * held / len(runs)
