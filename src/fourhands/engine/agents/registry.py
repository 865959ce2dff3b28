"""The agents that can be run, by name: a new one is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fourhands.gateway.traits import AgentTraits
from fourhands.tasks.environment import python_environment

__all__ = ["AGENTS", "AgentEntry"]


def _python_packages(lock: Path) -> tuple[Path, ...]:
    return python_environment(lock).prefixes


def _nothing(program: Path) -> tuple[Path, ...]:
    """An agent of one file brings itself along."""
    del program
    return ()


@dataclass(frozen=True)
class AgentEntry:
    """``import_path`` is what Harbor loads, at ``version``.

    ``lock`` is the one file that says all that the agent consists of: the hashed requirements that ``install``
    installs, or the agent itself. ``wire`` is the model API it speaks (a name of `fourhands.wire.registry`);
    ``efforts`` are the values it takes for the model's reasoning effort.
    """

    import_path: str
    version: str
    lock: Path
    install: Callable[[Path], tuple[Path, ...]] = _python_packages
    wire: str = "chat"
    traits: AgentTraits = AgentTraits()
    efforts: tuple[str, ...] = ()

    def prefixes(self) -> tuple[Path, ...]:
        """Install the agent if it is not yet; what must be readable for it to run.

        Raises:
            MissingError: the package index cannot be reached.
        """
        return self.install(self.lock)


AGENTS: Final[dict[str, AgentEntry]] = {
    "mini-swe-agent": AgentEntry(
        "fourhands.engine.agents.mini_swe_agent:MiniSweAgent",
        "2.4.6",
        Path(__file__).with_name("mini-swe-agent.txt"),
    ),
    "thin": AgentEntry(
        "fourhands.engine.agents.thin:ThinAgent",
        "1",
        Path(__file__).with_name("thin_program.py"),
        install=_nothing,
    ),
}
