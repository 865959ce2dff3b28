"""What the touching user plans: interventions, their triggers, edits and messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from fourhands.model.text import Region
from fourhands.model.user import Moment

__all__ = ["COUNTED", "Delivery", "EditOutcome", "Intervention", "Trigger", "TriggerEvent"]


class TriggerEvent(StrEnum):
    """What fires a trigger. The first three are touches, named as in the released SWE-Touch records."""

    READ = "read"
    EDIT = "edit"
    READ_OR_EDIT = "read_or_edit"
    REGION_CHANGED = "region_changed"
    """The region's text is not what the user last knew: whoever changed it, and however."""
    STEP = "step"
    PROGRESS = "progress"
    """A step too, at a fraction of a number of steps that is fixed per task."""
    ELAPSED = "elapsed"


COUNTED: Final = frozenset({TriggerEvent.STEP, TriggerEvent.PROGRESS, TriggerEvent.ELAPSED})
"""Triggers that fire at a count, wherever the agent is."""


class Delivery(StrEnum):
    """What an intervention consists of; names as in the released records."""

    PATCH_AND_MESSAGE = "patch_and_message"
    PATCH_ONLY = "patch_only"
    MESSAGE_ONLY = "message_only"


@dataclass(frozen=True, slots=True)
class Trigger:
    """When an intervention comes.

    A touch, or a change, fires when it reaches any of ``regions`` (base coordinates). A counted trigger fires at
    the first moment at or after ``at``: accepted replies of the model (`step`, `progress`), or seconds since the
    agent's first request (`elapsed`). ``at`` is ``None`` for the others.
    """

    event: TriggerEvent
    regions: tuple[Region, ...]
    moment: Moment = Moment.AFTER_ACTION
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Intervention:
    """One planned act of the touching user.

    ``patch`` is a git diff against the task's base commit, as bytes, or ``None`` for a message alone.
    ``message`` is what the user says once the edit stands, or ``None`` to say nothing.
    """

    id: str
    trigger: Trigger
    patch: bytes | None
    message: str | None


class EditOutcome(StrEnum):
    """What became of a user's edit at the moment it was tried."""

    APPLIED = "applied"
    ALREADY_PRESENT = "already_present"
    """The agent kept it: nothing to do, no message, not used up."""
    PARTLY_PRESENT = "partly_present"
    """Missing hunks were put back."""
    DOES_NOT_APPLY = "does_not_apply"
    """The lines it needs have changed: nothing was written, no message, not used up."""
    REGION_GONE = "region_gone"
    """The file, or every line of the region, is no longer there: as above."""

    @property
    def is_delivered(self) -> bool:
        """Whether the workspace now holds the whole edit because the user put it there."""
        return self in {EditOutcome.APPLIED, EditOutcome.PARTLY_PRESENT}
