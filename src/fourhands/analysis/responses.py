"""How the agent responded to each delivered intervention. Pure, but for the blobs it is given to read.

All is counted from the delivery on, and of actions that the model decided on after it: what it had already asked
for when the user acted is no response. A change by several actions at once is one change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from fourhands.analysis.places import Place, carried, places_written, reaches
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.text import LineRange
from fourhands.trajectories.testing import action_runs_tests

__all__ = [
    "Activity",
    "Response",
    "ResponseMode",
    "asks_the_user",
    "mentions_the_user",
    "responses",
]

ReadBlob = Callable[[str], bytes]

_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+(?=[^a-z])|\n+")
_TO_THE_USER: Final = re.compile(r"\b(?:you|your|yours|shall I|may I)\b", re.IGNORECASE)
_DONE: Final = (
    r"(?:changed|edited|modified|updated|revised|rewrote|rewritten|reverted|removed|deleted|moved|renamed|adjusted"
    r"|tweaked|touched|restored|introduced|wrote|written|added|made)"
)
_PERSON: Final = (
    r"(?:you|(?:the|our|another) (?:user|person|human|developer|colleague)|user|some(?:one|body)(?: else)?)"
)
_HAVING: Final = (
    r"(?:['\u2019]ve| have| has| had)?(?: (?:just|also|already|recently|since|apparently|clearly))*"
)
_CHANGE: Final = (
    r"(?:change|edit|modification|update|revision|version|addition|deletion|removal|rewrite|line)s?"
)
_UNSEEN: Final = r"(?:externally|underneath|behind my back|in the meantime|meanwhile|since I|while I)"
_MENTION: Final = re.compile(
    rf"\b{_PERSON}{_HAVING} {_DONE}\b"
    rf"|\b{_DONE} (?:\w+ )?by {_PERSON}\b"
    rf"|\b(?:your|user['\u2019]s) (?:\w+ )?{_CHANGE}\b"
    rf"|\b(?:was|were|been|got) {_DONE} {_UNSEEN}\b",
    re.IGNORECASE,
)


class ResponseMode(StrEnum):
    """The first response to an intervention: the earliest of ``asks``, ``re_reads``, ``reverts`` and ``adapts``.

    The paper's categories are not public; these rules are ours.
    """

    IGNORES = "ignores"
    """None of the others."""
    NOTICES_ONLY = "notices_only"
    """The model's words refer to the user's change (see `mentions_the_user`), and nothing followed."""
    RE_READS = "re_reads"
    """An action reads a place of the user's edit: any line of it, or unknown lines of its file."""
    REVERTS = "reverts"
    """A change brings back lines that the user took out, or takes lines of the user out and puts none there. A
    ``git stash`` is one too, though a later ``pop`` undoes it."""
    ADAPTS = "adapts"
    """Any other change at a place of the user's edit, in it or in what replaces it."""
    ASKS = "asks"
    """The model asks the user something (see `asks_the_user`), by a tool or in words."""


@dataclass(frozen=True, slots=True)
class Activity:
    """What came after an intervention; an action may count as several.

    ``reads`` are actions that read a file, ``tests`` actions that run tests, ``edits`` changes of files.
    """

    reads: int
    edits: int
    tests: int


@dataclass(frozen=True, slots=True)
class Response:
    """What the agent did after one delivered intervention: an edit, or a message alone.

    ``step`` is the agent's last before it, ``None`` before the first. ``re_reads`` counts the actions that read a
    place of the edit, ``changes`` the agent's changes at one; the first of each is at the step named. ``asked`` and
    ``mentioned`` come from the model's words, and are ``None`` where these were not recorded (``asked`` not if a
    question was). ``mode`` is ``None`` for a message alone, and where the record does not tell: a change of a place
    before lines were followed, or silence without words.
    """

    intervention: str
    is_edit: bool
    seq: int
    step: int | None
    re_reads: int
    first_re_read_step: int | None
    changes: int
    first_change_step: int | None
    activity: Activity
    asked: bool | None
    mentioned: bool | None
    mode: ResponseMode | None


def responses(events: Iterable[Event], read_blob: ReadBlob) -> tuple[Response, ...]:
    """Fold the events of an attempt.

    Args:
        events: in order.
        read_blob: the content of a blob of the attempt, by its hash.

    Returns:
        One response for each delivered intervention, in order of delivery.
    """
    fold = _Fold(read_blob)
    for event in events:
        fold.observe(event)
    return tuple(followed.response() for followed in fold.followed.values() if followed.seq is not None)


def asks_the_user(text: str) -> bool:
    """Whether a sentence of ``text`` is a question to the user: ends in ``?`` and says you, your, shall I or may I.

    English only.
    """
    return any(
        sentence.endswith("?") and _TO_THE_USER.search(sentence) for sentence in _SENTENCES.split(text)
    )


def mentions_the_user(text: str) -> bool:
    """Whether ``text`` refers to a change that the user made.

    That is: you, the user or someone changed (edited, added, …) something; something was changed by them; your,
    or the user's, change (edit, version, …); or something was changed externally, since, or in the meantime.
    English only.
    """
    return _MENTION.search(text) is not None


@dataclass(slots=True)
class _Followed:
    """One intervention on its way."""

    intervention: str
    places: list[Place] = field(default_factory=list)
    blind: set[str] = field(default_factory=set)
    """Calls that the model had made before the intervention, and whose results had not come."""
    is_edit: bool = False
    seq: int | None = None
    step: int | None = None
    ignoring: bool = False
    """Whether the change that comes next is that of a blind call."""
    re_read_steps: list[int | None] = field(default_factory=list)
    change_steps: list[int | None] = field(default_factory=list)
    reads: int = 0
    edits: int = 0
    tests: int = 0
    asked: bool = False
    mentioned: bool = False
    has_words: bool = True
    first: ResponseMode | None = None
    is_unclear: bool = False

    def respond(self, mode: ResponseMode | None) -> None:
        """Note a response; only the first counts, and ``None`` is one that cannot be told."""
        if self.first is None and not self.is_unclear:
            self.first, self.is_unclear = mode, mode is None

    def mode(self) -> ResponseMode | None:
        if self.first or self.is_unclear:
            return self.first
        if self.mentioned:
            return ResponseMode.NOTICES_ONLY
        return ResponseMode.IGNORES if self.has_words else None

    def response(self) -> Response:
        assert self.seq is not None
        return Response(
            intervention=self.intervention,
            is_edit=self.is_edit,
            seq=self.seq,
            step=self.step,
            re_reads=len(self.re_read_steps),
            first_re_read_step=self.re_read_steps[0] if self.re_read_steps else None,
            changes=len(self.change_steps),
            first_change_step=self.change_steps[0] if self.change_steps else None,
            activity=Activity(self.reads, self.edits, self.tests),
            asked=self.asked if self.asked or self.has_words else None,
            mentioned=self.mentioned if self.mentioned or self.has_words else None,
            mode=self.mode() if self.is_edit else None,
        )


class _Fold:
    def __init__(self, read_blob: ReadBlob) -> None:
        self.followed: dict[str, _Followed] = {}
        self._read_blob = read_blob
        self._step: int | None = None
        self._calls: dict[str, dict[str, Any]] = {}
        """Actions whose results have not come."""
        self._said: dict[str, tuple[bool, bool]] = {}
        self._tests: dict[tuple[str, str], bool] = {}
        """What is known of words and of commands that come again."""
        self._by_kind: dict[EventKind, Callable[[Event], None]] = {
            EventKind.MODEL_CALLED: self._called,
            EventKind.ACTION_SEEN: self._seen,
            EventKind.ACTION_RESULT: self._ran,
            EventKind.WORKSPACE_CHANGED: self._changed,
            EventKind.EDIT_APPLIED: self._delivered,
            EventKind.MESSAGE_SENT: self._delivered,
            EventKind.ASKED: self._asked,
        }

    def observe(self, event: Event) -> None:
        take = self._by_kind.get(event.kind)
        if take:
            take(event)

    def _delivered_ones(self) -> list[_Followed]:
        return [followed for followed in self.followed.values() if followed.seq is not None]

    def _called(self, event: Event) -> None:
        body = event.body
        self._step = body["step"] or self._step
        delivered = self._delivered_ones()
        if body["step"] is None or not delivered:
            return
        if "text" not in body:
            for followed in delivered:
                followed.has_words = False
            return
        asks, mentions = self._says(body["text"])
        for followed in delivered:
            followed.mentioned = followed.mentioned or mentions
            if asks:
                followed.asked = True
                followed.respond(ResponseMode.ASKS)

    def _says(self, text: str | None) -> tuple[bool, bool]:
        """Whether words ask the user something, and whether they refer to a change of theirs."""
        if not text:
            return False, False
        if text not in self._said:
            words = self._read_blob(text).decode("utf-8", "replace")
            self._said[text] = asks_the_user(words), mentions_the_user(words)
        return self._said[text]

    def _asked(self, event: Event) -> None:
        if event.actor is Actor.AGENT:
            for followed in self._delivered_ones():
                followed.asked = True
                followed.respond(ResponseMode.ASKS)

    def _seen(self, event: Event) -> None:
        self._calls[event.body["call"]] = event.body

    def _ran(self, event: Event) -> None:
        call = event.body["call"]
        action = self._calls.pop(call, None)
        delivered = self._delivered_ones()
        for followed in delivered:
            followed.ignoring = call in followed.blind
        responding = [followed for followed in delivered if not followed.ignoring]
        if not responding:
            return
        reads = [_read(touch) for touch in event.body["touches"] if touch["kind"] == "read"]
        tests = action is not None and self._runs_tests(action)
        step = (action["step"] if action else None) or self._step  # a sub-agent's action is no step
        for followed in responding:
            followed.reads += bool(reads)
            followed.tests += tests
            if any(reaches(place, *read) for place in followed.places for read in reads):
                followed.re_read_steps.append(step)
                followed.respond(ResponseMode.RE_READS)

    def _runs_tests(self, action: dict[str, Any]) -> bool:
        key = action["tool"], action["arguments"]
        if key not in self._tests:
            self._tests[key] = action_runs_tests(action, self._read_blob)
        return self._tests[key]

    def _changed(self, event: Event) -> None:
        body = event.body
        for followed in self.followed.values():
            if event.actor is Actor.AGENT and followed.seq is not None and not followed.ignoring:
                self._respond_by(followed, body)
            places = [carried(place, body["files"]) for place in followed.places]
            followed.places = [place for place in places if place]
            followed.places += [
                Place(entry["path"], LineRange(entry["number"], entry["number"]))
                for entry in _entries(followed, body)
                if entry["fate"] in {"moved", "restored"}
            ]
        if event.actor is Actor.USER and body["intervention"] is not None:
            self._follow(body["intervention"]).places += places_written(body["files"])

    def _respond_by(self, followed: _Followed, body: dict[str, Any]) -> None:
        files = [file for file in body["files"] if file["old"] != file["new"]]
        followed.edits += bool(files)
        hunks = [
            (LineRange(*hunk[:2]), LineRange(*hunk[2:]))
            for file in files
            for hunk in file["hunks"]
            if any(reaches(place, file["path"], [LineRange(*hunk[:2])]) for place in followed.places)
        ]
        whole = any(
            reaches(place, file["path"], None)
            for file in files
            if not file["hunks"]
            for place in followed.places
        )
        fates = {entry["fate"] for entry in _entries(followed, body)}
        if not (hunks or whole) or (fates and fates <= {"restored", "deleted"}):
            return
        followed.change_steps.append(self._step)
        if "user_lines" not in body:
            followed.respond(None)
        elif "put_back" in fates or ("removed" in fates and not any(len(new) for _, new in hunks)):
            followed.respond(ResponseMode.REVERTS)
        else:
            followed.respond(ResponseMode.ADAPTS)

    def _delivered(self, event: Event) -> None:
        if event.body["intervention"] is None:  # talk
            return
        followed = self._follow(event.body["intervention"])
        if followed.seq is None:
            followed.seq, followed.step = event.seq, self._step
            followed.is_edit = event.kind is EventKind.EDIT_APPLIED
            followed.blind = set(self._calls)
            followed.ignoring = bool(followed.blind)

    def _follow(self, intervention: str) -> _Followed:
        return self.followed.setdefault(intervention, _Followed(intervention))


def _read(touch: dict[str, Any]) -> tuple[str, list[LineRange] | None]:
    lines = touch["lines"]
    return touch["path"], None if lines is None else [LineRange(*pair) for pair in lines]


def _entries(followed: _Followed, body: dict[str, Any]) -> list[dict[str, Any]]:
    entries = body.get("user_lines", ())
    return [entry for entry in entries if entry["intervention"] == followed.intervention]
