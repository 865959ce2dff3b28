"""What the three model APIs have in common, and the interface each of them fills.

A wire is pure: requests and responses in, facts or changed requests out. Adding an API is one file that
satisfies `Wire`, and one line in `fourhands.wire.registry`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fourhands.model.usage import Usage

__all__ = [
    "Action",
    "ActionResult",
    "Collector",
    "Insertion",
    "Json",
    "Reply",
    "Request",
    "Wire",
    "number_repeats",
]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call of the model. ``arguments`` is the parsed object, or the raw text when it is no JSON object.

    ``call_id`` is the model's own; a provider may use it again.
    """

    call_id: str
    tool: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What came back for a tool call, as the text the model reads; ``call`` is numbered as in `Request`."""

    call: str
    text: str


@dataclass(frozen=True, slots=True)
class Request:
    """What the gateway must know of a request.

    ``calls`` are the ids of all tool calls in the history, ``results`` all their results, both in order; an id
    that comes again is numbered (see `number_repeats`). ``replies`` counts the model's turns in the history.
    ``tools`` are the names offered; a request that offers none is a side request (a title, a token count).
    """

    model: str
    streamed: bool
    tools: tuple[str, ...]
    calls: tuple[str, ...]
    results: tuple[ActionResult, ...]
    replies: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered. ``usage`` is ``None`` when the provider did not tell."""

    text: str
    actions: tuple[Action, ...]
    usage: Usage | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Insertion:
    """A user's message, anchored behind all results of the batch of calls that ``batch`` names."""

    id: str
    batch: tuple[str, ...]
    text: str


def number_repeats(ids: Iterable[str]) -> list[str]:
    """Tell equal ids apart by their order: ``a, b, a`` becomes ``a, b, a#2``."""
    given = list(ids)
    # Nearly always: a history holds thousands, and each request brings all of them.
    if len(set(given)) == len(given):
        return given
    seen: Counter[str] = Counter()
    numbered = []
    for each in given:
        seen[each] += 1
        numbered.append(each if seen[each] == 1 else f"{each}#{seen[each]}")
    return numbered


class Collector(Protocol):
    """Folds the events of one streamed response."""

    def feed(self, data: bytes) -> bool:
        """Take the data of one server-sent event; say whether the agent, too, asked for it."""
        ...

    def reply(self) -> Reply:
        """What has been said so far."""
        ...


class Wire(Protocol):
    """One model API."""

    @property
    def name(self) -> str:
        """As events record it."""
        ...

    def parse_request(self, body: Json) -> Request:
        """Read a request.

        Raises:
            ValueError: the body is not of this API.
        """
        ...

    def prepare(self, body: Json, insertions: Sequence[Insertion]) -> tuple[Json, tuple[str, ...]]:
        """The request as it goes on: with all insertions that have their anchor, and usage asked for.

        ``body`` is left alone. Returns the new body and the ids of the insertions it carries.
        """
        ...

    def parse_reply(self, body: Json) -> Reply:
        """Read a whole response.

        Raises:
            ValueError: it holds no reply, whatever its status says.
        """
        ...

    def collector(self, request: Json) -> Collector:
        """A fold for the streamed response to ``request`` (the agent's own body, before `prepare`)."""
        ...

    def error(self, message: str) -> Json:
        """An error body as this API writes it."""
        ...
