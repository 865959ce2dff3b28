"""What Qwen Code says of itself: the record of a session's totals, sub-agents included."""

from __future__ import annotations

from typing import Final

import msgspec

from fourhands.model.usage import Usage

__all__ = ["RECORD_NAME", "reported_usage"]

RECORD_NAME: Final = "usage_record.jsonl"
"""The file below ``~/.qwen`` that a line is added to when a session ends."""


class _Model(msgspec.Struct, rename="camel"):
    input_tokens: int
    """Cached ones included."""
    output_tokens: int
    """Thoughts included."""
    cached_tokens: int
    thoughts_tokens: int


class _Session(msgspec.Struct):
    models: dict[str, _Model]


def reported_usage(record: bytes) -> Usage | None:
    """The sum over all sessions and models of a record; ``None`` when no session came to its end."""
    sessions = [_session(line) for line in record.splitlines()]
    counted = [_usage(model) for session in sessions if session for model in session.models.values()]
    return sum(counted, Usage()) if counted else None


def _session(line: bytes) -> _Session | None:
    try:
        return msgspec.json.decode(line, type=_Session)
    except msgspec.DecodeError:  # torn: it was killed as it wrote
        return None


def _usage(model: _Model) -> Usage:
    return Usage(
        input=model.input_tokens - model.cached_tokens,
        cache_read=model.cached_tokens,
        output=model.output_tokens,
        reasoning=model.thoughts_tokens,
    )
