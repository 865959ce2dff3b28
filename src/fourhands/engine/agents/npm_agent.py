"""What agents from npm share: where they and their Node.js lie inside."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar, override

from harbor.environments.base import BaseEnvironment

from fourhands.engine.agents.base import SharedWorkspaceAgent
from fourhands.engine.agents.npm import npm_packages
from fourhands.engine.agents.registry import AGENTS

__all__ = ["NpmAgent"]


class NpmAgent(SharedWorkspaceAgent):
    """An agent whose registry entry names a ``package-lock.json``.

    ``_prefix`` and ``_node`` are, inside, the folders that `npm_packages` makes; ``_node`` is there for an agent that
    `needs_node` alone: some bring a binary of their own.
    """

    needs_node: ClassVar[bool] = False
    _prefix: Path
    _node: Path

    @override
    def version(self) -> str:
        return AGENTS[self.name()].version

    @override
    async def install(self, environment: BaseEnvironment) -> None:
        """See `SharedWorkspaceAgent.install`.

        Raises:
            InputError: the agent's programs do not run in the container.
            MissingError: npm is missing, or does not reach its registry.
        """
        await super().install(environment)
        prefix, node = await asyncio.to_thread(npm_packages, AGENTS[self.name()].lock)
        self._prefix = await self._shared.programs(prefix, self.name())
        if self.needs_node:
            self._node = await self._shared.programs(node, self.name())
