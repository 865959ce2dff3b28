"""What the three APIs have in common for one who answers: a conversation read and checked, and an answer to write.

Reading is as strict as the strictest provider: a request that is out of order is refused, so that nothing that
stands between agent and model can damage a history unseen.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

import orjson

from fourhands.wire.types import Json

__all__ = [
    "Answer",
    "Asked",
    "Call",
    "ModelTurn",
    "RefusedError",
    "ServedWire",
    "Tool",
    "ToolKind",
    "ToolUse",
    "UserTurn",
    "halves",
    "is_users_word",
    "marks_of",
    "measure",
    "parse_arguments",
    "reply_key",
    "sign",
    "sse",
    "tokens",
    "use_ids",
]

ToolKind = Literal["function", "custom", "local_shell"]
_BYTES_A_TOKEN: Final = 4
_WRAPPED: Final = re.compile(r"\s*<([A-Za-z][\w-]*)>.*</\1>\s*", re.DOTALL)
_USE_ID: Final = re.compile(r"[a-z]+_([a-z]*)\d+_[0-9a-f]{12}")


class RefusedError(ValueError):
    """A request that a provider answers with 400; the message is what it says."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that is offered. ``schema`` is the JSON schema of its arguments; a custom tool takes plain text."""

    name: str
    schema: Mapping[str, Any]
    description: str = ""
    kind: ToolKind = "function"
    namespace: str = ""

    @property
    def properties(self) -> Mapping[str, Any]:
        """Argument -> its schema."""
        found = self.schema.get("properties")
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the history. ``arguments`` is the object, or the text where it is none."""

    id: str
    tool: str
    arguments: Json | str


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """One reply of the model with the results of its calls, by id."""

    text: str
    calls: tuple[Call, ...] = ()
    results: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A word of the user, without what an agent's client adds of its own."""

    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, read and checked.

    ``instructions`` are the texts before the model's first reply, ``turns`` what came since. ``digest`` tells
    requests with different histories apart. ``tokens`` counts all of the input, ``seen_tokens`` the part of it that
    stood in the request before this one. ``thinks`` says that reasoning is asked for; ``form`` is the JSON schema
    that the answer must have, if one is given.
    """

    tools: tuple[Tool, ...]
    instructions: tuple[str, ...]
    turns: tuple[ModelTurn | UserTurn, ...]
    digest: str
    tokens: int
    seen_tokens: int
    thinks: bool = False
    form: Mapping[str, Any] | None = None

    @property
    def replies(self) -> int:
        """How often the model has spoken."""
        return sum(isinstance(turn, ModelTurn) for turn in self.turns)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call to make; ``mark`` goes into its id, so that it is known again in a later request."""

    tool: Tool
    arguments: Json | str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model says: ``reasoning`` is sent only where it was asked for."""

    text: str
    uses: tuple[ToolUse, ...] = ()
    reasoning: str = ""


class ServedWire(Protocol):
    """One model API as its provider speaks it."""

    @property
    def path(self) -> str:
        """Below ``/v1``, without a slash in front."""
        ...

    @property
    def count_path(self) -> str | None:
        """Where it counts the tokens of a request, if the API does that."""
        ...

    def read(self, body: Json) -> Asked:
        """Read a request and check its order.

        Raises:
            RefusedError: the provider would answer 400.
        """
        ...

    def reply(self, body: Json, asked: Asked, answer: Answer) -> Json:
        """The whole response; a pure function of its arguments."""
        ...

    def stream(self, body: Json, reply: Json) -> Iterator[bytes]:
        """The same response as server-sent events, one by one."""
        ...

    def count(self, asked: Asked) -> Json:
        """The answer to a request to count its tokens."""
        ...

    def refusal(self, message: str, kind: str = "invalid_request_error") -> Json:
        """An error body."""
        ...


def is_users_word(text: str) -> bool:
    """Whether a text of a user's turn is what a person says, and not a note of the agent's own client.

    Clients put their notes into an element (``<system-reminder>``, ``<environment_context>``); so do some with what
    the user said meanwhile, and say so.
    """
    if not text.strip():
        return False
    return not _WRAPPED.fullmatch(text) or "user sent" in text


def parse_arguments(raw: str) -> Json | str:
    """The arguments of a call as an object, or the text as it is."""
    try:
        parsed = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return raw
    return parsed if isinstance(parsed, dict) else raw


def tokens(data: bytes | str) -> int:
    """About as many tokens as a model's own tokenizer finds."""
    return len(data if isinstance(data, bytes) else data.encode("utf-8", "replace")) // _BYTES_A_TOKEN


def measure(fixed: Sequence[Any], items: Sequence[Any], seen: int) -> tuple[str, int, int]:
    """Digest and tokens of a prompt, and the tokens that a cache has of it.

    Args:
        fixed: what stands in front of the history: system prompt, tools.
        items: the history.
        seen: how many of them stood in the request before; with none, nothing has been seen.
    """
    front, history = orjson.dumps(fixed), orjson.dumps(items)
    before = len(front) + len(orjson.dumps(items[:seen])) if seen else 0
    return (
        hashlib.sha256(history).hexdigest(),
        (len(front) + len(history)) // _BYTES_A_TOKEN,
        before // _BYTES_A_TOKEN,
    )


def use_ids(prefix: str, asked: Asked, answer: Answer, mark: str = "") -> list[str]:
    """An id for each call of an answer: the same for the same request, different between replies.

    Args:
        prefix: as the API has it.
        asked: the request.
        answer: the reply to it.
        mark: letters that go into all of them, before the use's own; see `marks_of`.
    """
    key = f"{asked.replies}_{asked.digest[:12]}"
    return [
        f"{prefix}_{mark}{use.mark}{key}" + (f"_{index}" if index else "")
        for index, use in enumerate(answer.uses)
    ]


def marks_of(call_id: str) -> str:
    """The letters that `use_ids` put into an id; none for an id from elsewhere."""
    found = _USE_ID.match(call_id)
    return found[1] if found else ""


def reply_key(call_id: str) -> str:
    """What the ids of all calls of one reply have in common."""
    return "_".join(call_id.split("_")[:3])


def sign(*parts: str) -> str:
    """A signature that only its own text fits: who changes a reasoning block is found out, without any memory."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()


def halves(text: str) -> Iterable[str]:
    """A text in the pieces in which it is streamed."""
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


def sse(data: Json, *, event: str | None = None) -> bytes:
    """A server-sent event."""
    name = f"event: {event}\n".encode() if event else b""
    return name + b"data: " + orjson.dumps(data) + b"\n\n"
