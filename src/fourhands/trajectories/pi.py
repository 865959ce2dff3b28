"""What pi says of itself: the entries of its sessions that name tokens."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from fourhands.model.usage import Usage

__all__ = ["reported_usage"]


class _Tokens(msgspec.Struct, rename="camel"):
    input: int
    """Neither read from a cache nor written to one."""
    output: int
    """``reasoning`` included."""
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class _Message(msgspec.Struct):
    usage: _Tokens | None = None


class _Entry(msgspec.Struct):
    message: _Message | None = None
    usage: _Tokens | None = None
    """Of what is no reply, such as a summary."""


def reported_usage(sessions: Iterable[bytes]) -> Usage | None:
    """The sum over the entries of all ``sessions``; ``None`` when none of them names tokens."""
    counted = [
        Usage(tokens.input, tokens.cache_read, tokens.cache_write, tokens.output, tokens.reasoning)
        for session in sessions
        for line in session.splitlines()
        for tokens in _tokens(line)
    ]
    return sum(counted, Usage()) if counted else None


def _tokens(line: bytes) -> list[_Tokens]:
    try:
        entry = msgspec.json.decode(line, type=_Entry)
    except msgspec.DecodeError:  # torn: it was killed as it wrote
        return []
    named = (entry.usage, entry.message.usage if entry.message else None)
    return [tokens for tokens in named if tokens]
