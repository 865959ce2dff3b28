"""The times of events -> seconds since the agent's first request."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fourhands.model.event import Event, EventKind

__all__ = ["Clock"]


class Clock:
    """Of one attempt. Times are for people: where they cannot be read, nothing is told."""

    def __init__(self, events: Sequence[Event]) -> None:
        first, last = (_seconds(event.time) for event in (events[0], events[-1])) if events else (None, None)
        self.total = None if first is None or last is None else round(last - first, 3)
        """Seconds from the first event to the last."""
        self._origin: float | None = None
        called = next((event for event in events if event.kind is EventKind.MODEL_CALLED), None)
        if called and (at := _seconds(called.time)) is not None:
            self._origin = at - (_number(called.body.get("elapsed")) or 0.0)

    def elapsed(self, event: Event) -> float | None:
        """Seconds since the agent's first request, told by the event or else by its time; nothing before it."""
        elapsed = _number(event.body.get("elapsed"))
        at = _seconds(event.time)
        if elapsed is None and at is not None and self._origin is not None:
            elapsed = round(at - self._origin, 3)
        return None if elapsed is None or elapsed < 0 else elapsed


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _seconds(time: object) -> float | None:
    try:
        return datetime.fromisoformat(time).timestamp() if isinstance(time, str) else None
    except (ValueError, OverflowError):
        return None
