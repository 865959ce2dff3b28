"""Our sandbox over any environment of Harbor's, by ``exec``, ``upload_file`` and ``download_file`` alone."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import os
import re
import secrets
import shlex
import socket
import struct
import tempfile
import zlib
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harbor.environments.base import BaseEnvironment
from harbor.environments.base import ExecResult as HarborResult

from fourhands.engine.containers.inside import command
from fourhands.engine.containers.mailbox import Mailbox, OnCutOff, ignore
from fourhands.model.errors import InputError, SandboxError
from fourhands.model.sandbox import WORKDIR, ExecResult

__all__ = ["EnvironmentSandbox", "kind_of"]

_INLINE: Final = 64 << 10
"""Characters of a request that go in by the command line, one argument of which may have 128 KiB."""
_SLACK: Final = 60
"""Seconds that Harbor's time-out comes after ours, which leaves a result."""
_END_TIMEOUT: Final = 30
_KILLED: Final = 137
_PLACE: Final = "/tmp/."  # noqa: S108 - what is put there is named by a secret
_STDERR_SHOWN: Final = 400
_PROBE: Final = (
    "import os, sys; assert sys.version_info >= (3, 9); print('python=' + os.path.realpath(sys.executable))"
)
_FIND_PYTHON: Final = f"""
for python in python3 /usr/local/bin/python3 /usr/bin/python3 python; do
  "$python" -I -S -c "{_PROBE}" 2>/dev/null && exit
done
exit 1
"""


class EnvironmentSandbox:
    """The ``Sandbox`` protocol over a started environment.

    Whoever is root inside can replace any program: the interpreter is the image's own, found before the agent comes.
    Commands run as the environment's default user. May be used from any event loop; Harbor's is used on the one
    that this was made on.
    """

    def __init__(self, environment: BaseEnvironment) -> None:
        self._environment = environment
        self._loop = asyncio.get_running_loop()
        self._python: str | None = None
        self._spared = "[]"
        self._kills = 0
        self._mailbox: Mailbox | None = None

    @property
    def workdir(self) -> str:
        """Absolute path of the repository inside."""
        return WORKDIR

    @property
    def python(self) -> str:
        """The image's interpreter, by its real path.

        Raises:
            SandboxError: this was not started.
        """
        if self._python is None:
            raise SandboxError("the container is not looked at yet: call start first")
        return self._python

    async def start(self) -> None:
        """Find the interpreter, and which processes are the environment's own; before the agent is there.

        Raises:
            InputError: the image has no interpreter that will do.
            SandboxError: the environment does not answer.
        """
        found = await self._exec(_FIND_PYTHON)
        # An engine's own warnings may stand around it.
        path = re.search(r"^python=(.+)$", found.stdout or "", re.MULTILINE)
        if found.return_code or path is None:
            raise InputError(
                f"the image of {self._environment.environment_name} has no Python 3.9 or later: install python3 in "
                "its environment/Dockerfile"
            )
        self._python = path[1]
        census = await self._exec(shlex.join(command(self.python, "end", "census")))
        listed = re.search(r"\[\[.*\]\]", census.stdout or "")
        if census.return_code or listed is None:
            raise SandboxError(
                f"the processes inside cannot be listed: {_said(census)}; the image needs a readable /proc"
            )
        self._spared = listed[0]

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        limit: int = 1 << 30,
    ) -> ExecResult:
        """Run ``argv`` to its end, as ``fourhands.model.sandbox.Sandbox`` says.

        Returns when ``argv`` itself has ended; what it left in the background lives on, until ``kill_all``. A
        program or ``cwd`` that is not there is code 127, one that cannot be executed 126, with the reason in
        ``stderr``. When the caller is cancelled, the program and all it started is killed.

        Raises:
            SandboxError: the environment is gone, or cannot run our program.
        """
        request = {
            "argv": list(argv),
            "cwd": cwd or WORKDIR,
            "env": dict(env or {}),
            "timeout": timeout,
            "limit": limit,
        }
        return await self._at_home(self._run(request, stdin))

    async def listen(self, port: int, on_cut_off: OnCutOff = ignore) -> socket.socket:
        """A listening socket of ours that ``127.0.0.1:port`` inside leads to, by ``exec`` alone, until ``kill_all``.

        ``on_cut_off`` is called on the loop that this was made on.

        Raises:
            MissingError: the image has no perl.
            SandboxError: ``port`` is taken, or the environment does not do its work.
        """
        return await self._at_home(self._listen(port, on_cut_off))

    async def kill_all(self) -> None:
        """End every process inside but those that were there at the start; returns when they are gone.

        Raises:
            SandboxError: the environment is gone, also when it was so to the agent; or a process does not die.
        """
        await self._at_home(self._kill_all())

    async def _at_home[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Await ``work`` on the loop that Harbor's environment was made for."""
        if asyncio.get_running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _run(self, request: dict[str, Any], stdin: bytes) -> ExecResult:
        token, kills = secrets.token_hex(16), self._kills
        packed = await asyncio.to_thread(_pack, request, stdin)
        text = base64.b64encode(packed).decode() if len(packed) * 4 // 3 < _INLINE else f"@{_PLACE}{token}-in"
        if text.startswith("@"):
            await self._upload(packed, text[1:])
        timeout = request["timeout"]
        program = shlex.join(command(self.python, "run", token, text))
        try:
            done = await self._exec(program, None if timeout is None else math.ceil(timeout) + _SLACK)
        except asyncio.CancelledError:
            await asyncio.shield(
                self._exec(shlex.join(command(self.python, "end", "one", token)), _END_TIMEOUT)
            )
            raise
        answer = re.search(rf"{token}(=[A-Za-z0-9+/=]*|@){token}", done.stdout or "")
        if answer is None:
            if kills != self._kills:
                return ExecResult(_KILLED, b"", b"", 0, 0)
            raise SandboxError(
                f"a command in the container left no result, code {done.return_code}: {_said(done)}; is the "
                "container still there, and its memory not full?"
            )
        said = answer[1]
        return _unpack(
            base64.b64decode(said[1:]) if said != "@" else await self._download(f"{_PLACE}{token}")
        )

    async def _listen(self, port: int, on_cut_off: OnCutOff) -> socket.socket:
        async def as_root(program: str, timeout: int) -> HarborResult:
            # So an agent that is another user can neither end what runs inside nor speak to it.
            return await self._exec(program, timeout, user="root")

        self._mailbox = Mailbox(as_root, self._environment.environment_name, on_cut_off)
        return await self._mailbox.open(port)

    async def _kill_all(self) -> None:
        self._kills += 1
        if self._mailbox:
            await self._mailbox.close()
        program = shlex.join(command(self.python, "end", "all", self._spared))
        done = await self._exec(program, _END_TIMEOUT, user="root")
        if done.return_code:
            raise SandboxError(f"a process in the container does not die: {_said(done) or 'no message'}")
        if self._mailbox and self._mailbox.failure:
            raise self._mailbox.failure  # the agent had no model any more: nothing it did since tells of it

    async def _exec(
        self, program: str, timeout: int | None = None, *, user: str | None = None
    ) -> HarborResult:
        try:
            # Not in the work tree: the agent may have removed it, or forbidden itself to enter it.
            return await self._environment.exec(program, cwd="/", timeout_sec=timeout, user=user)
        except Exception as error:
            raise self._gone(error) from error

    async def _upload(self, data: bytes, target: str) -> None:
        with tempfile.NamedTemporaryFile() as source:
            source.write(data)
            source.flush()
            os.fchmod(source.fileno(), 0o644)  # the commands' user is not always the one that brings files in
            try:
                await self._environment.upload_file(source.name, target)
            except Exception as error:
                raise self._gone(error) from error

    async def _download(self, source: str) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            target = Path(folder, "answer")
            try:
                await self._environment.download_file(source, target)
            except Exception as error:
                raise self._gone(error) from error
            await self._exec(shlex.join(["rm", "-f", "--", source]))
            return await asyncio.to_thread(target.read_bytes)

    def _gone(self, error: Exception) -> SandboxError:
        """Every provider has errors of its own."""
        return SandboxError(
            f"the {kind_of(self._environment)} environment of {self._environment.environment_name} does not do its "
            f"work: {error}"
        )


def kind_of(environment: BaseEnvironment) -> str:
    """The name by which Harbor knows such an environment."""
    kind = environment.type()
    return str(getattr(kind, "value", kind))


def _said(done: HarborResult) -> str:
    return ((done.stderr or done.stdout) or "")[-_STDERR_SHOWN:].strip()


def _pack(request: Mapping[str, Any], stdin: bytes) -> bytes:
    told = json.dumps(request).encode()
    return zlib.compress(struct.pack(">I", len(told)) + told + stdin, 1)


def _unpack(packed: bytes) -> ExecResult:
    data = zlib.decompress(packed)
    (size,) = struct.unpack_from(">I", data)
    told = json.loads(data[4 : 4 + size])
    kept = data[4 + size :]
    split: int = told["split"]
    stdout_bytes, stderr_bytes = told["sizes"]
    return ExecResult(told["code"], kept[:split], kept[split:], stdout_bytes, stderr_bytes, told["timed_out"])
