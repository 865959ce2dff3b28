"""Exchanges with the model, read back from blobs: ``docs/events.md`` says how they are stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fourhands.model.errors import InputError

__all__ = ["Exchange", "read_exchange"]

_SCHEMA: Final = 2


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request as it went to the model, on the API ``wire``, and the response: all of its body that came."""

    wire: str
    request: dict[str, Any]
    history_key: str
    status: int
    content_type: str
    response: bytes

    @property
    def history(self) -> list[Any]:
        """The items of the request's history; none where it was one plain text."""
        items = self.request.get(self.history_key)
        return items if isinstance(items, list) else []


def read_exchange(get: Callable[[str], bytes], digest: str) -> Exchange:
    """Read an exchange.

    Args:
        get: returns a blob; raises FileNotFoundError.
        digest: of the exchange's own blob.

    Raises:
        InputError: it is of a schema that this version does not know.
        FileNotFoundError: a blob is missing.
    """
    raw = orjson.loads(get(digest))
    if raw.get("schema") != _SCHEMA:
        raise InputError(f"exchange {digest[:12]}: schema {raw.get('schema')}, known here is {_SCHEMA}")
    request = {**raw["request"], **{name: orjson.loads(get(blob)) for name, blob in raw["large"].items()}}
    if raw["history"] is not None:
        request[raw["history_key"]] = [orjson.loads(get(each)) for each in _items(get, raw["history"])]
    return Exchange(
        raw["wire"],
        request,
        raw["history_key"],
        raw["status"],
        raw["content_type"],
        get(raw["response"]),
    )


def _items(get: Callable[[str], bytes], page: dict[str, Any]) -> list[str]:
    digests: list[str] = page["items"]
    while "earlier" in page:
        page = orjson.loads(get(page["earlier"]))
        digests = page["items"] + digests
    return digests
