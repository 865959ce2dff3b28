"""``ablation.json`` of an attempt: what causal ablation concluded; the record itself is never touched."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from fourhands.model.ablation import Ablation
from fourhands.model.event import Event, EventKind
from fourhands.model.outcome import Outcome, Termination, Verdict
from fourhands.trajectories.documents import DocumentKind
from fourhands.trajectories.run_folder import Attempt, write_atomically

__all__ = [
    "ablation_json",
    "ablation_path",
    "failed_after_edit",
    "printable_path",
    "read_ablation",
    "write_ablation",
]

_SCHEMA: Final = 1
_ABLATIONS: Final = DocumentKind(TypeAdapter(Ablation), "fourhands ablate")


def failed_after_edit(events: Sequence[Event]) -> bool:
    """Whether an attempt is one to ablate: scored, unresolved, and at least one edit was delivered."""
    if not events or events[-1].kind is not EventKind.TRIAL_ENDED:
        return False
    ended = events[-1].body
    outcome = Outcome(Verdict(ended["verdict"]), Termination(ended["termination"]))
    failed = outcome.is_scored and outcome.verdict is Verdict.UNRESOLVED
    return failed and any(event.kind is EventKind.EDIT_APPLIED for event in events)


def printable_path(path: str) -> str:
    """As the file names a path: bytes of it that are no UTF-8 are escaped with a backslash."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def ablation_path(attempt: Attempt) -> Path:
    """Where it stands, once it is done."""
    return attempt.path / "ablation.json"


def read_ablation(attempt: Attempt) -> Ablation | None:
    """The ablation of an attempt; ``None`` if it has not been done.

    Raises:
        InputError: the file is none of ours.
    """
    path = ablation_path(attempt)
    return _ABLATIONS.read(path) if path.exists() else None


def write_ablation(attempt: Attempt, ablation: Ablation) -> None:
    """Write it, whole or not at all."""
    write_atomically(
        ablation_path(attempt),
        json.dumps({"schema": _SCHEMA, **ablation_json(ablation)}, indent=1).encode() + b"\n",
    )


def ablation_json(ablation: Ablation) -> dict[str, Any]:
    """The fields that the file holds."""
    return _ABLATIONS.fields(ablation)
