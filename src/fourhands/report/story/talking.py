"""The events of a conversation -> what its story tells of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.event import Event, EventKind
from fourhands.report.story.clip import clip_text, one_line
from fourhands.report.story.model import Limits
from fourhands.report.story.talk import Blocked, Moved, Slip, Spoken, State

__all__ = ["States", "moved", "slips", "spoken"]

_EVIDENCE: Final = ("question", "message", "checkpoint", "judge")
_MARKS: Final[Mapping[str, str]] = {"amended": "amended", "merge": "merge", "tests_only": "tests only"}
_COMMIT: Final = 10
"""Letters of a commit's id that tell it apart."""
_REASON: Final = 300


def spoken(body: Mapping[str, Any], limits: Limits) -> Spoken:
    """Of an `answered`, or a `message_sent` that belongs to no intervention."""
    return Spoken(
        move=body.get("move"),
        requirements=tuple(map(str, body.get("requirements") or ())),
        why=body.get("why"),
        occasion=body.get("occasion"),
        source=str(body.get("source", "fixed")),
        model=body.get("model"),
        blocked=tuple(
            Blocked(
                one_line(str(each["reason"]), _REASON),
                clip_text(str(each.get("text", "")), most_bytes=limits.words),
            )
            for each in body.get("rejected") or ()
        ),
    )


def moved(event: Event) -> Moved:
    """The `requirement_moved` event."""
    body = event.body
    evidence = body["evidence"]
    by = ", ".join(f"{name} {evidence[name]}" for name in _EVIDENCE if name in evidence)
    return Moved(event.seq, str(body["requirement"]), str(body["from"]), str(body["to"]), by or None)


def slips(events: Sequence[Event]) -> Iterator[Slip]:
    """Of the working agreement, as they stand at the end of the record."""
    ended = next((event for event in reversed(events) if event.kind is EventKind.TRIAL_ENDED), None)
    for each in (ended.body.get("slips") or ()) if ended else ():
        yield Slip(str(each["slip"]), int(each.get("seq", ended.seq if ended else 0)))


class States:
    """The checkpoints of a conversation, in order: each beside the one before it."""

    def __init__(self, limits: Limits) -> None:
        self._most = limits.tests
        self._before: dict[bool, Mapping[str, bool | None]] = {}
        """By whether it is a plan, what the last state was found to hold."""

    def take(self, body: Mapping[str, Any]) -> State:
        """The next `checkpoint`."""
        found: Mapping[str, bool | None] = body["requirements"]
        of = str(body["of"])
        is_plan = of == CheckpointKind.PLAN
        before = self._before.get(is_plan)
        self._before[is_plan] = found
        checks: Mapping[str, bool | None] = body.get("checks") or {}
        commit = body.get("commit")
        return State(
            name=str(body["checkpoint"]),
            of=of,
            commit=str(commit)[:_COMMIT] if commit and of == CheckpointKind.COMMIT else None,
            subject=body["subject"],
            marks=tuple(words for name, words in _MARKS.items() if body.get(name)),
            additions=body["additions"],
            deletions=body["deletions"],
            score=body["score"],
            source=body["source"],
            met=_those(found, is_met=True),
            unmet=_those(found, is_met=False),
            unknown=_those(found, is_met=None),
            gained=tuple(n for n, met in found.items() if before is not None and met and not before.get(n)),
            lost=tuple(
                n for n, met in found.items() if before is not None and met is False and before.get(n)
            ),
            checks=len(checks),
            checks_passed=sum(passed is True for passed in checks.values()),
            checks_unknown=sum(passed is None for passed in checks.values()),
            failed=tuple(name for name, passed in checks.items() if passed is False)[: self._most],
            goals=body.get("goals") or {},
            problem=body["problem"],
        )


def _those(found: Mapping[str, bool | None], *, is_met: bool | None) -> tuple[str, ...]:
    return tuple(name for name, met in found.items() if met is is_met)
