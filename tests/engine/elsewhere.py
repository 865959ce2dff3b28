"""What Harbor loads in tests of other environments than ours: agents that take it for anybody's, and such others.

They are reached through Harbor's interface alone, as a container is; they share the machine's network, or none.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any, Final, override

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

from fourhands.engine.agents.thin import ThinAgent
from fourhands.engine.containers.shared import SharedContainer
from fourhands.engine.local import LocalEnvironment
from fourhands.engine.session import Session
from fourhands.model.sandbox import SandboxSpec
from fourhands.tasks.folder import load_task
from fourhands.tasks.repository import base_repository

__all__ = [
    "ByMailThin",
    "ElsewhereThin",
    "Hosted",
    "KillsEverything",
    "ListensItself",
    "LosesLetters",
    "LosesMail",
    "WithoutPerl",
]

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


class Hosted(BaseEnvironment):
    """What every provider has, and nothing else: commands, and files in and out. No port of the host's is reached.

    Its image is the local sandbox of the task.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._inside = LocalEnvironment(*args, **kwargs)
        super().__init__(*args, **kwargs)

    @staticmethod
    @override
    def type() -> str:
        return "hosted"

    @property
    @override
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(disable_internet=True)

    @override
    def _validate_definition(self) -> None:
        """As the one that it is made of."""

    @override
    async def start(self, force_build: bool) -> None:
        await self._inside.start(force_build)

    @override
    async def stop(self, delete: bool) -> None:
        await self._inside.stop(delete)

    @override
    async def exec(self, command: str, *args: Any, **options: Any) -> ExecResult:
        return await self._inside.exec(command, *args, **options)

    @override
    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        await self._inside.upload_file(source_path, target_path)

    @override
    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        """As some do: links become files, and permissions are lost."""
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(source_dir, Path(folder, "copy"), copy_function=shutil.copyfile)
            await self._inside.upload_dir(copy, target_dir)

    @override
    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        await self._inside.download_file(source_path, target_path)

    @override
    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        await self._inside.download_dir(source_dir, target_dir)


class WithoutPerl(Hosted):
    """Its shell finds none."""

    @override
    async def exec(self, command: str, *args: Any, **options: Any) -> ExecResult:
        return await super().exec(command.replace("perl", "no-perl", 1), *args, **options)


class ListensItself(Hosted):
    """Something in its image listens where the gateway is to be reached."""

    @override
    async def start(self, force_build: bool) -> None:
        await super().start(force_build)
        serve = "python3 -m http.server --bind 127.0.0.1 8123 >/dev/null 2>&1 &"
        await self.exec(f"{serve} until : 2>/dev/null </dev/tcp/127.0.0.1/8123; do sleep 0.05; done")


class LosesLetters(Hosted):
    """What the model answers never arrives: all commands but those of the mailbox run on."""

    _letters = 3

    @override
    async def exec(self, command: str, *args: Any, **options: Any) -> ExecResult:
        if command.startswith("perl"):
            self._letters -= 1
            if self._letters < 0:
                raise RuntimeError("the provider does not answer")
        return await super().exec(command, *args, **options)
