"""Server-sent events, split without losing a byte."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["EventSplitter", "event_data"]

_END = re.compile(rb"\r?\n\r?\n|\r\r")


class EventSplitter:
    """Cuts a byte stream into events; joined again, the pieces are the stream."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield every event that ``chunk`` completes, with its blank line."""
        self._rest += chunk
        start = 0
        for end in _END.finditer(self._rest):
            yield self._rest[start : end.end()]
            start = end.end()
        self._rest = self._rest[start:]

    def rest(self) -> bytes:
        """What came behind the last whole event."""
        rest, self._rest = self._rest, b""
        return rest


def event_data(event: bytes) -> bytes:
    """The ``data`` of an event, its lines joined; empty for a comment."""
    lines = re.split(rb"\r?\n|\r", event)
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:"))
