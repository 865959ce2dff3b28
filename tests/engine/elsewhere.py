"""What Harbor loads in ``test_containers``: an agent that takes our local environment for anybody's.

It is reached through Harbor's interface alone, as a container is, and shares the machine's network.
"""

from __future__ import annotations

from typing import override

from harbor.environments.base import BaseEnvironment

from fourhands.engine.agents.thin import ThinAgent
from fourhands.engine.containers.shared import SharedContainer
from fourhands.model.sandbox import SandboxSpec
from fourhands.tasks.folder import load_task
from fourhands.tasks.repository import base_repository

__all__ = ["ElsewhereThin"]


class ElsewhereThin(ThinAgent):
    @override
    async def install(self, environment: BaseEnvironment) -> None:
        task = load_task(environment.environment_dir.parent)
        shared = SharedContainer(environment, SandboxSpec(base_repository(task), env=task.env), "127.0.0.1")
        await shared.start()
        self._shared = shared
