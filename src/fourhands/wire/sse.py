"""Server-sent events, split without losing a byte."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["EventSplitter", "event_data"]

_END: Final = re.compile(rb"\n\r?\n|\r\r")
"""A blank line, from the end of the line above it."""
_LONGEST_END: Final = 3


class EventSplitter:
    """Cuts a byte stream into events; joined again, the pieces are the stream."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Every event that ``chunk`` completes, with its blank line.

        What came before ``chunk`` is not looked through again: one event may have megabytes.
        """
        new = max(0, len(self._rest) - _LONGEST_END + 1)
        self._rest += chunk
        ends = [end.end() for end in _END.finditer(self._rest, new)]
        events = [bytes(self._rest[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
        if ends:
            del self._rest[: ends[-1]]
        return events

    def rest(self) -> bytes:
        """What came behind the last whole event."""
        rest = bytes(self._rest)
        self._rest.clear()
        return rest


def event_data(event: bytes) -> bytes:
    """The ``data`` of an event, its lines joined; empty for a comment."""
    lines = re.split(rb"\r?\n|\r", event)
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:"))
