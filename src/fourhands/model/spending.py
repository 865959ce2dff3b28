"""What a record says was used of models: one item for each reply, whoever asked for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from http import HTTPStatus
from typing import Any, Final

from fourhands.model.event import Event, EventKind
from fourhands.model.usage import Usage

__all__ = ["SIDE", "Spending", "spendings"]

SIDE: Final = "side"
"""The thread of requests that are no part of a conversation: titles, summaries."""


_COUNTS: Final = tuple(field.name for field in fields(Usage))


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens of a reply; ``usage`` is ``None`` where the provider did not tell.

    ``user_model`` is the name of the user's own model where it was that one which was asked (several replies may be
    one item then); else it was the trial's, in ``thread``.
    """

    thread: str
    usage: Usage | None
    user_model: str | None = None


def spendings(events: Iterable[Event]) -> Iterator[Spending]:
    """In the order of the record. Requests that the provider refused are none."""
    for event in events:
        body = event.body
        if event.kind is EventKind.MODEL_CALLED:
            usage = _usage(body["usage"])
            if usage is not None or HTTPStatus.OK <= body["status"] < HTTPStatus.MULTIPLE_CHOICES:
                yield Spending(SIDE if body["side"] else event.thread, usage)
        elif event.kind in {EventKind.MESSAGE_SENT, EventKind.ANSWERED} and body.get("model"):
            usage = _usage(body.get("usage"))
            # A model that was asked took tokens: none at all means that nobody told.
            yield Spending(event.thread, usage if usage and usage.total else None, body["model"])


def _usage(counts: Mapping[str, Any] | None) -> Usage | None:
    if counts is None:
        return None
    return Usage(*(counts.get(name, 0) for name in _COUNTS))
