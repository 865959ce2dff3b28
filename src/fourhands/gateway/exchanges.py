"""Exchanges with the model as blobs, each message of the history stored once, at a cost that a long trial bears."""

from __future__ import annotations

from typing import Any, Final

import orjson

from fourhands.trajectories.blobs import BlobStore
from fourhands.wire.types import Json

__all__ = ["ExchangeRecorder"]

_PAGE: Final = 256
"""Messages that an exchange names itself; earlier ones stand in pages of as many, each a blob of its own."""


class ExchangeRecorder:
    """Stores exchanges of one trial; what ``docs/events.md`` says of an exchange blob.

    An agent sends its whole history with every request. What it sent before is recognised, so that only what is
    new is hashed and stored, and an exchange's own blob does not grow with the history.
    """

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._before = b"["
        """The history that was stored last, as JSON without its closing bracket."""
        self._digests: list[str] = []
        self._pages: list[str] = []

    def record(self, sent: Json, received: bytes) -> str:
        """Store a request as it went to the model, and the body of its response; the digest of both together."""
        request = sent
        messages = sent.get("messages")
        if isinstance(messages, list):
            request = {**sent, **self._history(messages)}
        exchange = {"schema": 1, "request": request, "response": self._blobs.put(received)}
        return self._blobs.put(orjson.dumps(exchange))

    def _history(self, messages: list[Any]) -> Json:
        """``messages``: digests of the last ones; ``earlier``: the page in front of them, if there is one."""
        # As bytes: comparing and keeping the parsed messages would cost more than reading them did.
        text = orjson.dumps(messages)
        if not text.startswith(self._before):
            self._digests, self._pages = [], []
        self._before = text[:-1]
        new = messages[len(self._digests) :]
        self._digests += [self._blobs.put(orjson.dumps(message)) for message in new]
        while len(messages) > (len(self._pages) + 1) * _PAGE:
            self._pages.append(self._blobs.put(orjson.dumps(self._tail(len(self._pages), _PAGE))))
        return self._tail(len(self._pages), None)

    def _tail(self, pages: int, length: int | None) -> Json:
        start = pages * _PAGE
        digests = self._digests[start : None if length is None else start + length]
        return {"messages": digests, **({"earlier": self._pages[pages - 1]} if pages else {})}
