"""What Claude Code says of itself: the lines of ``--output-format=stream-json``."""

from __future__ import annotations

from typing import Any, Final

import orjson

from fourhands.model.usage import Usage

__all__ = ["reported_usage"]

_RESULT: Final = b'"type":"result"'


def reported_usage(stream: bytes) -> Usage | None:
    """All tokens of a run, sub-agents' included, as its last result adds them up; ``None`` if it came to none.

    A run has several results when a sub-agent in the background outlives a turn; each holds the sum so far. What its
    field ``usage`` says is of the main loop's one turn.
    """
    for line in reversed(stream.splitlines()):
        if _RESULT not in line:
            continue
        try:
            event = orjson.loads(line)
        except orjson.JSONDecodeError:  # the last line of a run that was cut
            continue
        if event.get("type") == "result":
            return sum(map(_of_model, event.get("modelUsage", {}).values()), Usage())
    return None


def _of_model(counts: dict[str, Any]) -> Usage:
    return Usage(
        input=counts.get("inputTokens", 0),
        cache_read=counts.get("cacheReadInputTokens", 0),
        cache_write=counts.get("cacheCreationInputTokens", 0),
        output=counts.get("outputTokens", 0),
        reasoning=counts.get("thinkingTokens", 0),
    )
