"""F6: how much agents write for what is left of it, and how late: medians, with what each trial came to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from statistics import median

from fourhands.analysis.findings.arms import Trial
from fourhands.analysis.findings.conversations.groups import groups
from fourhands.analysis.findings.conversations.measures import by_task
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import Interval, median_interval
from fourhands.analysis.study import Study

__all__ = ["ChurnRow", "Spread", "churn_table"]


@dataclass(frozen=True, slots=True)
class Spread:
    """What ``values``, one a trial that has one, ascending, are in the middle; the interval is clustered by task."""

    median: float | None
    interval: Interval | None
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ChurnRow:
    """One agent and model in one kind of conversation, with one simulator or several.

    ``overhead`` and ``late`` are fractions, as in `fourhands.analysis.churn`; of ``undefined`` of the ``scored``
    trials nothing was left (f = 0): they have no overhead.
    """

    agent: str
    model: str
    condition: str
    simulator: str
    scored: int
    overhead: Spread
    late: Spread
    undefined: int


@kept
def churn_table(study: Study) -> tuple[ChurnRow, ...]:
    """One row per agent, model, condition and simulator, then one of several simulators together."""
    return tuple(
        ChurnRow(
            agent=group.arm.agent,
            model=group.arm.model,
            condition=group.condition,
            simulator=group.simulator,
            scored=len(scored),
            overhead=_spread(scored, lambda trial: trial.churn_overhead),
            late=_spread(scored, lambda trial: trial.late_change_share),
            undefined=sum(trial.final_lines == 0 for trial in scored),
        )
        for group in groups(study)
        for scored in [group.arm.scored]
    )


def _spread(trials: Iterable[Trial], of: Callable[[Trial], float | None]) -> Spread:
    found = by_task((trial.task, of(trial)) for trial in trials)
    values = tuple(sorted(chain.from_iterable(found.values())))
    return Spread(median(values) if values else None, median_interval([*found.values()]), values)
