"""Edits of ours for real tasks: anchored replacements, turned into a record in the released format."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fourhands.model.errors import InputError
from fourhands.model.text import split_lines
from fourhands.tasks.git import Base

__all__ = ["AuthoredEdits", "authored_record"]

_MAX_INTERVENTIONS = 3


class _Replacement(BaseModel):
    """Lines ``lines[0]``..``lines[1]`` (1-based, inclusive) of ``path`` become ``new``, if they hash as named.

    With ``insert`` they stay, and ``new`` goes in front of them: then none of them need stand here.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    path: str
    lines: tuple[int, int]
    sha256_of_old_lines: str = Field(pattern=r"^[0-9a-f]{64}$")
    new: str
    insert: bool = False
    user_claim: str

    def region(self) -> dict[str, Any]:
        """The replaced lines as a region of the released format."""
        return {"path": self.path, "start_line": self.lines[0], "end_line": self.lines[1]}

    def diff(self, base: Base) -> str:
        """The replacement as a git diff against ``base``.

        Raises:
            InputError: the lines are not there, or are not those that were hashed.
        """
        blob = base.blobs([self.path]).get(self.path)
        lines = split_lines(blob.data) if blob else []
        first, last = self.lines
        old = b"".join(lines[first - 1 : last])
        if hashlib.sha256(old).hexdigest() != self.sha256_of_old_lines:
            raise InputError(
                f"edit {self.id}: lines {first}-{last} of {self.path} are not those it was written for"
            )
        new = [*lines[: first - 1], self.new.encode(), *lines[first - 1 if self.insert else last :]]
        return base.diff_of({self.path: b"".join(new)}).decode()


class _CounterEdit(_Replacement):
    mistaken_belief: str
    plausibility: str
    expected_failure: str


class _CoEdit(_Replacement):
    coverage_ratio: float = Field(ge=0, le=1)


class AuthoredEdits(BaseModel):
    """The content of ``ID.edits.toml``: one Counter-Edit and one Co-Edit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = Field(alias="schema")
    counter_edit: tuple[_CounterEdit] = Field()
    co_edit: tuple[_CoEdit] = Field()


def authored_record(instance_id: str, edits: AuthoredEdits, repository: Path) -> dict[str, Any]:
    """A record in the released format, with ``region_evidence.source`` = ``fourhands``.

    As in the release: the same patch each time, first when the region is read or edited, then when it is edited.
    The validation is what ``tests/tasks/test_real_tasks.py`` finds by running.

    Raises:
        InputError: an edit does not fit the repository.
    """
    base = Base(repository)
    (counter,), (co,) = edits.counter_edit, edits.co_edit
    kept = {"id", "user_claim", "mistaken_belief", "plausibility", "expected_failure"}
    patch = {
        **counter.model_dump(include=kept),
        "diff": counter.diff(base),
        "target_regions": [counter.region()],
    }
    return {
        "schema_version": "1.0.0",
        "benchmark": "swe_bench_verified",
        "split": "test",
        "instance_id": instance_id,
        "task_critical_regions": [counter.region()],
        "region_evidence": {"models": [], "selection_tier": "authored", "source": "fourhands"},
        "counter_edit": {
            "mode": "patch",
            "max_interventions": _MAX_INTERVENTIONS,
            "message_prompt_id": "counter_edit_user_simulator",
            "fallback_reason": None,
            "interventions": [
                _intervention(order, patch, counter.region()) for order in range(1, _MAX_INTERVENTIONS + 1)
            ],
            "validation": {
                "status": "validated_counter_edit",
                "passes_validation": True,
                "reference_only": {"patch_applied": True, "resolved": True},
                "user_edit_only": {"patch_applied": True, "resolved": False},
                "user_edit_plus_reference": {
                    "user_edit_applied": True,
                    "reference_applied": True,
                    "resolved": False,
                },
            },
        },
        "controls": {
            "helpful_edit": {
                "mode": "patch",
                "max_interventions": 1,
                "trigger_event": "edit",
                "target_regions": [co.region()],
                "patch": {"id": co.id, "coverage_ratio": co.coverage_ratio, "diff": co.diff(base)},
                "validation": {"status": "helpful_partial_gate_pass", "patch_only_resolved": False},
            }
        },
    }


def _intervention(order: int, patch: dict[str, Any], region: dict[str, Any]) -> dict[str, Any]:
    event = "read_or_edit" if order == 1 else "edit"
    trigger = {"event": event, "max_triggers": 1, "regions": [region]}
    return {"order": order, "delivery": "patch_and_message", "patch": patch, "trigger": trigger}
