"""F4c: how often agents revise the user's edit before they fail, and whether those that do lose less."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.after import Revision, delivered_by_trial, revision_of
from fourhands.analysis.findings.arms import agents_of
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import spearman
from fourhands.analysis.study import Study

__all__ = ["AgentRevision", "RevisionRow", "revision_table"]

_FEWEST: Final = 3
"""Agents, for a rank correlation: of two it is always 1 or −1."""


@dataclass(frozen=True, slots=True)
class AgentRevision:
    """One agent and model: its failed trials with a user's edit, and Δ paired by task."""

    agent: str
    model: str
    revision: Revision
    delta: float | None


@dataclass(frozen=True, slots=True)
class RevisionRow:
    """One condition over its agents.

    ``rho`` is Spearman's rank correlation, over the ``n`` agents with both, of the share of failed trials with an
    edit in which it was ever revised with Δ as it is, a loss being negative: positive where agents that revise more
    lose less. ``None`` with fewer than three agents, or if all are equal in one of the two.
    """

    condition: str
    agents: tuple[AgentRevision, ...]
    rho: float | None
    n: int


@kept
def revision_table(study: Study) -> tuple[RevisionRow, ...]:
    """One row per condition under which an edit was delivered, in order of appearance."""
    found = delivered_by_trial(study)
    rows: dict[str, list[AgentRevision]] = defaultdict(list)
    for agent in agents_of(study):
        for arm in agent.others:
            touched = [found.get((trial.run, trial.trial)) for trial in arm.trials if trial.failed_touched]
            revision = revision_of(filter(None, touched))
            pairing = agent.pairings.get(arm.condition)
            delta = pairing.delta if pairing else None
            rows[arm.condition].append(AgentRevision(arm.agent, arm.model, revision, delta))
    return tuple(
        row
        for condition, agents in rows.items()
        if any(agent.revision.trials for agent in agents)
        for row in [_row(condition, agents)]
    )


def _row(condition: str, agents: list[AgentRevision]) -> RevisionRow:
    both = [
        (agent.revision.rate, agent.delta)
        for agent in agents
        if agent.revision.rate is not None and agent.delta is not None
    ]
    rates, deltas = [rate for rate, _ in both], [delta for _, delta in both]
    rho = spearman(rates, deltas) if len(both) >= _FEWEST else None
    return RevisionRow(condition, tuple(agents), rho, len(both))
