"""What Harbor loads in ``test_containers`` and ``test_mailbox``: agents that take our environment for anybody's.

It is reached through Harbor's interface alone, as a container is; it shares the machine's network, or none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from shlex import quote
from typing import Any, Final, override

from harbor.environments.base import BaseEnvironment, ExecResult

from fourhands.engine.agents.thin import ThinAgent
from fourhands.engine.containers.shared import SharedContainer
from fourhands.engine.local import LocalEnvironment
from fourhands.engine.session import Session
from fourhands.model.sandbox import SandboxSpec
from fourhands.tasks.folder import load_task
from fourhands.tasks.repository import base_repository

__all__ = ["ByMailThin", "ElsewhereThin", "KillsEverything", "LosesMail"]

_ASK: Final = """
import sys, urllib.request
url, token, body = sys.argv[1:]
headers = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
request = urllib.request.Request(url + "/chat/completions", body.encode(), headers)
print(urllib.request.urlopen(request, timeout=60).status)
"""


class ElsewhereThin(ThinAgent):
    gateway_host: str | None = "127.0.0.1"

    @override
    async def install(self, environment: BaseEnvironment) -> None:
        task = load_task(environment.environment_dir.parent)
        spec = SandboxSpec(base_repository(task), env=task.env)
        shared = SharedContainer(environment, spec, self.gateway_host)
        await shared.start()
        self._shared = shared


class ByMailThin(ElsewhereThin):
    """No network leads to the gateway."""

    gateway_host = None


class KillsEverything(ByMailThin):
    """Asks the model once, and then kills all that it may."""

    @override
    def launch(self, instruction: str, session: Session) -> tuple[str, Mapping[str, str]]:
        tool = {"name": "bash", "parameters": {"type": "object", "properties": {}}}
        body = {
            "model": session.seen_model,
            "messages": [{"role": "user", "content": instruction}],
            "tools": [{"type": "function", "function": tool}],
        }
        arguments = " ".join(map(quote, (_ASK, session.gateway_url, session.token, json.dumps(body))))
        return f"{quote(self._shared.sandbox.python)} -I -c {arguments} && kill -9 -1", {}


class LosesMail(LocalEnvironment):
    """After some letters no other arrives."""

    _letters = 8

    @override
    async def exec(self, command: str, *args: Any, **options: Any) -> ExecResult:
        if command.startswith("perl"):
            self._letters -= 1
            if self._letters < 0:
                raise RuntimeError("the provider does not answer")
        return await super().exec(command, *args, **options)
