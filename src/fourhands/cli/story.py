"""A trial's events as lines of a terminal: agent and user apart, what they changed as diffs."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import orjson
from rich.text import Text

from fourhands.analysis.lines import UserLines
from fourhands.model.event import Event, EventKind
from fourhands.trajectories.run_folder import Attempt
from fourhands.workspace.git import GitError
from fourhands.workspace.store import ObjectStore

__all__ = ["tell", "tell_lines"]

_STYLES: Final = {"agent": "cyan", "user": "magenta", "harness": "bright_black", "verifier": "green"}
_INDENT: Final = " " * 12
_DIFF_STYLES: Final = {"+": "green", "-": "red", "@": "bright_black"}
_MOST_DIFF_LINES: Final = 60


def tell(events: Iterable[Event], attempt: Attempt, *, output_lines: int) -> Iterator[Text]:
    """The story of an attempt, line by line.

    Args:
        events: of the attempt, in order.
        attempt: where their payloads are.
        output_lines: how much to show of what an action printed.
    """
    teller = _Teller(attempt, output_lines)
    for event in events:
        tell_one = teller.by_kind.get(event.kind)
        if tell_one:
            yield from tell_one(event)


def tell_lines(lines: UserLines) -> Iterator[Text]:
    """What became of each line that the user wrote, and of each that the user deleted."""
    if lines.lines or lines.deletions:
        yield Text("\nThe user's lines", style="bold")
    for line in lines.lines:
        text = f"  {line.intervention}, line {line.line}: {line.fate}"
        if line.fate != "kept":
            text += f" by the {line.by}"
            text += f" after step {line.step}" if line.step else ""
        elif line.ever_revised:
            text += ", after it had been gone"
        yield Text(f"{text} ({line.path})")
    for gone in lines.deletions:
        fate = f"put back by the {gone.by} after step {gone.step}" if gone.put_back else "still out"
        yield Text(f"  {gone.intervention}, deleted line {gone.line}: {fate} ({gone.path})")


class _Teller:
    def __init__(self, attempt: Attempt, output_lines: int) -> None:
        self._blobs = attempt.blobs
        self._store = ObjectStore(attempt.objects_path) if attempt.objects_path.exists() else None
        self._output_lines = output_lines
        self.by_kind: dict[EventKind, Callable[[Event], Iterator[Text]]] = {
            EventKind.TRIAL_STARTED: self._started,
            EventKind.ACTION_SEEN: self._acted,
            EventKind.ACTION_RESULT: self._printed,
            EventKind.WORKSPACE_CHANGED: self._changed,
            EventKind.TRIGGER_FIRED: self._fired,
            EventKind.SHADOW_TRIGGER_FIRED: self._fired,
            EventKind.EDIT_NOT_APPLIED: self._missed,
            EventKind.EDIT_APPLIED: self._edited,
            EventKind.MESSAGE_SENT: self._spoke,
            EventKind.MESSAGE_CARRIED: self._carried,
            EventKind.MESSAGE_LOST: self._lost,
            EventKind.NOTE: self._noted,
            EventKind.VERIFIED: self._verified,
            EventKind.TRIAL_ENDED: self._ended,
        }

    def _started(self, event: Event) -> Iterator[Text]:
        body = event.body
        yield Text(f"{body['task']} · {body['agent']} · {body['model']} · {body['condition']}", style="bold")
        yield Text(f"repeat {body['repeat']}, attempt {body['attempt']}, {event.time}", style="bright_black")

    def _acted(self, event: Event) -> Iterator[Text]:
        arguments = self._blobs.get(event.body["arguments"]).decode("utf-8", "replace")
        try:
            command = str(orjson.loads(arguments)["command"])
        except (orjson.JSONDecodeError, KeyError, TypeError):
            command = arguments
        yield Text()
        yield from _said(event, f"{event.body['tool']} $ {command.rstrip()}", f"step {event.body['step']}")

    def _printed(self, event: Event) -> Iterator[Text]:
        body = event.body
        lines = self._blobs.get(body["output"]).decode("utf-8", "replace").splitlines()
        hidden = len(lines) - self._output_lines
        head = lines if hidden <= 0 else lines[: self._output_lines // 2]
        tail = [] if hidden <= 0 else lines[len(lines) - (self._output_lines - len(head)) :]
        for line in head:
            yield Text(f"{_INDENT}│ {line}", style="bright_black")
        if hidden > 0:
            yield Text(f"{_INDENT}│ … {hidden} more …", style="bright_black")
        for line in tail:
            yield Text(f"{_INDENT}│ {line}", style="bright_black")
        for touch in body["touches"]:
            where = "" if touch["lines"] is None else ":" + ",".join(_range(*pair) for pair in touch["lines"])
            yield Text(f"{_INDENT}{touch['kind']}s {touch['path']}{where}", style="bright_black")

    def _changed(self, event: Event) -> Iterator[Text]:
        counts = ", ".join(f"{n} by {who}" for who, n in sorted(event.body["lines"].items()) if n)
        yield from _said(
            event, f"changed {len(event.body['files'])} file(s); changed lines standing: {counts}"
        )
        for file in event.body["files"]:
            yield from self._diff(file)

    def _diff(self, file: dict[str, Any]) -> Iterator[Text]:
        if file["binary"]:
            yield Text(f"{_INDENT}{file['path']}: binary")
            return
        try:
            old, new = (self._lines(file[side]) for side in ("old", "new"))
        except GitError:
            yield Text(f"{_INDENT}{file['path']}: its base is no longer in the cache", style="yellow")
            return
        lines = list(
            difflib.unified_diff(old, new, f"a/{file['path']}", f"b/{file['path']}", n=2, lineterm="")
        )
        for line in lines[:_MOST_DIFF_LINES]:
            yield Text(f"{_INDENT}{line}", style=_DIFF_STYLES.get(line[:1], ""))
        if len(lines) > _MOST_DIFF_LINES:
            yield Text(f"{_INDENT}… {len(lines) - _MOST_DIFF_LINES} lines more", style="bright_black")

    def _lines(self, blob: str | None) -> list[str]:
        if blob is None or self._store is None:
            return []
        return self._store.get_blob(blob).decode("utf-8", "replace").split("\n")

    @staticmethod
    def _fired(event: Event) -> Iterator[Text]:
        shadow = event.kind is EventKind.SHADOW_TRIGGER_FIRED
        yield from _said(
            event, f"{'a user would have acted here' if shadow else 'trigger'}: {event.body['why']}"
        )

    @staticmethod
    def _edited(event: Event) -> Iterator[Text]:
        body = event.body
        yield from _said(event, f"edit {body['intervention']}: {body['outcome']} ({body['detail']})")

    @staticmethod
    def _missed(event: Event) -> Iterator[Text]:
        body = event.body
        yield from _said(event, f"edit {body['intervention']} not made: {body['outcome']} ({body['detail']})")

    @staticmethod
    def _spoke(event: Event) -> Iterator[Text]:
        body = event.body
        yield from _said(event, f"“{body['text']}”")
        for rejected in body.get("rejected", ()):
            yield Text(f"{_INDENT}not said: {rejected['reason']}", style="bright_black")
        if body.get("source") == "fallback":
            yield Text(f"{_INDENT}the fixed words, in place of {body['model']}'s", style="bright_black")

    @staticmethod
    def _carried(event: Event) -> Iterator[Text]:
        body = event.body
        last = f" to {body['last_request']} ({body['requests']} requests)" if "last_request" in body else ""
        yield from _said(
            event, f"message {body['message']} carried from request {body['first_request']}{last}"
        )

    @staticmethod
    def _lost(event: Event) -> Iterator[Text]:
        yield from _said(
            event, f"message {event.body['message']} lost its place at request {event.body['request']}"
        )

    @staticmethod
    def _noted(event: Event) -> Iterator[Text]:
        details = ", ".join(f"{key}={value}" for key, value in event.body.items() if key != "note")
        yield from _said(event, f"note: {event.body['note']} {details}")

    @staticmethod
    def _verified(event: Event) -> Iterator[Text]:
        body = event.body
        yield Text()
        passed = sum(status == "passed" for status in body["fail_to_pass"].values())
        yield from _said(
            event,
            f"{body['verdict']}: {passed} of {len(body['fail_to_pass'])} tests to be fixed pass, "
            f"{len(body['pass_to_pass_failed'])} of {body['pass_to_pass']} others fail, {body['seconds']} s",
        )

    @staticmethod
    def _ended(event: Event) -> Iterator[Text]:
        body = event.body
        yield from _said(
            event,
            f"{body['verdict']} × {body['termination']}: {body['steps']} steps, {body['tokens']['total']:,} tokens, "
            f"{body['delivered']} edits delivered of {body['triggered']} triggered",
        )


def _range(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}-{end}"


def _said(event: Event, text: str, when: str = "") -> Iterator[Text]:
    first, *rest = text.split("\n")
    line = Text(f"{when:<9}")
    line.append(f"{event.actor.value:<9}", style=_STYLES[event.actor.value])
    yield line.append(first)
    for each in rest:
        yield Text(f"{_INDENT}      {each}")
