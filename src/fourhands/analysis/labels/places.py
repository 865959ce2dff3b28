"""Where the states of the code belong among the events: by their trees, not by when they were looked at.

A commit is looked at some time after it was made, and the user may have edited the files in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourhands.analysis.ledger_labels import code_states
from fourhands.model.checkpoint import PLAN_FILE
from fourhands.model.event import Actor, Event, EventKind

__all__ = ["Changes", "Place", "Placed", "placed_states"]


@dataclass(frozen=True, slots=True)
class Place:
    """When the repository came to be in a state: behind event ``earliest``, with event ``latest`` at the latest.

    Both are the change that made it; a commit of a part of the files is none of the repository's states, and was
    made somewhere between. ``until`` is the change that ended it, ``None`` where none did.
    """

    earliest: int
    latest: int
    until: int | None

    def stood_after(self, seq: int) -> bool:
        """Whether the repository was still, or only later, in that state behind an event."""
        return self.until is None or self.until > seq


@dataclass(frozen=True, slots=True)
class Placed:
    """A state of the code, and where it belongs."""

    state: Event
    place: Place

    @property
    def seq(self) -> int:
        """The event that tells of it."""
        return self.state.seq

    def met(self, requirement: str) -> bool | None:
        """What its checks found."""
        found: bool | None = self.state.body["requirements"].get(requirement)
        return found


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of an attempt to any file but the plan, by whom, as the numbers of their events."""

    user: tuple[int, ...]
    agent: tuple[int, ...]

    @classmethod
    def of(cls, events: Iterable[Event]) -> Changes:
        """Gather them."""
        found: dict[Actor, list[int]] = {Actor.USER: [], Actor.AGENT: []}
        for event in events:
            is_change = event.kind is EventKind.WORKSPACE_CHANGED and event.actor in found
            if is_change and any(file["path"] != PLAN_FILE for file in event.body["files"]):
                found[event.actor].append(event.seq)
        return cls(tuple(found[Actor.USER]), tuple(found[Actor.AGENT]))

    def last_of_user(self, behind: Place | None = None, until: Place | None = None) -> int | None:
        """The user's last one between two states; without them, of all."""
        return next((seq for seq in reversed(self.user) if _is_between(seq, behind, until)), None)

    def has_agents(self, behind: Place, until: Place) -> bool:
        """Whether the agent made any between two states."""
        return any(_is_between(seq, behind, until) for seq in self.agent)


def _is_between(seq: int, behind: Place | None, until: Place | None) -> bool:
    return (behind is None or behind.earliest < seq) and (until is None or seq <= until.latest)


def placed_states(events: Sequence[Event]) -> tuple[Placed, ...]:
    """The states of the code in the order in which the repository was in them; the final one is last."""
    stood = [(event.seq, tree) for event in events if (tree := _made(event)) is not None]
    found: list[Placed] = []
    for state in code_states(events):
        found.append(Placed(state, _place(state, stood, found[-1].place.earliest if found else 0)))
    return (*sorted(found[:-1], key=lambda each: each.place.earliest), *found[-1:])


def _made(event: Event) -> str | None:
    """The tree that the repository has from that event on."""
    match event.kind:
        case EventKind.TRIAL_STARTED:
            tree: str | None = event.body.get("base_tree")
            return tree
        case EventKind.WORKSPACE_CHANGED:
            return str(event.body["tree"])
        case _:
            return None


def _place(state: Event, stood: Sequence[tuple[int, str]], before: int) -> Place:
    tree = state.body["tree"]
    at = [place for place, (seq, made) in enumerate(stood) if made == tree and seq < state.seq]
    if not at:
        return Place(before, state.seq, state.seq)
    since = stood[at[-1]][0]
    return Place(since, since, stood[at[-1] + 1][0] if at[-1] + 1 < len(stood) else None)
