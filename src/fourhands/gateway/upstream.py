"""Where the gateway sends requests: a provider's base URL, or a stand-in served by ourselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Upstream"]


@dataclass(frozen=True, slots=True)
class Upstream:
    """``base_url`` ends where an SDK's would (``…/v1``); ``key`` never leaves our process but to it.

    ``model`` replaces the name that the agent sends, so that an agent is told nothing of who answers.
    """

    base_url: str
    model: str
    key: str | None = None
    on_end: Callable[[], None] = lambda: None
    """Called once the agent has gone, before the trial is verified."""
