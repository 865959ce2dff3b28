"""pass^k: how likely k repeats of one task are all resolved."""

from __future__ import annotations

from dataclasses import dataclass

from fourhands.analysis.findings.arms import agents_of, mean
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import Interval, pass_hat_k, rate_interval
from fourhands.analysis.study import Study

__all__ = ["PassKRow", "pass_k_table"]


@dataclass(frozen=True, slots=True)
class PassKRow:
    """One agent and model under one condition, for one k.

    ``rate`` is the mean over the ``tasks`` with at least k scored repeats of the unbiased estimate C(c, k) / C(n, k),
    where c of n are resolved; ``interval`` is clustered by task.
    """

    agent: str
    model: str
    condition: str
    k: int
    tasks: int
    rate: float | None
    interval: Interval | None


@kept
def pass_k_table(study: Study) -> tuple[PassKRow, ...]:
    """One row per agent, model, condition and k from 1 to the most scored repeats of a task."""
    rows = []
    for arm in (arm for agent in agents_of(study) for arm in agent.arms):
        outcomes = arm.outcomes.values()
        for k in range(1, max(map(len, outcomes), default=0) + 1):
            found = [pass_hat_k(sum(solved), len(solved), k) for solved in outcomes]
            known = [rate for rate in found if rate is not None]
            rows.append(
                PassKRow(
                    agent=arm.agent,
                    model=arm.model,
                    condition=arm.condition,
                    k=k,
                    tasks=len(known),
                    rate=mean(known),
                    interval=rate_interval(known),
                )
            )
    return tuple(rows)
