"""Exchanges with the model, read back from blobs: ``docs/events.md`` says how they are stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fourhands.model.errors import InputError

__all__ = ["Exchange", "ExchangeReader", "read_exchange"]

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


class ExchangeReader:
    """Reads exchanges of one trial; what many of them have in common is read once, and is then the same object."""

    def __init__(self, get: Callable[[str], bytes], see: Callable[[Any], Any] = lambda value: value) -> None:
        """Nothing is read yet.

        Args:
            get: returns a blob; raises FileNotFoundError.
            see: what to take for a value of a request, or an item of its history.
        """
        self._get = get
        self._see = see
        self._values: dict[str, Any] = {}
        self._pages: dict[str, dict[str, Any]] = {}

    def read(self, digest: str) -> Exchange:
        """Read an exchange, by the digest of its own blob.

        Raises:
            InputError: it is of a schema that this version does not know.
            FileNotFoundError: a blob is missing.
        """
        raw = orjson.loads(self._get(digest))
        if raw.get("schema") != _SCHEMA:
            raise InputError(f"exchange {digest[:12]}: schema {raw.get('schema')}, known here is {_SCHEMA}")
        request = {name: self._see(value) for name, value in raw["request"].items()}
        request |= {name: self._value(blob) for name, blob in raw["large"].items()}
        if raw["history"] is not None:
            request[raw["history_key"]] = [self._value(each) for each in self._items(raw["history"])]
        return Exchange(
            raw["wire"],
            request,
            raw["history_key"],
            raw["status"],
            raw["content_type"],
            self._get(raw["response"]),
        )

    def _value(self, digest: str) -> Any:
        if digest not in self._values:
            self._values[digest] = self._see(orjson.loads(self._get(digest)))
        return self._values[digest]

    def _items(self, page: dict[str, Any]) -> list[str]:
        digests: list[str] = page["items"]
        while "earlier" in page:
            earlier = page["earlier"]
            if earlier not in self._pages:
                self._pages[earlier] = orjson.loads(self._get(earlier))
            page = self._pages[earlier]
            digests = page["items"] + digests
        return digests


def read_exchange(get: Callable[[str], bytes], digest: str) -> Exchange:
    """Read one exchange: `ExchangeReader.read`."""
    return ExchangeReader(get).read(digest)
