"""What a session needs of an environment, whichever it is: our own has it, any other gets it from here."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Final

from harbor.environments.base import BaseEnvironment

from fourhands.engine.containers.address import BESIDE_US, HOST_NAME, listen_for
from fourhands.engine.containers.mailbox import OnCutOff
from fourhands.engine.containers.packages import packed, packed_folder, platform_of, see_that_programs_run
from fourhands.engine.containers.sandbox import EnvironmentSandbox, kind_of
from fourhands.engine.local import LocalEnvironment
from fourhands.engine.sandbox.archive import pack
from fourhands.model.errors import SandboxError
from fourhands.model.sandbox import WORKDIR, ExecResult, Sandbox, SandboxSpec
from fourhands.tasks.folder import load_task
from fourhands.tasks.repository import base_repository

__all__ = ["SharedContainer", "share"]

_LOOPBACK: Final = "127.0.0.1"
_PROGRAMS: Final = Path("/installed-agent")
"""The folder that Harbor makes for what an agent consists of."""
_PREFIX: Final = f"{_PROGRAMS}/venv"
_ARCHIVE: Final = "/tmp/packages.tar"  # noqa: S108 - there before the agent is
_EMPTY: Final = ["find", WORKDIR, "-mindepth", "1", "-delete"]
_EXTRACT: Final = ["tar", "--extract", "--preserve-permissions", "--no-same-owner", "--directory"]
_SITE: Final = "import sysconfig; print(sysconfig.get_path('purelib'))"


class SharedContainer:
    """A started environment of Harbor's with our sandbox in it, and the repository at its base.

    The image brings programs and packages. The repository is laid by us: what is judged and attributed starts from
    the same bytes in every environment.
    """

    def __init__(
        self, environment: BaseEnvironment, spec: SandboxSpec, gateway_host: str | None = None
    ) -> None:
        """``gateway_host`` is what this machine is called inside, where that is not known of the environment."""
        self.spec = spec
        """The repository, and the variables that the task's own commands need; the image has set them."""
        self._kind = kind_of(environment)
        self._has_network = gateway_host is not None or self._kind in BESIDE_US
        self.gateway_host = gateway_host or (HOST_NAME if self._has_network else _LOOPBACK)
        """The name inside of this machine, or of what leads to it."""
        self._environment = environment
        self._sandbox = EnvironmentSandbox(environment)

    @property
    def sandbox(self) -> Sandbox:
        """Where the agent works."""
        return self._sandbox

    async def start(self) -> None:
        """Look at the container, and lay the repository.

        Raises:
            InputError: the image has no Python.
            SandboxError: the repository cannot be laid.
        """
        await self._sandbox.start()
        archive = await asyncio.to_thread(pack, self.spec.repository)
        await self._succeed(["mkdir", "-p", WORKDIR])
        await self._succeed(_EMPTY)
        await self._succeed([*_EXTRACT, WORKDIR, "--file", "-"], stdin=archive)

    async def listen(self, port: int, on_cut_off: OnCutOff) -> socket.socket:
        """A listening socket that the container reaches.

        Over a network it has a port of its own: ``port`` may be another trial's. Nothing is heard of it when a
        network is cut off.

        Raises:
            MissingError: the image has no perl, and no network leads here.
            SandboxError: no address can be had that the container reaches.
        """
        if self._has_network:
            return await asyncio.to_thread(listen_for, self._kind)
        return await self._sandbox.listen(port, on_cut_off)

    async def packages(self, lock: Path) -> str:
        """Bring in what a hashed lock pins; the prefix, inside, of the virtual environment that holds it.

        Raises:
            InputError: the image's interpreter is none that it can be installed for.
            MissingError: the package index cannot be reached.
            SandboxError: the container cannot take it.
        """
        platform = await platform_of(self._sandbox, lock.stem)
        archive = await asyncio.to_thread(packed, lock, platform)
        python = f"{_PREFIX}/bin/python"
        await self._succeed([self._sandbox.python, "-I", "-m", "venv", "--without-pip", _PREFIX])
        site = (await self._succeed([python, "-I", "-c", _SITE])).stdout.decode().strip()
        await self._environment.upload_file(archive, _ARCHIVE)
        await self._succeed([*_EXTRACT, site, "--file", _ARCHIVE])
        await self._succeed(["rm", _ARCHIVE])
        await self._succeed(["cp", "--recursive", f"{site}/bin/.", f"{_PREFIX}/bin"])
        return _PREFIX

    async def programs(self, folder: Path, agent: str) -> Path:
        """Bring in a folder of programs that were built for this machine; where it lies inside.

        As one file: not every provider keeps links and permissions of the files in a folder.

        Raises:
            InputError: the image's machine or C library is another.
            SandboxError: the container cannot take it.
        """
        await see_that_programs_run(self._sandbox, agent)
        inside = _PROGRAMS / folder.name
        await self._environment.upload_file(await asyncio.to_thread(packed_folder, folder), _ARCHIVE)
        await self._succeed(["mkdir", "-p", str(inside)])
        await self._succeed([*_EXTRACT, str(inside), "--gzip", "--file", _ARCHIVE])
        await self._succeed(["rm", _ARCHIVE])
        return inside

    async def _succeed(self, argv: list[str], *, stdin: bytes = b"") -> ExecResult:
        done = await self._sandbox.run(argv, cwd="/", stdin=stdin)
        if done.code:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise SandboxError(f"`{' '.join(argv)}` in the container ended with {done.code}: {said}")
        return done


async def share(environment: BaseEnvironment) -> SharedContainer | LocalEnvironment:
    """What a session needs of a started environment.

    Raises:
        FourhandsError: the task cannot be prepared, or the container is none that we can work in.
    """
    if isinstance(environment, LocalEnvironment):
        return environment
    task = await asyncio.to_thread(load_task, environment.environment_dir.parent)
    spec = SandboxSpec(await asyncio.to_thread(base_repository, task), env=task.env)
    shared = SharedContainer(environment, spec)
    await shared.start()
    return shared
