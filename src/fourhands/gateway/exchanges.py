"""Exchanges with the model as blobs, each message of the history stored once, at a cost that a long trial bears."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

import orjson

from fourhands.trajectories.blobs import BlobStore
from fourhands.wire.types import Json

__all__ = ["ExchangeRecorder"]

_PAGE: Final = 256
"""Messages that an exchange names itself; earlier ones stand in pages of as many, each a blob of its own."""
_KEY: Final = len(b'"messages":')
_CHUNK: Final = 1 << 16
"""Bytes compared at once: more would need room that has to be made anew each time."""


class ExchangeRecorder:
    """Stores exchanges of one trial; what ``docs/events.md`` says of an exchange blob.

    An agent sends its whole history with every request. What it sent before is recognised, so that only what is
    new is hashed and stored, and an exchange's own blob does not grow with the history.
    """

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._before = _Messages(b"[", 0, 1)
        """The history that was stored last."""
        self._digests: list[str] = []
        self._pages: list[str] = []

    def record(self, sent: Json, received: bytes, raw: bytes | None = None) -> str:
        """Store a request as it went to the model, and the body of its response; the digest of both together.

        ``raw`` is ``sent`` as orjson writes it, where that has been done already.
        """
        request = sent
        if isinstance(sent.get("messages"), list):
            request = {**sent, **self._history(sent, raw or orjson.dumps(sent))}
        exchange = {"schema": 1, "request": request, "response": self._blobs.put(received)}
        return self._blobs.put(orjson.dumps(exchange))

    def _history(self, sent: Json, raw: bytes) -> Json:
        """``messages``: digests of the last ones; ``earlier``: the page in front of them, if there is one."""
        messages = sent["messages"]
        # As bytes: comparing and keeping the parsed messages would cost more than reading them did.
        now = _Messages.of(sent, raw)
        if not now.starts_with(self._before):
            self._digests, self._pages = [], []
        self._before = now
        new = messages[len(self._digests) :]
        self._digests += [self._blobs.put(orjson.dumps(message)) for message in new]
        while len(messages) > (len(self._pages) + 1) * _PAGE:
            self._pages.append(self._blobs.put(orjson.dumps(self._tail(len(self._pages), _PAGE))))
        return self._tail(len(self._pages), None)

    def _tail(self, pages: int, length: int | None) -> Json:
        start = pages * _PAGE
        digests = self._digests[start : None if length is None else start + length]
        return {"messages": digests, **({"earlier": self._pages[pages - 1]} if pages else {})}


@dataclass(frozen=True, slots=True)
class _Messages:
    """A history where it stands in a request's JSON: ``raw[start:end]``, without the closing bracket."""

    raw: bytes
    start: int
    end: int

    @classmethod
    def of(cls, sent: Json, raw: bytes) -> Self:
        """Find the messages in ``raw``, which is ``sent`` as orjson writes it: between what other keys take."""
        at = list(sent).index("messages")
        items = list(sent.items())
        before, after = orjson.dumps(dict(items[:at])), orjson.dumps(dict(items[at + 1 :]))
        # Each has two braces of its own; where it is empty, there is no comma.
        start = len(before) + _KEY - (at == 0)
        end = len(raw) - len(after) - (at + 1 < len(items))
        return cls(raw, start, end)

    def starts_with(self, other: Self) -> bool:
        """Whether this history is the other one, or goes on from it."""
        length = other.end - other.start
        if self.end - self.start < length:
            return False
        return all(
            self.raw[self.start + at : self.start + min(at + _CHUNK, length)]
            == other.raw[other.start + at : other.start + min(at + _CHUNK, length)]
            for at in range(0, length, _CHUNK)
        )
