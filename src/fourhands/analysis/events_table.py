"""The events of an attempt -> rows of the table ``events``. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fourhands.model.event import Event, EventKind

__all__ = ["event_rows"]


def event_rows(events: Iterable[Event]) -> Iterator[dict[str, Any]]:
    """One row an event, in order, but for the columns ``run`` and ``trial``."""
    step: int | None = None
    for event in events:
        body = event.body
        step = body.get("step") or step
        row: dict[str, Any] = {
            "seq": event.seq,
            "time": event.time,
            "thread": event.thread,
            "actor": event.actor.value,
            "kind": event.kind.value,
            "step": step,
            "request": body.get("request"),
            "elapsed": body.get("elapsed"),
            "intervention": body.get("intervention"),
            "call": body.get("call"),
            "tool": body.get("tool"),
        }
        if event.kind is EventKind.MODEL_CALLED and body["usage"]:
            usage = body["usage"]
            row["tokens"] = sum(usage.get(n, 0) for n in ("input", "cache_read", "cache_write", "output"))
        elif event.kind is EventKind.ACTION_RESULT:
            row["reads"] = [touch["path"] for touch in body["touches"] if touch["kind"] == "read"]
        elif event.kind is EventKind.WORKSPACE_CHANGED:
            hunks = [hunk for file in body["files"] for hunk in file["hunks"]]
            row["changed"] = [file["path"] for file in body["files"]]
            row["lines_removed"] = sum(hunk[1] - hunk[0] + 1 for hunk in hunks)
            row["lines_added"] = sum(hunk[3] - hunk[2] + 1 for hunk in hunks)
            row["user_lines"] = body["lines"].get("user", 0)
        yield row
