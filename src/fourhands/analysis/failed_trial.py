"""A trial that failed under the user's hands, as its events tell it. Pure, but for the blobs it is given to read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fourhands.analysis.lines import UserLine, UserLines, follow_user_lines
from fourhands.model.condition import Condition
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.outcome import Outcome, Termination, Verdict
from fourhands.trajectories.aim import Aim, aim_of

__all__ = ["FailedTrial", "Standing", "failed_trial"]


@dataclass(frozen=True, slots=True)
class Standing:
    """How much of the delivered edits stands in the end, by their lines.

    ``entirely``: each line that they wrote stands as it was, be it elsewhere or with other white space, and none that
    they took out is back. What the agent wrote in place of a line, and be it alike, may mean anything.
    ``gone``: nothing of what they wrote stands, not even alike; of edits that only took lines out, all are back.
    """

    entirely: bool
    gone: bool
    words: str


@dataclass(frozen=True)
class FailedTrial:
    """What the events of an attempt tell, each looked up when it is first needed."""

    events: Sequence[Event]
    read_blob: Callable[[str], bytes]
    condition: Condition

    @cached_property
    def verified(self) -> Event | None:
        """The event that tells the final state and its verdict."""
        return next((e for e in reversed(self.events) if e.kind is EventKind.VERIFIED), None)

    @property
    def ended_by(self) -> Termination:
        """How it ended."""
        return Termination(self.events[-1].body["termination"])

    @cached_property
    def deliveries(self) -> tuple[int, ...]:
        """The events that delivered an edit."""
        return tuple(event.seq for event in self.events if event.kind is EventKind.EDIT_APPLIED)

    @cached_property
    def agents_changes(self) -> tuple[int, ...]:
        """The events in which the agent changed the code."""
        return tuple(
            event.seq
            for event in self.events
            if event.kind is EventKind.WORKSPACE_CHANGED and event.actor is Actor.AGENT
        )

    @cached_property
    def aim(self) -> Aim:
        """What the agent worked on."""
        return aim_of(self.events)

    @cached_property
    def standing(self) -> Standing | None:
        """What became of the user's lines; ``None`` where the record does not follow any."""
        lines = follow_user_lines(self.events)
        return _standing(lines) if lines and (lines.lines or lines.deletions) else None

    @cached_property
    def is_readable(self) -> bool:
        """Whether anything of what the agent did can be read; of one that did nothing, all can."""
        actions = [body["arguments"] for body in self._bodies(EventKind.ACTION_SEEN)]
        return not actions or any(map(self.read_blob, actions))

    def _bodies(self, kind: EventKind) -> Iterator[dict[str, Any]]:
        return (event.body for event in self.events if event.kind is kind)


def failed_trial(events: Sequence[Event], read_blob: Callable[[str], bytes]) -> FailedTrial | None:
    """The trial; ``None`` if it has not ended, is not scored or is resolved, or no user's edit conflicts in it."""
    if not events or events[-1].kind is not EventKind.TRIAL_ENDED:
        return None
    ended = events[-1].body
    outcome = Outcome(Verdict(ended["verdict"]), Termination(ended["termination"]))
    if not outcome.is_scored or outcome.verdict is not Verdict.UNRESOLVED:
        return None
    started = next((event.body for event in events if event.kind is EventKind.TRIAL_STARTED), {})
    if "condition" not in started:
        return None
    condition = Condition.parse(started["condition"])
    return FailedTrial(events, read_blob, condition) if condition.conflicts else None


def _standing(lines: UserLines) -> Standing:
    written, taken_out = lines.lines, lines.deletions
    stand = [line for line in written if _stands(line)]
    alike = [line for line in written if line.fate == "changed" and not _stands(line)]
    back = [line for line in taken_out if line.put_back]
    return Standing(
        entirely=len(stand) == len(written) and not back,
        gone=not (stand or alike) if written else len(back) == len(taken_out),
        words=f"{len(stand)} of the {len(written)} lines that the user wrote stand, {len(alike)} were reworded, "
        f"and {len(back)} of the {len(taken_out)} they took out are back",
    )


def _stands(line: UserLine) -> bool:
    """Whether its bytes stand, but for white space; one that was split or joined stands, too."""
    return not line.absent_at_end or (line.fate == "changed" and line.whitespace_only)
