"""Which recorded actions run tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson

from fourhands.touch.testing import runs_tests

__all__ = ["action_runs_tests"]


def action_runs_tests(action: Mapping[str, Any], read_blob: Callable[[str], bytes]) -> bool:
    """Whether an action runs tests, as far as its command line tells (see `runs_tests`).

    Args:
        action: the body of its `action_seen` event.
        read_blob: the content of a blob of the attempt, by its hash; one that is empty runs none.
    """
    raw = read_blob(action["arguments"])
    try:
        arguments = orjson.loads(raw)
    except orjson.JSONDecodeError:
        arguments = None
    given = arguments if isinstance(arguments, dict) else raw.decode("utf-8", "replace")
    return runs_tests(action["tool"], given)
