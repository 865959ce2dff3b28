"""The ledger that a trial was run with, as its record keeps it: the task's own may have been changed since."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from fourhands.model.event import Event, EventKind
from fourhands.model.ledger import Ledger

__all__ = ["recorded_ledger"]


def recorded_ledger(events: Sequence[Event], read_blob: Callable[[str], bytes]) -> Ledger | None:
    """The ledger of an attempt; ``None`` of a record that does not tell it, or whose blob is spoiled.

    Args:
        events: of the attempt.
        read_blob: the content of a blob of the attempt, by its hash; empty where it cannot be read.
    """
    started = next((event.body for event in events if event.kind is EventKind.TRIAL_STARTED), {})
    if (digest := started.get("ledger")) is None:
        return None
    try:
        return msgspec.json.decode(read_blob(digest), type=Ledger)
    except msgspec.MsgspecError:
        return None
