"""The agents that can be run, by name: a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["AGENTS", "AgentEntry"]


@dataclass(frozen=True)
class AgentEntry:
    """``import_path`` is what Harbor loads; ``prefixes`` installs the agent and says what it needs readable."""

    import_path: str
    prefixes: Callable[[], tuple[Path, ...]]


def _mini_swe_agent() -> tuple[Path, ...]:
    from fourhands.engine.agents.mini_swe_agent import install  # noqa: PLC0415 - brings Harbor

    return install().prefixes


AGENTS: Final[dict[str, AgentEntry]] = {
    "mini-swe-agent": AgentEntry("fourhands.engine.agents.mini_swe_agent:MiniSweAgent", _mini_swe_agent)
}
