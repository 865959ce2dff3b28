"""What Codex says of itself: its rollouts, one file of JSON lines for each of its threads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import orjson

from fourhands.model.usage import Usage

__all__ = ["reported_usage"]

_COUNT: Final = b'"type":"token_count"'


def reported_usage(rollouts: Iterable[bytes]) -> Usage | None:
    """All tokens of a run: those of the main thread and of every sub-agent; ``None`` if nothing was counted.

    Each thread, a forked one as well, counts its own from zero; the output of ``codex exec`` tells the main
    thread's alone.
    """
    counted = [usage for rollout in rollouts if (usage := _of_thread(rollout)) is not None]
    return sum(counted, Usage()) if counted else None


def _of_thread(rollout: bytes) -> Usage | None:
    """The last total; a total is ``null`` before the first reply."""
    for line in reversed(rollout.splitlines()):
        if _COUNT not in line:
            continue
        try:
            payload = orjson.loads(line).get("payload", {})
        except orjson.JSONDecodeError:  # the last line of a run that was cut
            continue
        if payload.get("type") == "token_count" and payload.get("info"):
            return _uncached(payload["info"]["total_token_usage"])
    return None


def _uncached(total: dict[str, Any]) -> Usage:
    """Its input holds what was read from a cache, and what was written to one."""
    read, written = total.get("cached_input_tokens", 0), total.get("cache_write_input_tokens", 0)
    return Usage(
        input=total["input_tokens"] - read - written,
        cache_read=read,
        cache_write=written,
        output=total["output_tokens"],
        reasoning=total.get("reasoning_output_tokens", 0),
    )
