"""The agents that can be run, by name: a new one is one file and one line here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fourhands.tasks.environment import python_environment

__all__ = ["AGENTS", "AgentEntry"]


@dataclass(frozen=True)
class AgentEntry:
    """``import_path`` is what Harbor loads; ``lock`` is what the agent is installed from, at ``version``."""

    import_path: str
    version: str
    lock: Path

    def prefixes(self) -> tuple[Path, ...]:
        """Install the agent if it is not yet; what must be readable for it to run.

        Raises:
            MissingError: the package index cannot be reached.
        """
        return python_environment(self.lock).prefixes


AGENTS: Final[dict[str, AgentEntry]] = {
    "mini-swe-agent": AgentEntry(
        "fourhands.engine.agents.mini_swe_agent:MiniSweAgent",
        "2.4.6",
        Path(__file__).with_name("mini-swe-agent.txt"),
    )
}
