"""What the touching user plans: interventions, their triggers, edits and messages."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fourhands.model.text import Region

__all__ = ["EditOutcome", "Intervention", "Trigger", "TriggerEvent"]


class TriggerEvent(StrEnum):
    """The kind of touch that fires a trigger; names as in the released SWE-Touch records."""

    READ = "read"
    EDIT = "edit"
    READ_OR_EDIT = "read_or_edit"


@dataclass(frozen=True, slots=True)
class Trigger:
    """Fires when the agent touches any of ``regions`` (base coordinates) in the way ``event`` names."""

    event: TriggerEvent
    regions: tuple[Region, ...]


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
