"""The record of a trial: a closed set of events, one JSON object a line, in order of ``seq``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

__all__ = ["EVENT_VERSION", "MAIN_THREAD", "Actor", "Event", "EventKind", "seconds_between"]

EVENT_VERSION: Final = 1
MAIN_THREAD: Final = "main"


class Actor(StrEnum):
    """Whose doing an event is."""

    AGENT = "agent"
    USER = "user"
    HARNESS = "harness"
    VERIFIER = "verifier"


class EventKind(StrEnum):
    """The closed set. What each body holds is in ``docs/events.md``."""

    TRIAL_STARTED = "trial_started"
    TRIAL_ENDED = "trial_ended"
    MODEL_CALLED = "model_called"
    ACTION_SEEN = "action_seen"
    ACTION_RESULT = "action_result"
    WORKSPACE_CHANGED = "workspace_changed"
    TRIGGER_FIRED = "trigger_fired"
    SHADOW_TRIGGER_FIRED = "shadow_trigger_fired"
    EDIT_INTENDED = "edit_intended"
    EDIT_APPLIED = "edit_applied"
    EDIT_NOT_APPLIED = "edit_not_applied"
    MESSAGE_SENT = "message_sent"
    MESSAGE_CARRIED = "message_carried"
    MESSAGE_LOST = "message_lost"
    ASKED = "asked"
    ANSWERED = "answered"
    LOOKED = "looked"
    REQUIREMENT_MOVED = "requirement_moved"
    CHECKPOINT = "checkpoint"
    VERIFIED = "verified"
    FORK_STARTED = "fork_started"
    DIVERGED = "diverged"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. ``time`` is for people (ISO 8601, UTC); order is ``seq``, from 0 without gaps.

    ``body`` holds JSON values only; large payloads stand in the blob store and are named by hash.
    """

    seq: int
    time: str
    thread: str
    actor: Actor
    kind: EventKind
    body: dict[str, Any]


def seconds_between(first: str, last: str) -> float:
    """From one time of an event to another, negative if that was before.

    Raises:
        ValueError: one of them is no time in ISO 8601.
    """
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
