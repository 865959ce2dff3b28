"""Our own record of a trial: ``events.jsonl``, appended and never rewritten.

One file has one writer, in one process; a trial that is cut starts a new attempt with a new file, so nothing is
ever appended behind a torn line. Readers meet torn last lines and kinds they do not know: they say so and go on.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from fourhands.model.event import EVENT_VERSION, MAIN_THREAD, Actor, Event, EventKind
from fourhands.trajectories.blobs import hidden

__all__ = ["EventLog", "EventRead", "read_events"]


class EventLog:
    """Appends events; safe to call from any thread."""

    def __init__(self, path: Path, on_event: Callable[[Event], None], *, hide: Sequence[bytes] = ()) -> None:
        """Open a new log.

        Args:
            path: must not exist yet: an attempt's log is written once.
            on_event: called with each event once it is in the file, under the log's lock: in order of ``seq``.
            hide: secrets that are never written, in letters that JSON does not escape; an event that holds one has
                ``(secret)`` in its place in the file.
        """
        self._file = path.open("xb", buffering=0)
        self._on_event = on_event
        self._hide = tuple(hide)
        self._lock = threading.RLock()
        self._next = 0

    def append(
        self,
        actor: Actor,
        kind: EventKind,
        body: dict[str, Any],
        *,
        thread: str = MAIN_THREAD,
        durable: bool = False,
    ) -> Event:
        """Write one event. ``durable`` waits until the disk has it: around interventions, and at the end."""
        with self._lock:
            time = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            event = Event(self._next, time, thread, actor, kind, body)
            self._write(hidden(_encode(event), self._hide))
            if durable:
                os.fsync(self._file.fileno())
            self._next += 1
            self._on_event(event)
            return event

    def _write(self, line: bytes) -> None:
        """Write a line whole, or not at all: a full disk must not leave half of one for the next to follow."""
        start, rest = self._file.tell(), memoryview(line)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            with suppress(OSError):
                self._file.truncate(start)
                self._file.seek(start)
            raise

    @property
    def is_closed(self) -> bool:
        """Whether nothing more can be recorded."""
        return self._file.closed

    def close(self) -> None:
        """Make the file durable and let go of it."""
        with self._lock:
            if not self._file.closed:
                os.fsync(self._file.fileno())
                self._file.close()


def _encode(event: Event) -> bytes:
    line = {
        "v": EVENT_VERSION,
        "seq": event.seq,
        "time": event.time,
        "thread": event.thread,
        "actor": event.actor.value,
        "kind": event.kind.value,
        "body": event.body,
    }
    try:
        return orjson.dumps(line) + b"\n"
    except orjson.JSONEncodeError:
        # Lone surrogates: file names that are not UTF-8 (PEP 383), or broken text from a model.
        return json.dumps(line, separators=(",", ":")).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class EventRead:
    """What a log held, in order, and what a reader should know of lines it could not take."""

    events: tuple[Event, ...]
    problems: tuple[str, ...]


def read_events(path: Path) -> EventRead:
    """Read a log, whole or cut.

    Raises:
        FileNotFoundError: there is no such log.
    """
    events: list[Event] = []
    problems: list[str] = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line:
            continue
        try:
            events.append(_event(line))
        except (ValueError, KeyError, TypeError) as error:
            problems.append(f"{path}:{number}: line skipped: {error}")
    return EventRead(tuple(events), tuple(problems))


def _event(line: bytes) -> Event:
    # The standard reader takes the lone surrogates that file names bring; orjson does not.
    raw = json.loads(line)
    if raw["v"] != EVENT_VERSION:
        raise ValueError(f"version {raw['v']} of the record is not known here")
    kind, actor = EventKind(raw["kind"]), Actor(raw["actor"])
    return Event(raw["seq"], raw["time"], raw["thread"], actor, kind, raw["body"])
