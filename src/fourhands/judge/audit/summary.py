"""What a judge said in an audit, in a few numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fourhands.judge.audit.auditing import AuditedTrial
from fourhands.model.audit import Audit

__all__ = ["AuditCounts", "audit_counts"]


@dataclass(frozen=True, slots=True)
class AuditCounts:
    """``labels`` maps each label of the audit to the trials that it was given to; ``none`` got an answer without any.

    ``read`` are the trials with an opinion, ``without`` those that none came of.
    """

    labels: dict[str, int]
    none: int
    read: int
    without: int


def audit_counts(audit: Audit, trials: Sequence[AuditedTrial]) -> AuditCounts:
    """Over the trials that a judge was asked about, each counted once for each label."""
    opinions = [each.opinion for each in trials if each.opinion.problem is None]
    given = [{label.label for label in opinion.labels} for opinion in opinions]
    return AuditCounts(
        labels={str(name): sum(name in labels for labels in given) for name in audit.names},
        none=sum(not labels for labels in given),
        read=len(opinions),
        without=len(trials) - len(opinions),
    )
