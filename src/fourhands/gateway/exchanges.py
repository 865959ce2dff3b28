"""Exchanges with the model as blobs, each item of the history stored once, at a cost that a long trial bears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
import orjson

from fourhands.trajectories.blobs import BlobStore
from fourhands.wire.document import Document

__all__ = ["ExchangeRecorder", "Received"]

_PAGE: Final = 256
"""Items that an exchange names itself; earlier ones stand in pages of as many, each a blob of its own."""


_LARGE: Final = 512
"""Bytes of a value that is stored as a blob of its own."""


@dataclass(frozen=True, slots=True)
class Received:
    """What came back for a request: all of the body that came, also of one that broke off."""

    status: int
    content_type: str
    body: bytes


class ExchangeRecorder:
    """Stores exchanges of one trial; what ``docs/events.md`` says of an exchange blob.

    An agent sends its whole history with every request. What it sent before is recognised, so that only what is
    new is hashed and stored, and an exchange's own blob does not grow with the history.
    """

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._stored: dict[str, _Stored] = {}
        """Of each thread, the history that was stored last."""

    def record(self, thread: str, sent: Document, received: Received) -> str:
        """Store a request as it went to the model, and its response; the digest of both together.

        ``thread`` is whose history the request brings.
        """
        key = sent.wire.history_key
        small: dict[str, msgspec.Raw] = {}
        large: dict[str, str] = {}
        for name, value in sent.fields.items():
            if name == key and sent.items:
                continue
            view = memoryview(value)
            if len(view) > _LARGE:  # the tools, the instructions: the same in every request
                large[name] = self._blobs.put(bytes(view))
            else:
                small[name] = msgspec.Raw(view)
        exchange = {
            "schema": 2,
            "wire": sent.wire.name,
            "request": small,
            "large": large,
            "history_key": key,
            "history": self._history(thread, sent.items) if sent.items else None,
            "status": received.status,
            "content_type": received.content_type,
            "response": self._blobs.put(received.body),
        }
        return self._blobs.put(msgspec.json.encode(exchange))

    def _history(self, thread: str, items: Sequence[msgspec.Raw | bytes]) -> dict[str, Any]:
        """``items``: digests of the last ones; ``earlier``: the page in front of them, if there is one."""
        stored = self._stored.setdefault(thread, _Stored())
        known = len(stored.items)
        if tuple(items[:known]) != stored.items:
            known = 0
            while known < len(items) and known < len(stored.items) and items[known] == stored.items[known]:
                known += 1
            del stored.digests[known:], stored.pages[known // _PAGE :]
        stored.digests += [self._blobs.put(bytes(item)) for item in items[known:]]
        stored.items = tuple(items)
        while len(items) > (len(stored.pages) + 1) * _PAGE:
            page = stored.tail(len(stored.pages), _PAGE)
            stored.pages.append(self._blobs.put(orjson.dumps(page)))
        return stored.tail(len(stored.pages), None)


@dataclass(slots=True)
class _Stored:
    items: tuple[msgspec.Raw | bytes, ...] = ()
    digests: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)

    def tail(self, pages: int, length: int | None) -> dict[str, Any]:
        start = pages * _PAGE
        digests = self.digests[start : None if length is None else start + length]
        return {"items": digests, **({"earlier": self.pages[pages - 1]} if pages else {})}
