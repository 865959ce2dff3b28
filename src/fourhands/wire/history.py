"""The history of one thread as of its last request: each next request is read by what is new in it alone."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import msgspec
import orjson

from fourhands.wire.types import ActionResult, Item, MalformedError, Role, Wire

__all__ = ["History", "News", "text_call"]


@dataclass(frozen=True, slots=True)
class News:
    """What a request adds to its thread's history: from item ``start`` on.

    ``renamed`` are calls of results that go by another name since the history was shortened; ``None`` for those that
    it no longer holds.
    """

    start: int
    results: tuple[ActionResult, ...]
    renamed: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An item as it was taken in. ``calls`` and ``results`` hold pairs of the id and its numbered name."""

    role: Role
    calls: tuple[tuple[str, str], ...]
    results: tuple[tuple[str, str], ...]


class _Names:
    """Ids of a history, told apart where one comes again: ``a, b, a`` becomes ``a, b, a#2``."""

    def __init__(self) -> None:
        self.place: dict[str, int] = {}
        """Numbered name -> index of the item it stands in."""
        self._times: Counter[str] = Counter()

    def add(self, given: str, index: int) -> str:
        """Take in the next id; its name."""
        self._times[given] += 1
        times = self._times[given]
        name = _numbered(given, times)
        self.place[name] = index
        return name

    def names(self, given: str) -> list[str]:
        """The names under which an id stands, in order."""
        return [_numbered(given, times) for times in range(1, self._times[given] + 1)]

    def remove(self, given: str, name: str) -> None:
        """Take back the last of the ids."""
        self._times[given] -= 1
        del self.place[name]


class History:
    """An agent sends its whole history with every request; what it sent before is recognised, not read again."""

    def __init__(self, wire: Wire, *, text_actions: bool = False) -> None:
        """Empty.

        Args:
            wire: that all requests of the thread speak.
            text_actions: the agent offers no tools: a reply's text is the action, and the user's turn behind it
                the result.
        """
        self._wire = wire
        self._text_actions = text_actions
        self._items: tuple[msgspec.Raw | bytes, ...] = ()
        self._entries: list[_Entry] = []
        self._called = _Names()
        self._answered = _Names()
        self.replies = 0
        """Turns of the model."""

    def take(self, items: Sequence[msgspec.Raw | bytes]) -> News:
        """Go on to the history of the thread's next request.

        Raises:
            MalformedError: an item is none of this API; then nothing has changed.
        """
        new = tuple(items)
        kept = _common(self._items, new)
        read = [self._read(raw) for raw in new[kept:]]
        before = {given: self._answered.names(given) for given in self._results_from(kept)}
        while len(self._entries) > kept:
            self._drop()
        results = [result for item in read for result in self._add(item)]
        self._items = new
        renamed = {
            old: new
            for given, names in before.items()
            for old, new in _renamed(names, self._answered.names(given))
            if old != new
        }
        return News(kept, tuple(results), renamed)

    def _results_from(self, start: int) -> set[str]:
        return {given for entry in self._entries[start:] for given, _ in entry.results}

    @property
    def length(self) -> int:
        """Items, as the agent sent them."""
        return len(self._entries)

    def forget(self) -> None:
        """Begin anew: the provider holds what came before."""
        self._items, self._entries, self.replies = (), [], 0
        self._called, self._answered = _Names(), _Names()

    def has_called(self, names: Iterable[str]) -> bool:
        """Whether the history holds one of these calls."""
        return any(name in self._called.place for name in names)

    def called_from(self, start: int) -> list[tuple[str, str]]:
        """The calls, as pairs of id and name, of the model's turn that begins with item ``start``."""
        calls: list[tuple[str, str]] = []
        for entry in self._entries[start:]:
            if entry.role != "model":
                break
            calls += entry.calls
        return calls

    def role(self, index: int) -> Role:
        """Whose item ``index`` is."""
        return self._entries[index].role

    def behind(self, batch: Sequence[str]) -> int | None:
        """The index of the last of the results that follow at once the last result of ``batch``.

        For an empty batch, that of the user's first words; ``None`` where there is no such place.
        """
        if not batch:
            return self._first_words()
        found = [self._answered.place[call] for call in batch if call in self._answered.place]
        return self._last_of_run(max(found), "results") if found else None

    def last_batch(self) -> tuple[str, ...]:
        """The calls whose results stand last in the history."""
        names: list[str] = []
        for entry in reversed(self._entries):
            if entry.role == "results":
                names[:0] = [name for _, name in entry.results]
            elif names:
                break
        return tuple(names)

    def next_names(self, ids: Sequence[str]) -> tuple[str, ...]:
        """The names that new calls are going to have in the next request."""
        taken: set[str] = set()
        names = []
        for given in ids:
            candidates = (_numbered(given, times) for times in count(1))
            name = next(each for each in candidates if each not in taken and each not in self._called.place)
            taken.add(name)
            names.append(name)
        return tuple(names)

    def _first_words(self) -> int | None:
        first = next((at for at, entry in enumerate(self._entries) if entry.role == "user"), None)
        return None if first is None else self._last_of_run(first, "user")

    def _last_of_run(self, at: int, role: Role) -> int:
        while at + 1 < len(self._entries) and self._entries[at + 1].role == role:
            at += 1
        return at

    def _read(self, raw: msgspec.Raw | bytes) -> Item:
        try:
            return self._wire.item(orjson.loads(memoryview(raw)))
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            raise MalformedError(f"not an item of a {self._wire.name} request: {error}") from None

    def _add(self, item: Item) -> list[ActionResult]:
        index = len(self._entries)
        before = self._entries[-1] if self._entries else None
        calls, results, role = item.calls, item.results, item.role
        if self._text_actions and role == "model":
            calls = (text_call(item.text),)
        elif self._text_actions and role == "user" and before and before.role == "model" and before.calls:
            results, role = ((before.calls[-1][0], item.text),), "results"
        if role == "model" and (before is None or before.role != "model"):
            self.replies += 1
        named = [(given, self._answered.add(given, index)) for given, _ in results]
        called = tuple((given, self._called.add(given, index)) for given in calls)
        self._entries.append(_Entry(role, called, tuple(named)))
        return [
            ActionResult(name, text, given) for (given, name), (_, text) in zip(named, results, strict=True)
        ]

    def _drop(self) -> None:
        entry = self._entries.pop()
        if entry.role == "model" and (not self._entries or self._entries[-1].role != "model"):
            self.replies -= 1
        for given, name in reversed(entry.calls):
            self._called.remove(given, name)
        for given, name in reversed(entry.results):
            self._answered.remove(given, name)


def text_call(text: str) -> str:
    """The id of an action that stands in a reply's text, as agents without tools send it."""
    return f"text-{hashlib.sha256(text.strip().encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def _numbered(given: str, times: int) -> str:
    return given if times == 1 else f"{given}#{times}"


def _renamed(before: Sequence[str], now: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Names of one id before and after a history was shortened: it is shortened from its start."""
    gone = max(len(before) - len(now), 0)
    for at, name in enumerate(before):
        yield name, now[at - gone] if at >= gone else None


def _common(before: Sequence[msgspec.Raw | bytes], now: Sequence[msgspec.Raw | bytes]) -> int:
    """How many items at the start of two histories are equal."""
    length = min(len(before), len(now))
    if before == now[: len(before)]:
        return length
    return next(
        (at for at, (old, new) in enumerate(zip(before, now, strict=False)) if old != new),
        length,
    )
