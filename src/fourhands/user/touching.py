"""The touching user: edits the code when the agent touches the regions it cares about.

A pure fold over events, so that any log rebuilds its state. Regions are given in coordinates of the base commit
and carried through every change of the workspace, whoever made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.intervention import Intervention, TriggerEvent
from fourhands.model.text import LineRange, Region
from fourhands.model.touch import Touch, TouchKind, touches_region
from fourhands.model.user import Act, Intervene, Moment
from fourhands.workspace.changes import Hunk
from fourhands.workspace.regions import carry

__all__ = ["TouchingUser"]

_FIRED_BY: dict[TriggerEvent, frozenset[TouchKind]] = {
    TriggerEvent.READ: frozenset({"read"}),
    TriggerEvent.EDIT: frozenset({"edit"}),
    TriggerEvent.READ_OR_EDIT: frozenset({"read", "edit"}),
}


@dataclass
class _Watch:
    """One intervention, its regions where they now are, and the touch that reached them since the last moment."""

    intervention: Intervention
    regions: list[Region]
    reached: str | None = None

    def see(self, touch: Touch) -> None:
        if touch.kind not in _FIRED_BY[self.intervention.trigger.event]:
            return
        for region in self.regions:
            if touches_region(touch, region):
                lines = region.lines
                self.reached = f"{touch.kind} of {region.path}:{lines.start}-{lines.end}"
                return

    def carry(self, path: str, hunks: Sequence[Hunk]) -> None:
        self.regions = [
            Region(path, carry(region.lines, hunks)) if region.path == path else region
            for region in self.regions
        ]


class TouchingUser:
    """Plays its interventions in order, each when its trigger fires, each used up only once it was delivered.

    With ``shadow`` it does nothing and only says where it would have acted: what a `vanilla` trial records, so
    that "delivered" can be compared with "would have been".
    """

    def __init__(self, interventions: Iterable[Intervention], *, shadow: bool = False) -> None:
        self._watches = [_Watch(i, list(i.trigger.regions)) for i in interventions]
        self._shadow = shadow
        self._used = 0

    def observe(self, event: Event) -> None:
        """See `User.observe`."""
        match event.kind:
            case EventKind.ACTION_RESULT:
                for touch in map(_touch, event.body["touches"]):
                    self._see(touch)
            case EventKind.WORKSPACE_CHANGED:
                self._follow(event)
            case EventKind.EDIT_APPLIED | EventKind.SHADOW_TRIGGER_FIRED:
                self._use_up(event.body["intervention"])
            case EventKind.MESSAGE_SENT:
                # An intervention that is a message alone is delivered by being said.
                if (current := self._current()) and current.intervention.patch is None:
                    self._use_up(event.body["intervention"])
            case _:
                pass

    async def decide(self, moment: Moment) -> list[Act]:
        """See `User.decide`."""
        del moment  # every trigger fires after the action
        current = self._current()
        reached = current.reached if current else None
        for watch in self._watches:
            watch.reached = None  # a touch is of its moment: it fires now or never
        if current is None or reached is None:
            return []
        planned = current.intervention
        return [Intervene(planned.id, planned.patch, planned.message, reached, shadow=self._shadow)]

    def _current(self) -> _Watch | None:
        return self._watches[self._used] if self._used < len(self._watches) else None

    def _use_up(self, intervention_id: str) -> None:
        if (current := self._current()) and current.intervention.id == intervention_id:
            self._used += 1

    def _see(self, touch: Touch) -> None:
        for watch in self._watches:
            watch.see(touch)

    def _follow(self, event: Event) -> None:
        for file in event.body["files"]:
            hunks = [
                Hunk(LineRange(old_start, old_end), LineRange(new_start, new_end))
                for old_start, old_end, new_start, new_end in file["hunks"]
            ]
            if event.actor is Actor.AGENT and file["old"] != file["new"]:  # a change of mode edits no line
                # Without hunks the file came, went, or is binary: all of it was edited.
                self._see(Touch(file["path"], "edit", tuple(hunk.old for hunk in hunks) if hunks else None))
            for watch in self._watches:
                watch.carry(file["path"], hunks)


def _touch(raw: dict[str, Any]) -> Touch:
    lines = raw["lines"]
    return Touch(
        raw["path"], raw["kind"], None if lines is None else tuple(LineRange(*pair) for pair in lines)
    )
