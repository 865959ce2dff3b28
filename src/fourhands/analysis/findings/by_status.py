"""Resolve rates and Δ by how far the tasks' records of edits were validated."""

from __future__ import annotations

from dataclasses import dataclass

from fourhands.analysis.findings.arms import Arm, Pairing, by_record_status
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import Interval, Test, wilson
from fourhands.analysis.study import Study

__all__ = ["StatusRow", "status_table"]


@dataclass(frozen=True, slots=True)
class StatusRow:
    """One agent and model under one condition, on the tasks of one record status (``None``: the record has none).

    ``rate`` is resolved / scored with Wilson's interval. ``delta`` is paired by task, ``None`` of vanilla itself.
    """

    record_status: str | None
    agent: str
    model: str
    condition: str
    tasks: int
    scored: int
    resolved: int
    rate: float | None
    interval: Interval | None
    delta: float | None
    delta_interval: Interval | None
    test: Test | None
    pairs: int
    incomplete_pairs: int


@kept
def status_table(study: Study) -> tuple[StatusRow, ...]:
    """One row per record status, agent, model and condition, in order of appearance, vanilla first."""
    return tuple(
        _row(status, arm, agent.pairings.get(arm.condition))
        for status, agents in by_record_status(study).items()
        for agent in agents
        for arm in agent.arms
    )


def _row(status: str | None, arm: Arm, pairing: Pairing | None) -> StatusRow:
    return StatusRow(
        record_status=status,
        agent=arm.agent,
        model=arm.model,
        condition=arm.condition,
        tasks=len({trial.task for trial in arm.trials}),
        scored=len(arm.scored),
        resolved=arm.resolved,
        rate=arm.rate,
        interval=wilson(arm.resolved, len(arm.scored)),
        delta=pairing.delta if pairing else None,
        delta_interval=pairing.interval if pairing else None,
        test=pairing.test if pairing else None,
        pairs=len(pairing.tasks) if pairing else 0,
        incomplete_pairs=len(pairing.incomplete) if pairing else 0,
    )
