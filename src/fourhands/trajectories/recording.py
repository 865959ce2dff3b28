"""Recorded replies of a model, trial by trial, as a run's folder holds them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fourhands.model.errors import InputError
from fourhands.model.event import Event, EventKind
from fourhands.trajectories.exchanges import ExchangeReader
from fourhands.trajectories.normalising import LEFT_OUT, normalised
from fourhands.trajectories.run_folder import Attempt, RunFolder

__all__ = ["Recorded", "Recordings", "read_attempt", "read_run"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """One exchange: a request in the form in which it can be compared, and the answer byte for byte.

    ``number`` is the request's in its trial; ``side`` says that it was none of the agent's loop. ``request`` is its
    body without the history, whose items stand in ``history`` (empty where it was one plain text: then ``request``
    holds it). ``status`` is 0 where the agent left before an answer came; ``whole`` is false for one that broke off.
    """

    number: int
    thread: str
    side: bool
    wire: str
    request: dict[str, Any]
    history_key: str
    history: tuple[Any, ...]
    status: int
    content_type: str
    response: bytes
    whole: bool


Recordings = Mapping[str, tuple[Recorded, ...]]
"""By the slug of a trial, in the order in which the answers ended."""


def read_run(path: Path) -> Recordings:
    """The exchanges of every trial of a run that has any.

    Raises:
        InputError: it is no run, or an exchange cannot be read; names the trial's folder.
    """
    folder = RunFolder(path)
    found = {}
    for trial in folder.plan().trials:
        attempt = folder.final_attempt(trial.key)
        if attempt and (exchanges := tuple(read_attempt(attempt))):
            found[trial.key.slug] = exchanges
    return found


def read_attempt(attempt: Attempt) -> Iterator[Recorded]:
    """The exchanges of one attempt, whether it ended or was cut.

    Raises:
        InputError: an exchange cannot be read.
    """
    reader = ExchangeReader(attempt.blobs.get, normalised)
    for event in attempt.read().events:
        if event.kind is not EventKind.MODEL_CALLED:
            continue
        try:
            yield _recorded(reader, event)
        except (OSError, ValueError, LookupError, zlib.error) as error:
            raise InputError(
                f"{attempt.path}: the exchange of event {event.seq} cannot be read: {error!r}"
            ) from None


def _recorded(reader: ExchangeReader, event: Event) -> Recorded:
    exchange = reader.read(event.body["exchange"])
    history = exchange.history
    apart = LEFT_OUT.keys() | ({exchange.history_key} if history else set())
    is_stream = exchange.content_type.startswith("text/event-stream")
    return Recorded(
        number=event.body["request"],
        thread=event.thread,
        side=event.body["side"],
        wire=exchange.wire,
        request={key: value for key, value in exchange.request.items() if key not in apart},
        history_key=exchange.history_key,
        history=tuple(history),
        status=exchange.status,
        content_type=exchange.content_type,
        response=exchange.response,
        whole=event.body["complete"] or not is_stream,
    )
