"""A request's body -> its JSON and what the gateway must know of it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import orjson

from fourhands.wire.types import Json, Request, Wire

__all__ = ["read_request"]


def read_request(wire: Wire, raw: bytes) -> tuple[Json, Request]:
    """Read a request.

    Raises:
        ValueError, AttributeError, TypeError: it is none of this wire, or nothing could be inserted into it.
    """
    with _without_collection():
        body = orjson.loads(raw)
        parsed = wire.parse_request(body)
        wire.prepare(body, ())
        return body, parsed


@contextmanager
def _without_collection() -> Iterator[None]:
    """Look for no cycles meanwhile: a long history is tens of thousands of new objects, and none of them in a cycle.

    Without this they are gone through many times over, which takes as long as reading them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
