"""What an agent's lines show of a requirement that its words do not speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from fourhands.analysis.labels.words import own_names, own_words, words_in
from fourhands.analysis.ledger_labels import code_states
from fourhands.language.values import says_identifier, says_value
from fourhands.model.checkpoint import PLAN_FILE
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.ledger import Ledger
from fourhands.model.persona import MoveKind

__all__ = ["AgentLines", "Trace"]


@dataclass(frozen=True, slots=True)
class Trace:
    """An event that shows work on a requirement, and what of it."""

    seq: int
    detail: str


@dataclass(frozen=True, slots=True)
class _FileDiff:
    added: str
    other: str
    """What was taken out, and what stands around."""


class AgentLines:
    """What an agent wrote in an attempt, state by state."""

    def __init__(self, events: Sequence[Event], ledger: Ledger, read_blob: Callable[[str], bytes]) -> None:
        """Nothing is read before it is asked for, and each blob at most once."""
        self._events = events
        self._ledger = ledger
        self._read_blob = read_blob
        self._states = code_states(events)
        self._diffs: dict[str, tuple[_FileDiff, ...]] = {}
        self._by_user: frozenset[str] | None = None

    def changed(self, after: int) -> int | None:
        """The first change behind an event that the agent made to any file but its plan."""
        return next(self._changes(after), None)

    def can_show(self, name: str) -> bool:
        """Whether a requirement names anything of its own, or has a number, that lines would have to have."""
        wanted = self._ledger[name]
        numbers = filter(str.isdecimal, own_words(wanted, self._ledger))
        return bool(own_names(wanted, self._ledger)) or any(numbers)

    def named(self, name: str, after: int) -> Trace | None:
        """The first state behind an event with lines that have a name or value of it alone, new where they stand."""
        wanted = self._ledger[name]
        names = own_names(wanted, self._ledger)
        for state in (state for state in self._states if names and state.seq > after):
            for file in self._files(state.body["diff"]):
                for each in names:
                    says = says_identifier if each in wanted.identifiers else says_value
                    if says(each, file.added) and not says(each, file.other):
                        return Trace(state.seq, each)
        return None

    def hinted(self, name: str, after: int) -> Trace | None:
        """The first state behind an event with lines that have a word or number of it alone, new where they stand."""
        own = own_words(self._ledger[name], self._ledger)
        for state in (state for state in self._states if own and state.seq > after):
            for file in self._files(state.body["diff"]):
                if found := (own & words_in(file.added)) - words_in(file.other):
                    return Trace(state.seq, ", ".join(sorted(found)))
        return None

    def answered(self, name: str) -> Trace | None:
        """A change that followed on a message which said that this requirement alone is not met."""
        said = [event for event in self._events if _is_said(event)]
        for event, next_one in zip(said, [*said[1:], None], strict=True):
            corrects = event.body.get("move") == MoveKind.CORRECT and event.body.get("requirements") == [name]
            changed = next(self._changes(event.seq), None) if corrects else None
            if changed is not None and (next_one is None or changed < next_one.seq):
                return Trace(changed, f"after the message of event {event.seq}")
        return None

    def _changes(self, after: int) -> Iterator[int]:
        for event in self._events:
            is_change = event.kind is EventKind.WORKSPACE_CHANGED and event.actor is Actor.AGENT
            if event.seq > after and is_change and any(f["path"] != PLAN_FILE for f in event.body["files"]):
                yield event.seq

    def _files(self, digest: str) -> tuple[_FileDiff, ...]:
        if digest not in self._diffs:
            text = self._read_blob(digest).decode("utf-8", "replace")
            self._diffs[digest] = tuple(_file_diffs(text, self._user_lines()))
        return self._diffs[digest]

    def _user_lines(self) -> frozenset[str]:
        """Lines of the user's own edits, which stand in the same states."""
        if self._by_user is None:
            patches = (e.body["patch"] for e in self._events if e.kind is EventKind.EDIT_INTENDED)
            texts = (self._read_blob(patch).decode("utf-8", "replace") for patch in patches)
            self._by_user = frozenset(
                line[1:] for text in texts for line in text.split("\n") if line[:1] == "+"
            )
        return self._by_user


def _is_said(event: Event) -> bool:
    return event.kind in {EventKind.ANSWERED, EventKind.MESSAGE_SENT}


def _file_diffs(text: str, left_out: frozenset[str]) -> Iterable[_FileDiff]:
    for part in text.split("diff --git ")[1:]:
        lines = part.partition("\n@@")[2].split("\n")
        added = [line[1:] for line in lines if line[:1] == "+" and line[1:] not in left_out]
        other = [line[1:] for line in lines if line[:1] in {"-", " "}]
        yield _FileDiff("\n".join(added), "\n".join(other))
