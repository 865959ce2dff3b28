"""Recorded replies as a cassette: a file fit for a repository.

It is JSON lines. What requests have in common stands once, so that a line is new text. In requests, nothing is of the
machine or of the day they were made; answers are as they came, but for secrets.

    {"kind": "fourhands cassette", "schema": 1}
    {"value": …}                                                   a long value, named by its line's number from 1
    {"trial": …, "request": {KEY: V}, "history": {…}, …}           an exchange: `Recorded`

where V is ``{"is": value}`` or ``{"line": n}``, and a history ``{"after": n, "first": k, "items": [V, …]}``: the
first k items of the history in line n, and then these; without ``after``, these alone.
"""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from typing import Annotated, Any, Final, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fourhands.model.errors import InputError
from fourhands.trajectories.recording import Recorded, Recordings, read_run
from fourhands.trajectories.run_folder import write_atomically

__all__ = ["read_recordings", "write_cassette"]

_SCHEMA: Final = 1
_KIND: Final = "fourhands cassette"
_SHARED: Final = 120
"""Bytes of a value from which on it is worth a line of its own."""
_LOOK_BACK: Final = 16
"""Exchanges of the same trial among which a history's beginning is looked for: one a thread is enough."""


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Shown(_Line):
    """A value as it is, or by the line it stands in."""

    is_: Annotated[Any, Field(alias="is")] = None
    line: int | None = None

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if len(self.model_fields_set) != 1:
            raise ValueError("takes either 'is' or 'line'")
        return self


class _History(_Line):
    after: int | None = None
    first: Annotated[int, Field(ge=1)] | None = None
    items: list[_Shown]

    @model_validator(mode="after")
    def _is_told_how_much(self) -> Self:
        if (self.after is None) is not (self.first is None):
            raise ValueError("takes 'after' and 'first' together")
        return self


class _Exchange(_Line):
    trial: Annotated[str, Field(min_length=1)]
    number: Annotated[int, Field(ge=1)]
    thread: str
    side: bool
    wire: str
    request: dict[str, _Shown]
    history_key: str
    history: _History
    status: Annotated[int, Field(ge=0, le=999)]
    content_type: str
    whole: bool
    response: str | None = None
    response_base64: str | None = None

    @model_validator(mode="after")
    def _has_one_response(self) -> Self:
        if (self.response is None) is (self.response_base64 is None):
            raise ValueError("takes either 'response' or 'response_base64'")
        return self


class _Value(_Line):
    value: Any


def read_recordings(source: Path) -> Recordings:
    """The exchanges of every trial that has any.

    Args:
        source: a run's folder, or a cassette.

    Raises:
        InputError: it is neither, or holds no exchange; names the file and the line.
    """
    if not source.exists():
        raise InputError(f"{source}: there is no such run, and no such cassette")
    recordings = _Reader(source).read() if source.is_file() else read_run(source)
    if not recordings:
        raise InputError(f"{source}: there is no exchange with a model in it: record a run first")
    return recordings


def write_cassette(run: Path, path: Path) -> int:
    """Write a run's exchanges as a cassette; how many there are. The same run gives the same bytes.

    Raises:
        InputError: ``run`` is no run, or has no exchange.
    """
    recordings = read_recordings(run)
    writer = _Writer()
    for slug in sorted(recordings):
        writer.add(slug, recordings[slug])
    write_atomically(path, b"".join(line + b"\n" for line in writer.lines))
    return sum(map(len, recordings.values()))


class _Writer:
    """The lines of a cassette; values that come again are named by their line's number."""

    def __init__(self) -> None:
        self.lines: list[bytes] = [orjson.dumps({"kind": _KIND, "schema": _SCHEMA})]
        self._known: dict[bytes, int] = {}

    def add(self, slug: str, exchanges: tuple[Recorded, ...]) -> None:
        """Append the exchanges of one trial."""
        before: list[tuple[int, Recorded]] = []
        for recorded in exchanges:
            line = {
                "trial": slug,
                "number": recorded.number,
                "thread": recorded.thread,
                "side": recorded.side,
                "wire": recorded.wire,
                "request": {key: self._shown(value) for key, value in recorded.request.items()},
                "history_key": recorded.history_key,
                "history": self._history(recorded.history, before[-_LOOK_BACK:]),
                "status": recorded.status,
                "content_type": recorded.content_type,
                "whole": recorded.whole,
                **_body_json(recorded.response),
            }
            self.lines.append(orjson.dumps(line))
            before.append((len(self.lines), recorded))

    def _history(self, history: tuple[Any, ...], before: list[tuple[int, Recorded]]) -> dict[str, Any]:
        kept = [(_common(recorded.history, history), line) for line, recorded in before]
        first, after = max(kept, default=(0, 0))
        items = {"items": [self._shown(item) for item in history[first:]]}
        return {"after": after, "first": first, **items} if first else items

    def _shown(self, value: Any) -> dict[str, Any]:
        raw = orjson.dumps(value)
        if len(raw) < _SHARED:
            return {"is": value}
        if raw not in self._known:
            self.lines.append(orjson.dumps({"value": value}))
            self._known[raw] = len(self.lines)
        return {"line": self._known[raw]}


class _Reader:
    """Reads a cassette; what stands in one line is one object, in however many requests it comes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._values: dict[int, Any] = {}
        self._histories: dict[int, tuple[Any, ...]] = {}
        self._found: dict[str, dict[int, Recorded]] = {}

    def read(self) -> Recordings:
        """All of it.

        Raises:
            InputError: a line is none of a cassette.
        """
        first, *rest = self._path.read_bytes().splitlines() or [b""]
        self._see_that_it_is_one(first)
        for number, raw in enumerate(rest, start=2):
            try:
                self._take(number, _line(orjson.loads(raw)))
            except ValidationError as error:
                problem = error.errors()[0]
                field = ".".join(map(str, problem["loc"])) or "the line"
                said = problem["msg"].removeprefix("Value error, ")
                raise InputError(f"{self._path}:{number}: {field}: {said}") from None
            except ValueError as error:
                raise InputError(f"{self._path}:{number}: not a line of a cassette: {error}") from None
        return {slug: tuple(exchanges.values()) for slug, exchanges in self._found.items()}

    def _take(self, number: int, line: _Exchange | _Value) -> None:
        if isinstance(line, _Value):
            self._values[number] = line.value
            return
        exchanges = self._found.setdefault(line.trial, {})
        if line.number in exchanges:
            raise ValueError(f"request {line.number} of {line.trial} stands there twice")
        exchanges[line.number] = self._recorded(number, line)

    def _see_that_it_is_one(self, first: bytes) -> None:
        try:
            head = orjson.loads(first)
        except ValueError:
            head = None
        if not isinstance(head, dict) or head.get("kind") != _KIND:
            raise InputError(f'{self._path}:1: not a cassette: one begins with {{"kind":"{_KIND}", …}}')
        if head.get("schema") != _SCHEMA:
            raise InputError(
                f"{self._path}:1: schema {head.get('schema')!r} is not known here, where it is {_SCHEMA}: write the "
                "cassette anew from its run, or replay it with the version that wrote it"
            )

    def _recorded(self, number: int, line: _Exchange) -> Recorded:
        history: tuple[Any, ...] = tuple(self._value(item) for item in line.history.items)
        if line.history.after is not None:
            before = self._histories.get(line.history.after)
            if before is None or line.history.first is None or len(before) < line.history.first:
                raise ValueError(
                    f"history.after: no history of {line.history.first} items in line {line.history.after} above"
                )
            history = before[: line.history.first] + history
        self._histories[number] = history
        return Recorded(
            number=line.number,
            thread=line.thread,
            side=line.side,
            wire=line.wire,
            request={key: self._value(shown) for key, shown in line.request.items()},
            history_key=line.history_key,
            history=history,
            status=line.status,
            content_type=line.content_type,
            response=_body(line),
            whole=line.whole,
        )

    def _value(self, shown: _Shown) -> Any:
        if shown.line is None:
            return shown.is_
        if shown.line not in self._values:
            raise ValueError(f"no value stands in line {shown.line} above")
        return self._values[shown.line]


def _line(raw: Any) -> _Exchange | _Value:
    """A line of one kind or the other; what is wrong with it is said of that kind."""
    if not isinstance(raw, dict):
        raise ValueError("it is no object")
    return _Value.model_validate(raw) if "value" in raw else _Exchange.model_validate(raw)


def _common(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
    """How many items two histories have in common from the start."""
    for index, (left, right) in enumerate(zip(one, other, strict=False)):
        if left is not right and left != right:
            return index
    return min(len(one), len(other))


def _body_json(body: bytes) -> dict[str, str]:
    """As text where it is text, so that a change of it can be read."""
    try:
        return {"response": body.decode()}
    except UnicodeDecodeError:
        return {"response_base64": base64.b64encode(body).decode()}


def _body(line: _Exchange) -> bytes:
    if line.response is not None:
        return line.response.encode()
    try:
        return base64.b64decode(line.response_base64 or "", validate=True)
    except binascii.Error as error:
        raise ValueError(f"response_base64: {error}") from None
