"""What the user has said: where in the main loop's history each message stands, and which requests carried it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fourhands.model.event import EventKind
from fourhands.wire.document import Document
from fourhands.wire.history import History
from fourhands.wire.inserting import insert
from fourhands.wire.types import Insertion

__all__ = ["SpokenMessages"]


@dataclass(slots=True)
class _Message:
    """A message as it stands.

    ``is_adrift`` says that it has no place yet, and waits for the main loop's next actions.
    ``is_moved`` says that it was put behind the user's first words, where a shortened history has lost its place.
    """

    insertion: Insertion
    is_adrift: bool
    first: int = 0
    last: int = 0
    requests: int = 0
    is_lost: bool = False
    is_moved: bool = False


class SpokenMessages:
    """The agent's own history lacks them: they are put into each of its requests again, at the same place."""

    def __init__(self, emit: Callable[[EventKind, dict[str, Any]], None]) -> None:
        """Nothing was said yet; ``emit`` records what becomes of a message, as the harness's doing."""
        self._emit = emit
        self._messages: dict[str, _Message] = {}
        self._held: dict[str, frozenset[str]] = {}
        """Reply id -> messages that the provider's own copy of the history up to it holds."""

    def add(self, text: str, batch: tuple[str, ...], *, adrift: bool) -> str:
        """Say ``text`` behind the results of ``batch``, or wherever the main loop is next; the message's id."""
        name = f"m{len(self._messages) + 1}"
        self._messages[name] = _Message(Insertion(name, batch, text), adrift)
        return name

    def put_into(self, document: Document, history: History, number: int) -> tuple[Document, frozenset[str]]:
        """The request with all messages in it, and the ids of those that the model is told with it.

        Args:
            document: a request of the main loop.
            history: of the main loop, which has taken in this request.
            number: the request's.
        """
        if batch := history.last_batch():
            self.moor(batch)
        held = self._held.get(document.previous or "", frozenset())
        due = [
            each for each in self._messages.values() if not each.is_adrift and each.insertion.id not in held
        ]
        placed = list(self._placed(due, document, history, number))
        spoken, carried = insert(document, history, placed)
        told = held.union(carried)
        for message in due:
            if message.insertion.id not in told and not message.is_lost:
                message.is_lost = True
                self._emit(EventKind.MESSAGE_LOST, {"message": message.insertion.id, "request": number})
        for name in [*carried, *sorted(held)]:
            self._note_carried(name, number)
        return spoken, told

    def _placed(
        self, due: Iterable[_Message], document: Document, history: History, number: int
    ) -> Iterator[Insertion]:
        for message in due:
            if history.behind(message.insertion.batch) is not None:
                message.is_moved = message.insertion.batch == ()
                yield message.insertion
            elif document.previous is None:
                if not message.is_moved:
                    self._note_moved(message, number)
                yield replace(message.insertion, batch=())

    def _note_moved(self, message: _Message, number: int) -> None:
        message.is_moved = True
        note = {"note": "message_reinserted", "message": message.insertion.id, "request": number}
        self._emit(EventKind.NOTE, note)

    def _note_carried(self, name: str, number: int) -> None:
        message = self._messages[name]
        message.last, message.is_lost = number, False
        message.requests += 1
        if message.requests == 1:
            message.first = number
            self._emit(EventKind.MESSAGE_CARRIED, {"message": name, "first_request": number})

    def moor(self, batch: tuple[str, ...]) -> None:
        """Let messages that have no place yet stand behind ``batch``."""
        for name, message in self._messages.items():
            if message.is_adrift:
                message.insertion = replace(message.insertion, batch=batch)
                message.is_adrift = False
                note = {"note": "message_moved", "message": name, "anchor": list(batch)}
                self._emit(EventKind.NOTE, note)

    def drop(self, batch: Sequence[str]) -> None:
        """The actions of ``batch`` were never taken up: what stood behind them waits for the next ones."""
        for message in self._messages.values():
            if batch and message.insertion.batch == tuple(batch):  # a reply in words alone has none behind it
                message.is_adrift = True

    def rename(self, names: Mapping[str, str | None], number: int) -> None:
        """Follow a history whose calls go by other names now; ``None`` for those that it no longer holds."""
        if not names:
            return
        for message in self._messages.values():
            batch = message.insertion.batch
            renamed = tuple(new for name in batch if (new := names.get(name, name)) is not None)
            if batch and not renamed and not message.is_adrift and not message.is_moved:
                self._note_moved(message, number)
            message.insertion = replace(message.insertion, batch=renamed)

    def hold(self, reply: str, told: frozenset[str]) -> None:
        """The provider's copy of the history up to ``reply`` holds these messages."""
        self._held[reply] = told

    def carried(self) -> Iterator[dict[str, Any]]:
        """Of each message that was carried: the first and the last request, and how many."""
        for name, message in self._messages.items():
            if message.requests:
                yield {
                    "message": name,
                    "first_request": message.first,
                    "last_request": message.last,
                    "requests": message.requests,
                }
