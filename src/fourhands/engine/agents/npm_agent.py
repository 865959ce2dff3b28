"""What agents from npm share: where they and their Node.js lie inside."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final, override

from harbor.environments.base import BaseEnvironment

from fourhands.engine.agents.base import SharedWorkspaceAgent
from fourhands.engine.agents.npm import npm_packages
from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.local import LocalEnvironment

__all__ = ["NpmAgent"]

_ELSEWHERE: Final = Path("/opt/agent")
"""Where an agent lies in a container."""


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
            MissingError: npm is missing, or does not reach its registry.
        """
        await super().install(environment)
        self._prefix, self._node = await asyncio.to_thread(npm_packages, AGENTS[self.name()].lock)
        if not isinstance(self._shared, LocalEnvironment):
            self._prefix = await _brought(environment, self._prefix)
            self._node = await _brought(environment, self._node)


async def _brought(environment: BaseEnvironment, prefix: Path) -> Path:
    """A copy of what is installed here, in a container that has a C library like ours."""
    inside = _ELSEWHERE / prefix.name
    await environment.upload_dir(prefix, str(inside))
    return inside
