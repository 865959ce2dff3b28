"""The second pair of hands: a user folds events into a state and, when asked, decides what to do."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from fourhands.model.event import Event

__all__ = ["Act", "Intervene", "Moment", "User"]


class Moment(StrEnum):
    """When a user is asked."""

    AFTER_ACTION = "after_action"
    """The result of an action has come back, and the model has not seen it yet."""


@dataclass(frozen=True, slots=True)
class Intervene:
    """Edit the workspace, say something, or both. ``patch`` is a git diff against the base commit.

    With ``shadow`` nothing is done: it only records where the user would have acted.
    """

    intervention_id: str
    patch: bytes | None
    message: str | None
    reason: str
    shadow: bool = False


Act = Intervene


class User(Protocol):
    """Anyone who shares the agent's workspace: touching, talking, scripted, replayed, or a person."""

    def observe(self, event: Event) -> None:
        """Fold one event into the state: pure, so that any log rebuilds it."""
        ...

    async def decide(self, moment: Moment) -> list[Act]:
        """What to do now. What became of an act comes back as an event."""
        ...
