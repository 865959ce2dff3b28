"""The recorded exchanges of one trial, each given back once: a request's twin is found, or how it differs shown."""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import orjson

from fourhands.gateway.difference import difference
from fourhands.trajectories.normalising import LEFT_OUT, normalised
from fourhands.trajectories.recording import Recorded
from fourhands.wire.document import Document

__all__ = ["Divergence", "Tape", "Unasked"]

_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Divergence:
    """A request that differs from the recorded one: ``request`` counts those that were replayed, from 1.

    ``expected`` is the recorded request's number, ``None`` when none was left.
    """

    request: int
    expected: int | None
    diff: str


@dataclass(frozen=True, slots=True)
class Unasked:
    """Recorded requests that were not made again.

    ``requests`` are their numbers; ``steps`` those of the agent's loop or its sub-agents that had an answer: an
    agent that went the same way would have made them. ``diff`` shows the first of these (or of all) against the
    last request that was made.
    """

    asked: int
    requests: tuple[int, ...]
    steps: tuple[int, ...]
    diff: str


class Tape:
    """Nothing but `find` goes on with it; from a divergence on it has nothing more to give."""

    def __init__(self, recorded: Sequence[Recorded]) -> None:
        """Put it to its beginning."""
        self._digests = _Digests()
        self._recorded = {each.number: each for each in recorded}
        self._twins = {number: self._digests.of_recorded(each) for number, each in self._recorded.items()}
        self.rewind()

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models that were asked."""
        return tuple(dict.fromkeys(str(each.request.get("model", "")) for each in self._recorded.values()))

    def rewind(self) -> None:
        """All of it is there again."""
        self.divergence: Divergence | None = None
        self._asked = 0
        self._last: Recorded | None = None
        self._left: defaultdict[bytes, deque[int]] = defaultdict(deque)
        for number, digest in self._twins.items():
            self._left[digest].append(number)

    def find(self, document: Document) -> Recorded | Divergence:
        """The recorded exchange that begins with this request, or how it differs from the one it is most like."""
        if self.divergence is not None:
            return self.divergence
        self._asked += 1
        twins = self._left.get(self._digests.of_document(document))
        if twins:
            self._last = self._recorded[twins.popleft()]
            return self._last
        self.divergence = self._diverged(document)
        return self.divergence

    def _diverged(self, document: Document) -> Divergence:
        request, history = _comparable(document)
        left = self._numbers_left()
        # Where none is left, one that was given back already shows what was asked in addition.
        nearest = self._nearest(request, history, left or list(self._recorded))
        name = f"recorded as request {nearest.number}{'' if left else ', given back already'}"
        diff = difference(
            name, (nearest.request, nearest.history), (request, history), document.wire.history_key
        )
        again = f"the same as what was {name}, once more than it was made then"
        return Divergence(self._asked, nearest.number if left else None, diff or again)

    def unasked(self) -> Unasked | None:
        """What is left, once the agent has gone."""
        left = [self._recorded[number] for number in self._numbers_left()]
        if self.divergence is not None or not left:
            return None
        steps = [each for each in left if not each.side and each.status == _OK and each.whole]
        first = (steps or left)[0]
        last: tuple[Mapping[str, Any], Sequence[Any]] = (
            (self._last.request, self._last.history) if self._last else ({}, ())
        )
        name = f"recorded as request {first.number}, never asked for"
        diff = difference(name, (first.request, first.history), last, first.history_key)
        numbers, of_steps = (tuple(each.number for each in some) for some in (left, steps))
        return Unasked(self._asked, numbers, of_steps, diff)

    def _numbers_left(self) -> list[int]:
        return sorted(number for twins in self._left.values() for number in twins)

    def _nearest(
        self, request: Mapping[str, Any], history: Sequence[Any], numbers: Sequence[int]
    ) -> Recorded:
        """The one whose history begins most alike, and of these the first: a thread goes on in its own order."""

        def likeness(each: Recorded) -> tuple[int, bool, int]:
            same = 0
            for then, now in zip(each.history, history, strict=False):
                if then != now:
                    break
                same += 1
            return same, each.request.get("tools") == request.get("tools"), -each.number

        return max((self._recorded[number] for number in numbers), key=likeness)


class _Digests:
    """Digests of requests as they can be compared.

    An agent sends its whole history with every request: a value that came before is looked up by its bytes, and
    an object that recorded requests share by itself.
    """

    def __init__(self) -> None:
        self._by_bytes: dict[bytes, bytes] = {}
        self._by_object: dict[int, bytes] = {}

    def of_recorded(self, recorded: Recorded) -> bytes:
        request = {key: self._of_object(value) for key, value in recorded.request.items()}
        return _together(request, [self._of_object(item) for item in recorded.history])

    def of_document(self, document: Document) -> bytes:
        request = {key: self._of_bytes(raw) for key, raw in _fields(document).items()}
        return _together(request, [self._of_bytes(item) for item in document.items])

    def _of_object(self, value: Any) -> bytes:
        if not isinstance(value, list | dict):
            return _digest(value)
        # Recordings live as long as their tape: no other object can come to have the same address.
        if id(value) not in self._by_object:
            self._by_object[id(value)] = _digest(value)
        return self._by_object[id(value)]

    def _of_bytes(self, raw: msgspec.Raw | bytes) -> bytes:
        key = hashlib.blake2b(memoryview(raw), digest_size=16).digest()
        if key not in self._by_bytes:
            self._by_bytes[key] = _digest(normalised(orjson.loads(memoryview(raw))))
        return self._by_bytes[key]


def _together(request: Mapping[str, bytes], history: Sequence[bytes]) -> bytes:
    whole = hashlib.sha256()
    for key in sorted(request):
        whole.update(_digest(key) + request[key])
    whole.update(_digest(len(history)) + b"".join(history))
    return whole.digest()


def _digest(value: Any) -> bytes:
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).digest()


def _fields(document: Document) -> dict[str, msgspec.Raw | bytes]:
    """The body's values that are compared, without a history that has items."""
    apart = LEFT_OUT.keys() | ({document.wire.history_key} if document.items else set())
    return {key: raw for key, raw in document.fields.items() if key not in apart}


def _comparable(document: Document) -> tuple[dict[str, Any], list[Any]]:
    request = {key: normalised(orjson.loads(memoryview(raw))) for key, raw in _fields(document).items()}
    return request, [normalised(orjson.loads(memoryview(item))) for item in document.items]
