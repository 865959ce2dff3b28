"""Recorded replies of a model, trial by trial: from a run's folder, or from a cassette, a file fit for a repository.

A cassette is JSON lines. What requests have in common stands once, so that a line is new text; nothing in it is
secret (blobs hold no token, headers are not kept), of the machine, or of the day it was made.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from fourhands.model.errors import InputError
from fourhands.model.event import EventKind
from fourhands.trajectories.exchanges import read_exchange
from fourhands.trajectories.normalising import normalised
from fourhands.trajectories.run_folder import Attempt, RunFolder, write_atomically

__all__ = ["Recorded", "digest", "read_recordings", "write_cassette"]

_SCHEMA: Final = 1
_KIND: Final = "fourhands cassette"
_SHARED: Final = 120
"""Bytes of a value from which on it is worth a line of its own."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One exchange: a request in the form in which it can be compared, and the answer byte for byte.

    ``number`` is the request's in its trial; ``whole`` is false for an answer that broke off, and ``status`` 0 for
    one that never came.
    """

    number: int
    thread: str
    wire: str
    request: dict[str, Any]
    history_key: str
    status: int
    content_type: str
    response: bytes
    whole: bool


def read_recordings(source: Path) -> dict[str, tuple[Recorded, ...]]:
    """The exchanges of every trial that has any, by the trial's slug.

    Args:
        source: a run's folder, or a cassette.

    Raises:
        InputError: it is neither, or holds no exchange; names the file and the line.
    """
    recordings = dict(_of_cassette(source) if source.is_file() else _of_run(source))
    if not recordings:
        raise InputError(f"{source}: there is no exchange with a model in it: record a run first")
    return recordings


def write_cassette(run: Path, path: Path) -> int:
    """Write a run's exchanges as a cassette; how many there are.

    Raises:
        InputError: ``run`` is no run, or has no exchange.
    """
    recordings = read_recordings(run)
    lines = _Lines()
    for slug in sorted(recordings):
        for recorded in recordings[slug]:
            lines.add(slug, recorded)
    write_atomically(path, b"".join(line + b"\n" for line in lines.lines))
    return sum(map(len, recordings.values()))


def _of_run(path: Path) -> Iterator[tuple[str, tuple[Recorded, ...]]]:
    folder = RunFolder(path)
    for trial in folder.plan().trials:
        attempt = folder.final_attempt(trial.key)
        if attempt and (found := tuple(_of_attempt(attempt))):
            yield trial.key.slug, found


def _of_attempt(attempt: Attempt) -> Iterator[Recorded]:
    blobs = attempt.blobs
    for event in attempt.read().events:
        if event.kind is not EventKind.MODEL_CALLED:
            continue
        exchange = read_exchange(blobs.get, event.body["exchange"])
        yield Recorded(
            number=event.body["request"],
            thread=event.thread,
            wire=exchange.wire,
            request=normalised(exchange.request),
            history_key=exchange.history_key,
            status=exchange.status,
            content_type=exchange.content_type,
            response=exchange.response,
            whole=event.body["complete"] or not exchange.content_type.startswith("text/event-stream"),
        )


class _Lines:
    """A cassette as it is written: values that come again are named by their line's number."""

    def __init__(self) -> None:
        self.lines: list[bytes] = [orjson.dumps({"kind": _KIND, "schema": _SCHEMA})]
        self._known: dict[bytes, int] = {}

    def add(self, slug: str, recorded: Recorded) -> None:
        history = recorded.request.get(recorded.history_key)
        request: dict[str, Any] = {
            key: self._shared(value) for key, value in recorded.request.items() if value is not history
        }
        if isinstance(history, list):
            request[recorded.history_key] = {"list": [self._shared(item) for item in history]}
        elif history is not None:
            request[recorded.history_key] = self._shared(history)
        line = {
            "trial": slug,
            "number": recorded.number,
            "thread": recorded.thread,
            "wire": recorded.wire,
            "history_key": recorded.history_key,
            "request": request,
            "status": recorded.status,
            "content_type": recorded.content_type,
            "whole": recorded.whole,
            **_body_json(recorded.response),
        }
        self.lines.append(orjson.dumps(line))

    def _shared(self, value: Any) -> dict[str, Any]:
        """``{"line": n}`` for what stands in line n, ``{"is": value}`` for what is short."""
        raw = orjson.dumps(value)
        if len(raw) < _SHARED:
            return {"is": value}
        if raw not in self._known:
            self.lines.append(orjson.dumps({"value": value}))
            self._known[raw] = len(self.lines)
        return {"line": self._known[raw]}


def _of_cassette(path: Path) -> Mapping[str, tuple[Recorded, ...]]:
    values: dict[int, Any] = {}
    recordings: dict[str, list[Recorded]] = {}
    for number, line in enumerate(_lines(path), start=1):
        try:
            raw = orjson.loads(line)
            if number == 1:
                _see_that_it_is_one(raw)
            elif "value" in raw:
                values[number] = raw["value"]
            else:
                recordings.setdefault(raw["trial"], []).append(_recorded(raw, values))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"{path}:{number}: not a line of a cassette: {error}") from None
    return {slug: tuple(found) for slug, found in recordings.items()}


def _lines(path: Path) -> Iterable[bytes]:
    return path.read_bytes().splitlines()


def _see_that_it_is_one(head: Any) -> None:
    if head != {"kind": _KIND, "schema": _SCHEMA}:
        raise ValueError(f"the first line is {{'kind': {_KIND!r}, 'schema': {_SCHEMA}}}")


def _recorded(raw: dict[str, Any], values: Mapping[int, Any]) -> Recorded:
    def value(given: dict[str, Any]) -> Any:
        if "list" in given:
            return [value(each) for each in given["list"]]
        return given["is"] if "is" in given else values[given["line"]]

    return Recorded(
        number=raw["number"],
        thread=raw["thread"],
        wire=raw["wire"],
        request={key: value(given) for key, given in raw["request"].items()},
        history_key=raw["history_key"],
        status=raw["status"],
        content_type=raw["content_type"],
        response=_body(raw),
        whole=raw["whole"],
    )


def _body_json(body: bytes) -> dict[str, str]:
    """As text where it is text, so that a change of it can be read."""
    try:
        return {"response": body.decode()}
    except UnicodeDecodeError:
        return {"response_base64": base64.b64encode(body).decode()}


def _body(raw: dict[str, Any]) -> bytes:
    return raw["response"].encode() if "response" in raw else base64.b64decode(raw["response_base64"])


def digest(request: Any) -> str:
    """By which equal requests are found."""
    return hashlib.sha256(orjson.dumps(request, option=orjson.OPT_SORT_KEYS)).hexdigest()
