"""Lines of ``events.jsonl`` -> events whose bodies readers can rely on, or the reason why a line is none."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final, Never

import msgspec

from fourhands.model.event import EVENT_VERSION, Event
from fourhands.trajectories.event_bodies import check_body
from fourhands.trajectories.event_problems import ForeignLineError

__all__ = ["read_event", "read_healthy"]

_MOST_SEQ: Final = 2**53
_START: Final = b'{"v":%d,"seq":' % EVENT_VERSION
"""Every line of ours begins with it; another one may be an event as well, and is looked at with more care."""
_MARK: Final = b"\xef\xbb\xbf"
"""The byte order mark that some editors put before UTF-8."""
_FIELDS: Final = ("v", "seq", "time", "thread", "actor", "kind", "body")
_EVENTS: Final = msgspec.json.Decoder(Event)


def read_event(line: bytes, *, is_first: bool = False) -> Event:
    """The event on a line, with or without its line end; only the file's first line may begin with a mark.

    Raises:
        ForeignLineError: nothing of ours.
        ValueError: it is none that can be read; says why.
    """
    try:
        event = _EVENTS.decode(line) if line.startswith(_START) else _carefully(line, is_first=is_first)
    except (msgspec.DecodeError, RecursionError):
        event = _carefully(line, is_first=is_first)
    _check(event)
    return event


def read_healthy(data: bytes) -> list[Event] | None:
    """All events of a file whose every line is as we write it: in half the time of one line after another.

    Returns:
        ``None`` where there is anything to say of a line.
    """
    is_ours = data.startswith(_START) and data.endswith(b"\n")
    if not is_ours or data.count(b"\n" + _START) != data.count(b"\n") - 1:
        return None
    try:
        events = _EVENTS.decode_lines(data)
        for event in events:
            _check(event)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None
    return events


def _check(event: Event) -> None:
    if not 0 <= event.seq <= _MOST_SEQ:
        raise ValueError(f"seq {event.seq} is out of range")
    if not event.time.endswith("Z"):
        raise ValueError(f"time {event.time!r} is not in UTC")
    datetime.fromisoformat(event.time)
    try:
        check_body(event.kind, event.body)
    except msgspec.ValidationError as error:
        raise ValueError(f"{event.kind}: body: {error}") from None


def _carefully(line: bytes, *, is_first: bool) -> Event:
    """Read a line that is not as we write them, or that the quick reader refuses."""
    if not line.strip(b"\0\n"):
        raise ValueError("nothing but NUL bytes, as a machine's crash leaves them")
    raw = _json(line.removeprefix(_MARK) if is_first else line)
    if not isinstance(raw, dict) or (missing := [name for name in _FIELDS if name not in raw]):
        what = f"no {missing[0]}" if isinstance(raw, dict) else "no object"
        raise ForeignLineError(f"no event of Fourhands: {what}")
    if raw["v"] != EVENT_VERSION or isinstance(raw["v"], bool):
        raise ValueError(
            f"version {raw['v']} of the record is not known here, only {EVENT_VERSION}: "
            "read it with the Fourhands that wrote it, or a newer one"
        )
    try:
        return msgspec.convert(raw, Event)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from None


def _json(line: bytes) -> Any:
    """Read JSON as the standard reader does: it takes the lone surrogates that file names bring."""
    try:
        return json.loads(line.decode(), parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: byte {error.start + 1} is {line[error.start]:#04x}") from None
    except json.JSONDecodeError as error:
        torn = "" if line.endswith(b"\n") else "torn: "
        raise ValueError(f"{torn}not JSON: {error.msg} at letter {error.pos + 1}") from None


def _refuse(name: str) -> Never:
    raise ValueError(f"{name} is no number of JSON")
