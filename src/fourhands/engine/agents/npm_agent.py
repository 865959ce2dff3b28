"""What agents from npm share: where they and their Node.js lie inside."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import override

from harbor.environments.base import BaseEnvironment

from fourhands.engine.agents.base import SharedWorkspaceAgent
from fourhands.engine.agents.npm import npm_packages
from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.local import LocalEnvironment
from fourhands.model.errors import InputError

__all__ = ["NpmAgent"]


class NpmAgent(SharedWorkspaceAgent):
    """An agent whose registry entry names a ``package-lock.json``.

    ``_prefix`` and ``_node`` are the folders that `npm_packages` made; inside they lie at the same paths.
    """

    _prefix: Path
    _node: Path

    @override
    def version(self) -> str:
        return AGENTS[self.name()].version

    @override
    async def install(self, environment: BaseEnvironment) -> None:
        """See `SharedWorkspaceAgent.install`.

        Raises:
            InputError: the environment is a container.
            MissingError: npm is missing, or does not reach its registry.
        """
        await super().install(environment)
        if not isinstance(self._shared, LocalEnvironment):
            raise InputError(
                f"{self.name()} runs in the local environment only: leave out --env, or take mini-swe-agent or thin"
            )
        lock = AGENTS[self.name()].lock
        self._prefix, self._node = await asyncio.to_thread(npm_packages, lock)
