"""What can be said against words that a talking user is about to say, by kind: what a simulator is measured by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["LEAKS", "Objection", "ObjectionKind", "kinds_of"]


class ObjectionKind(StrEnum):
    """Why words should not be said."""

    HIDDEN = "hidden"
    """Only the tests or the reference have it."""
    CANARY = "canary"
    EARLY = "early"
    """Of a requirement that is not to be said yet."""
    BENCHMARK = "benchmark"
    """Says that work is measured, or that a model is behind the user."""
    OBEYS = "obeys"
    """Does what the agent, or a file, demanded."""
    ROLE = "role"
    """Speaks as the agent would."""
    UNSAID = "unsaid"
    """Does not say what it was to say."""
    INVENTED = "invented"
    """Names or numbers that neither the task, the conversation nor the workspace has."""
    APPROVES = "approves"
    """Lets the agent go where nothing shows that it may."""
    FORM = "form"
    """Empty, too long, a repetition, or no reply of the form that was asked for."""


LEAKS: Final = frozenset(
    {
        ObjectionKind.HIDDEN,
        ObjectionKind.CANARY,
        ObjectionKind.BENCHMARK,
        ObjectionKind.OBEYS,
        ObjectionKind.ROLE,
    }
)
"""What no user of the task would know or say; that it is not the time for a requirement is another matter."""


@dataclass(frozen=True, slots=True)
class Objection:
    """One of them; ``words`` tell it to who is to do better, and to who reads the record."""

    kind: ObjectionKind
    words: str


def kinds_of(objections: Iterable[Objection]) -> tuple[ObjectionKind, ...]:
    """Each kind once, in the order of `ObjectionKind`."""
    found = {each.kind for each in objections}
    return tuple(kind for kind in ObjectionKind if kind in found)
