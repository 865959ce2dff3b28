"""What became of every line the user wrote, and of every line the user deleted. Pure.

Folds the ``user_lines`` of ``workspace_changed`` events. Lines are told apart by intervention and number; what
counts as moved, changed, removed, restored and put back is decided when the change is recorded, by the bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from fourhands.model.event import Event, EventKind

__all__ = ["InterventionLines", "LineEnd", "UserDeletion", "UserLine", "UserLines", "follow_user_lines"]

LineEnd = Literal["kept", "moved", "changed", "removed"]
_OF_DELETIONS: Final = frozenset({"deleted", "put_back"})


@dataclass(frozen=True, slots=True)
class UserLine:
    """One line that an intervention wrote, as it is in the end; ``line`` counts the edit's written lines from 1.

    ``fate`` is ``removed`` if nothing like it stands, else ``changed`` if its bytes differ, else ``moved`` if it was
    ever moved, else ``kept``. ``by`` (``agent`` or ``user``), ``step`` and ``seq`` are of the last thing that
    happened to it: of a kept line, that it was written, or came back after it had been gone. ``step`` is the
    agent's last before it, ``None`` before the first. ``path`` is where it is, or was last. ``written_step`` is the
    agent's last step before the user wrote it, ``first_revised_step`` that of its first revision, ``gone_step`` that
    from which on it is absent, to the end.

    - ``ever_revised``: the agent changed or removed it at some time, be it that it came back later.
    - ``absent_at_end``: in the end no line is it any more. A line in which white space alone changed is not
      absent, unless it was split or joined.
    - ``whitespace_only``: it was revised, and never in anything but white space.
    """

    intervention: str
    line: int
    path: str
    fate: LineEnd
    by: str
    step: int | None
    seq: int
    ever_revised: bool
    absent_at_end: bool
    whitespace_only: bool
    written_step: int | None = None
    first_revised_step: int | None = None
    gone_step: int | None = None


@dataclass(frozen=True, slots=True)
class UserDeletion:
    """One line that an intervention took out (deleted or replaced); ``line`` counts them from 1.

    ``put_back``: in the end it is back, by the agent; ``ever_put_back``: it was at some time. ``by``, ``step``,
    ``seq`` and ``path`` as in `UserLine`. ``taken_out_step`` is the agent's last before the user took it out,
    ``first_put_back_step`` that at which it first came back.
    """

    intervention: str
    line: int
    path: str
    put_back: bool
    ever_put_back: bool
    by: str
    step: int | None
    seq: int
    taken_out_step: int | None = None
    first_put_back_step: int | None = None


@dataclass(frozen=True, slots=True)
class InterventionLines:
    """Counts of one intervention whose edit was delivered.

    ``written`` is the sum of ``kept``, ``moved``, ``changed`` and ``removed``; the others are as in `UserLine` and
    `UserDeletion`.
    """

    intervention: str
    written: int
    kept: int
    moved: int
    changed: int
    removed: int
    ever_revised: int
    absent_at_end: int
    deleted: int
    ever_put_back: int
    put_back: int


@dataclass(frozen=True, slots=True)
class UserLines:
    """All that a trial's user wrote and deleted, in order of appearance, and the interventions it was."""

    lines: tuple[UserLine, ...]
    deletions: tuple[UserDeletion, ...]
    delivered: tuple[str, ...]

    def interventions(self) -> tuple[InterventionLines, ...]:
        """Per intervention, in order of delivery; one that changed no line of text counts zeros."""
        return tuple(map(self._summary, self.delivered))

    def _summary(self, intervention: str) -> InterventionLines:
        lines = [line for line in self.lines if line.intervention == intervention]
        deletions = [one for one in self.deletions if one.intervention == intervention]
        fates = [line.fate for line in lines]
        return InterventionLines(
            intervention=intervention,
            written=len(lines),
            kept=fates.count("kept"),
            moved=fates.count("moved"),
            changed=fates.count("changed"),
            removed=fates.count("removed"),
            ever_revised=sum(line.ever_revised for line in lines),
            absent_at_end=sum(line.absent_at_end for line in lines),
            deleted=len(deletions),
            ever_put_back=sum(one.ever_put_back for one in deletions),
            put_back=sum(one.put_back for one in deletions),
        )


@dataclass(slots=True)
class _Last:
    """The last thing that happened to a line, and what must not be forgotten of the ones before."""

    fate: str
    path: str
    by: str
    step: int | None
    seq: int
    stands: bool = True
    moved: bool = False
    altered: bool = False
    revised: bool = False
    reworded: bool = False
    ever_put_back: bool = False
    first_step: int | None = None
    """Of what happened first: that it was written, or taken out."""
    answered_step: int | None = None
    """Of its first revision; of a line taken out, of its first return."""
    gone_step: int | None = None


def follow_user_lines(events: Iterable[Event]) -> UserLines | None:
    """Fold the events of an attempt.

    Returns:
        ``None`` for a record from before lines were followed: then nothing is known, which is not zero.
    """
    lines: dict[tuple[str, int], _Last] = {}
    deletions: dict[tuple[str, int], _Last] = {}
    delivered: dict[str, None] = {}
    step: int | None = None
    for event in events:
        if event.kind is EventKind.MODEL_CALLED:
            step = event.body["step"] or step
        elif event.kind is EventKind.EDIT_APPLIED:
            delivered[event.body["intervention"]] = None
        elif event.kind is EventKind.WORKSPACE_CHANGED:
            if "user_lines" not in event.body:
                return None
            for entry in event.body["user_lines"]:
                of = deletions if entry["fate"] in _OF_DELETIONS else lines
                key = entry["intervention"], entry["line"]
                of[key] = _next(of.get(key), entry, event, step)
    return UserLines(
        tuple(_line(*key, last) for key, last in lines.items()),
        tuple(_deletion(*key, last) for key, last in deletions.items()),
        tuple(delivered),
    )


def _next(before: _Last | None, entry: dict[str, Any], event: Event, step: int | None) -> _Last:
    fate, whitespace = entry["fate"], bool(entry["whitespace"])
    last = before or _Last(fate, entry["path"], event.actor.value, step, event.seq, first_step=step)
    last.fate, last.path = fate, entry["path"]
    last.by, last.step, last.seq = event.actor.value, step, event.seq
    stood = last.stands
    last.stands = fate != "removed" and (fate != "changed" or (whitespace and entry["number"] is not None))
    if stood and not last.stands:
        last.gone_step = step
    last.moved = last.moved or fate == "moved"
    if fate in {"changed", "removed"}:
        last.altered = fate == "changed"
        if last.by == "agent" and not last.revised:
            last.revised, last.answered_step = True, step
        last.reworded = last.reworded or (last.by == "agent" and not whitespace)
    elif fate == "restored":
        last.altered = False
    if fate == "put_back" and not last.ever_put_back:
        last.ever_put_back, last.answered_step = True, step
    return last


def _line(intervention: str, line: int, last: _Last) -> UserLine:
    end: LineEnd = "kept"
    if last.fate == "removed":
        end = "removed"
    elif last.altered:
        end = "changed"
    elif last.moved:
        end = "moved"
    return UserLine(
        intervention=intervention,
        line=line,
        path=last.path,
        fate=end,
        by=last.by,
        step=last.step,
        seq=last.seq,
        ever_revised=last.revised,
        absent_at_end=not last.stands,
        whitespace_only=last.revised and not last.reworded,
        written_step=last.first_step,
        first_revised_step=last.answered_step,
        gone_step=None if last.stands else last.gone_step,
    )


def _deletion(intervention: str, line: int, last: _Last) -> UserDeletion:
    return UserDeletion(
        intervention=intervention,
        line=line,
        path=last.path,
        put_back=last.fate == "put_back",
        ever_put_back=last.ever_put_back,
        by=last.by,
        step=last.step,
        seq=last.seq,
        taken_out_step=last.first_step,
        first_put_back_step=last.answered_step,
    )
