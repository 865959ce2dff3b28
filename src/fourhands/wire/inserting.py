"""The user's messages put where they belong in a request, and nothing else changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from fourhands.wire.document import Document
from fourhands.wire.history import History
from fourhands.wire.types import Insertion

__all__ = ["insert"]


def insert(
    document: Document, history: History, insertions: Sequence[Insertion]
) -> tuple[Document, tuple[str, ...]]:
    """The request with all insertions that have their place in it, and their ids.

    Args:
        document: as the agent sent it.
        history: of its thread, which has taken in this request.
        insertions: in the order in which they were said; at one place the earlier comes first.
    """
    said: defaultdict[int, list[str]] = defaultdict(list)
    carried = []
    for insertion in insertions:
        place = history.behind(insertion.batch)
        if place is not None:
            said[place].append(insertion.text)
            carried.append(insertion.id)
    if not carried:
        return document, ()
    items = list(document.items)
    for place in sorted(said, reverse=True):  # from the end, so that no place moves
        items[place : place + 1] = document.wire.say(bytes(items[place]), said[place])
    return document.with_items(items), tuple(carried)
