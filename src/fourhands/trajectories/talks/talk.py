"""A session's talk in one form, whoever wrote its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Said", "SessionTalk", "Who"]

Who = Literal["user", "agent"]


@dataclass(frozen=True, slots=True)
class Said:
    """One message. What an agent does is no part of it."""

    who: Who
    text: str


@dataclass(frozen=True, slots=True)
class SessionTalk:
    """What was said in one session, in order.

    ``format`` is the name of its log's. ``problems`` say what of the log could not be read, or is not told by it.
    """

    format: str
    said: tuple[Said, ...]
    agent: str | None = None
    model: str | None = None
    problems: tuple[str, ...] = ()
