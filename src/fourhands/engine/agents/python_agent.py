"""What agents from the Python index share: the virtual environment they lie in inside."""

from __future__ import annotations

from typing import override

from harbor.environments.base import BaseEnvironment

from fourhands.engine.agents.base import SharedWorkspaceAgent
from fourhands.engine.agents.registry import AGENTS

__all__ = ["PythonAgent"]


class PythonAgent(SharedWorkspaceAgent):
    """An agent whose registry entry names hashed requirements; ``_prefix`` is their environment, inside."""

    _prefix: str

    @override
    def version(self) -> str:
        return AGENTS[self.name()].version

    @override
    async def install(self, environment: BaseEnvironment) -> None:
        """See `SharedWorkspaceAgent.install`."""
        await super().install(environment)
        self._prefix = await self._shared.packages(AGENTS[self.name()].lock)
