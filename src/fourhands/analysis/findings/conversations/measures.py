"""What rows of these tables are made of: rates with both of their intervals, and differences paired by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from fourhands.analysis.findings.arms import Arm, Outcomes, Pairing, Trial, pair
from fourhands.analysis.statistics import Interval, Test, rate_interval, wilson

__all__ = ["Difference", "Rate", "by_task", "rate_of", "resolved"]


@dataclass(frozen=True, slots=True)
class Rate:
    """``count`` of ``n`` trials. ``wilson``: 95 %, trials as independent, as the paper; ``clustered`` by task."""

    count: int
    n: int
    rate: float | None
    wilson: Interval | None
    clustered: Interval | None


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean over ``pairs`` tasks of a rate less that of the baseline, from unrounded rates; ``test``: of none.

    ``incomplete_pairs`` tasks have no outcome that counts on one side, and are in none of it.
    """

    delta: float | None
    interval: Interval | None
    test: Test | None
    pairs: int
    incomplete_pairs: int

    @classmethod
    def of(cls, pairing: Pairing) -> Self:
        """Of what a pairing has."""
        return cls(pairing.delta, pairing.interval, pairing.test, len(pairing.tasks), len(pairing.incomplete))

    @classmethod
    def between(cls, before: Arm, after: Arm) -> Self:
        """Over the tasks that are scored in both arms."""
        return cls.of(pair(before, after))

    @classmethod
    def on(cls, tasks: Sequence[str], before: Mapping[str, Outcomes], after: Mapping[str, Outcomes]) -> Self:
        """Over these tasks, each scored on both sides."""
        was, now = (tuple(side[task] for task in tasks) for side in (before, after))
        return cls.of(Pairing(tuple(tasks), was, now, incomplete=()))


def rate_of(trials: Iterable[tuple[str, bool]]) -> Rate:
    """Of pairs of a task and whether it is so."""
    found: dict[str, list[bool]] = defaultdict(list)
    for task, is_so in trials:
        found[task].append(is_so)
    flags = [is_so for each in found.values() for is_so in each]
    return Rate(
        count=sum(flags),
        n=len(flags),
        rate=fmean(flags) if flags else None,
        wilson=wilson(sum(flags), len(flags)),
        clustered=rate_interval([fmean(found[task]) for task in sorted(found)]),
    )


def resolved(trials: Iterable[Trial]) -> Rate:
    """Of scored trials, those that are resolved."""
    return rate_of((trial.task, bool(trial.resolved)) for trial in trials)


def by_task[T](values: Iterable[tuple[str, T | None]]) -> dict[str, list[T]]:
    """The values that are known, by task, by name."""
    found: dict[str, list[T]] = defaultdict(list)
    for task, value in values:
        if value is not None:
            found[task].append(value)
    return {task: found[task] for task in sorted(found)}
