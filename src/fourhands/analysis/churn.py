"""How much a conversation's agent wrote for what is left of it, and how late: the paper's two measures of churn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fourhands.model.checkpoint import CheckpointKind

__all__ = ["Churn", "churn"]


@dataclass(frozen=True, slots=True)
class Churn:
    """Of a trial's revisions: every state but plans, merges and what changed tests alone.

    ``lines`` are, revision by revision, those written and taken out on the way (c_t); ``final`` are those of the
    difference from the first commit to the end (f), ``None`` where no state tells it. Tests are left out of both.
    """

    lines: tuple[int, ...]
    final: int | None

    @property
    def overhead(self) -> float | None:
        """(Σ c_t − f) / f; undefined of a trial that leaves nothing."""
        return (sum(self.lines) - self.final) / self.final if self.final else None

    @property
    def late_share(self) -> float | None:
        """Of all lines, those that came after the first revision: Σ_{t≥2} c_t / Σ c_t; ``None`` without any."""
        total = sum(self.lines)
        return sum(self.lines[1:]) / total if total else None


def churn(checkpoints: Iterable[Mapping[str, Any]]) -> Churn:
    """Of the bodies of a trial's checkpoints, in order. A state that changed nothing but tests is no revision.

    In a record that does not tell a state's lines of tests, one that holds code and tests counts whole.
    """
    states = [body for body in checkpoints if body["of"] != CheckpointKind.PLAN]
    counted = (_changed(body) for body in states if not body["merge"] and not body["tests_only"])
    return Churn(tuple(lines for lines in counted if lines), _final(states))


def _changed(lines: Mapping[str, Any]) -> int:
    """Written and taken out, tests left out where they are told."""
    tests = lines.get("tests") or {"additions": 0, "deletions": 0}
    return int(lines["additions"] + lines["deletions"] - tests["additions"] - tests["deletions"])


def _final(states: Sequence[Mapping[str, Any]]) -> int | None:
    if not states or not (found := states[-1].get("since_base")):
        return None
    return _changed(found)
