"""What the three model APIs have in common, and the interface each of them fills.

A wire is pure: bytes of requests and responses in, facts or changed bytes out. Adding an API is one file that
satisfies `Wire`, and one line in `fourhands.wire.registry`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from fourhands.model.usage import Usage

__all__ = [
    "Action",
    "ActionResult",
    "Collector",
    "Insertion",
    "Item",
    "Json",
    "MalformedError",
    "Reply",
    "Role",
    "Wire",
]

Json = dict[str, Any]
Role = Literal["instructions", "user", "model", "results"]
"""Who speaks in an item of a history: ``results`` are what came back for the model's calls."""


class MalformedError(ValueError):
    """A request that is not of the API it was sent to: the agent's mistake, answered with 400."""


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
    """What came back for a tool call, as the text the model reads.

    ``given`` is the call's id, ``call`` the same numbered as in `History`.
    """

    call: str
    text: str
    given: str


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a history: a message, or, in Responses, also a call or its output.

    ``calls`` are the ids of the tool calls in it; ``results`` the ids and texts of what came back.
    """

    role: Role
    text: str = ""
    calls: tuple[str, ...] = ()
    results: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answered. ``usage`` is ``None`` when the provider did not tell.

    ``id`` is the provider's own, by which a later request may go on from this reply; empty if it told none.
    """

    text: str
    actions: tuple[Action, ...]
    usage: Usage | None
    complete: bool
    id: str = ""


@dataclass(frozen=True, slots=True)
class Insertion:
    """A user's message, anchored behind all results of the batch of calls that ``batch`` names.

    With an empty ``batch`` it stands behind the user's first words: where a history that was summarised has lost
    the calls.
    """

    id: str
    batch: tuple[str, ...]
    text: str


class Collector(Protocol):
    """Folds the events of one streamed response."""

    complete: bool
    """Whether all that the model says has come; an agent may go on from there."""
    ended: bool
    """Whether the API's last event has come, also one that tells of an error: an agent does not wait for more."""

    def feed(self, data: bytes) -> bool:
        """Take the data of one server-sent event; say whether the agent, too, asked for it."""
        ...

    def reply(self) -> Reply:
        """What has been said so far.

        Raises:
            ValueError, TypeError, AttributeError, LookupError: it is no reply of this API.
        """
        ...


class Wire(Protocol):
    """One model API; a value without state."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """As events record it."""
        ...

    @property
    def history_key(self) -> str:
        """The key of a request's body that holds the history, a list."""
        ...

    @property
    def takes_text(self) -> bool:
        """Whether a plain text may stand for the history."""
        ...

    @property
    def previous_key(self) -> str | None:
        """The key of a body that names the reply it goes on from, where the provider may hold the history."""
        ...

    def tool_name(self, tool: Json) -> Sequence[str]:
        """The names under which an entry of a request's ``tools`` offers something."""
        ...

    def offered_by(self, item: Json) -> Sequence[str]:
        """The names of the tools that an item of the history offers: some agents send them there."""
        ...

    def item(self, raw: Json) -> Item:
        """Read one item of a history.

        Raises:
            ValueError, TypeError, AttributeError: it is none of this API.
        """
        ...

    def say(self, behind: bytes, texts: Sequence[str]) -> Sequence[bytes]:
        """The items that stand in the place of the item ``behind`` once the user has said ``texts`` after it."""
        ...

    def ask_for_usage(self, fields: Mapping[str, Any]) -> Mapping[str, bytes]:
        """What to change in a body (key -> JSON) so that a streamed response tells its usage."""
        ...

    def parse_reply(self, body: Json) -> Reply:
        """Read a whole response.

        Raises:
            ValueError: it holds no reply, whatever its status says.
        """
        ...

    def collector(self, *, wants_usage: bool) -> Collector:
        """A fold for a streamed response; ``wants_usage`` says that the agent itself asked for the usage."""
        ...

    def error(self, message: str) -> Json:
        """An error body as this API writes it."""
        ...
