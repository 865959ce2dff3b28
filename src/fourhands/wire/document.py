"""A request's body, taken apart without being read: what is not changed goes on byte for byte."""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Self

import msgspec
import orjson

from fourhands.wire.types import MalformedError, Wire

__all__ = ["Document", "with_model"]

_OPENING: Final = 2
_READ_LATER: Final = ("model", "stream", "stream_options")
_PIECE: Final = 1 << 20
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


@dataclass(frozen=True, slots=True)
class Document:
    """``fields`` are the keys of the body and their JSON, ``items`` the JSON of the history's items.

    ``raw`` is the body as it came, as long as nothing was changed.
    """

    wire: Wire
    fields: Mapping[str, msgspec.Raw | bytes]
    items: tuple[msgspec.Raw | bytes, ...]
    raw: bytes | None = None

    @classmethod
    def read(cls, wire: Wire, raw: bytes) -> Self:
        """Take a body apart.

        Raises:
            MalformedError: it is no JSON object with a history, or one that nobody could read back.
        """
        try:
            _see_that_it_is_text(raw)
            fields = _FIELDS.decode(raw)
            history = fields.get(wire.history_key)
            if history is None:
                raise MalformedError(f"a {wire.name} request needs {wire.history_key!r}")
            # Nothing could be said in the middle of a plain text.
            is_text = wire.takes_text and bytes(memoryview(history)[:1]) == b'"'
            items = () if is_text else tuple(_ITEMS.decode(history))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise MalformedError(f"not a {wire.name} request: {error}") from None
        document = cls(wire, fields, items, raw)
        for key in _READ_LATER:  # whoever reads it then has no one to refuse it to
            document.value(key)
        return document

    def value(self, key: str) -> Any:
        """The value of a key, parsed; ``None`` where it is absent.

        Raises:
            MalformedError: nobody could read it, so deeply is it nested.
        """
        raw = self.fields.get(key)
        try:
            return None if raw is None else orjson.loads(memoryview(raw))
        except orjson.JSONDecodeError as error:
            raise MalformedError(f"{key!r} of a {self.wire.name} request cannot be read: {error}") from None

    @property
    def streamed(self) -> bool:
        """Whether the response is to be streamed."""
        return self.value("stream") is True

    @property
    def model(self) -> str:
        """The model's name as the agent sends it."""
        return str(self.value("model") or "")

    @property
    def previous(self) -> str | None:
        """The id of the reply that this request goes on from: the provider holds the history up to there."""
        key = self.wire.previous_key
        previous = None if key is None else self.value(key)
        return previous if isinstance(previous, str) else None

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools offered.

        Raises:
            MalformedError: they are not of this API.
        """
        raw = self.fields.get("tools")
        names = _tool_names(self.wire, bytes(raw)) if raw is not None else ()
        # Where the tools are no field of the body, they come before anything is said.
        return names or tuple(
            name for item in self.items[:_OPENING] for name in _offered_by(self.wire, bytes(item))
        )

    def with_fields(self, changed: Mapping[str, bytes]) -> Self:
        """The same with other values (JSON) for some keys; itself where nothing differs."""
        if all(key in self.fields and memoryview(self.fields[key]) == raw for key, raw in changed.items()):
            return self
        return type(self)(self.wire, {**self.fields, **changed}, self.items)

    def with_items(self, items: Iterable[msgspec.Raw | bytes]) -> Self:
        """The same with another history."""
        return type(self)(self.wire, self.fields, tuple(items))

    def encode(self) -> bytes:
        """The body: as it came, or with what was changed in its place."""
        if self.raw is not None:
            return self.raw
        parts = [part for key, value in self.fields.items() for part in self._of(key, value)]
        if not parts:
            return b"{}"
        parts[0], parts[-1] = b"{" + parts[0], bytes(parts[-1]) + b"}"
        return b",".join(parts)  # at once: a history may have megabytes

    def _of(self, key: str, value: msgspec.Raw | bytes) -> Sequence[msgspec.Raw | bytes]:
        """A field in parts, between which stand commas."""
        name = orjson.dumps(key) + b":"
        if key != self.wire.history_key or not self.items:
            return [name + bytes(value)]
        items = [name + b"[" + bytes(self.items[0]), *self.items[1:]]
        items[-1] = bytes(items[-1]) + b"]"
        return items


def with_model(raw: bytes, model: str) -> bytes:
    """A request beside the calls of a model, such as one for a count of tokens, about the model ``model``.

    Raises:
        MalformedError: it is no JSON object.
    """
    try:
        fields = _FIELDS.decode(raw)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise MalformedError(f"the request is no JSON object: {error}") from None
    return msgspec.json.encode({**fields, "model": model})


def _see_that_it_is_text(raw: bytes) -> None:
    """Taking a body apart does not look into its strings.

    Raises:
        UnicodeDecodeError: it is not UTF-8.
    """
    if raw.isascii():
        return
    decoder = getincrementaldecoder("utf-8")()
    for at in range(0, len(raw), _PIECE):  # as one string a body may take four times its bytes
        decoder.decode(raw[at : at + _PIECE])
    decoder.decode(b"", final=True)


@lru_cache(maxsize=64)
def _offered_by(wire: Wire, raw: bytes) -> tuple[str, ...]:
    try:
        return tuple(wire.offered_by(orjson.loads(raw)))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return ()  # whoever reads the history says what is wrong with it


@lru_cache(maxsize=64)
def _tool_names(wire: Wire, raw: bytes) -> tuple[str, ...]:
    """An agent offers the same tools, often 100 KB of them, with each of its requests."""
    try:
        return tuple(name for tool in orjson.loads(raw) or () for name in wire.tool_name(tool))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedError(f"the tools of a {wire.name} request cannot be read: {error}") from None
