"""Our side of the helper: one server process for all sandboxes of this process, one socket for each job."""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from fourhands.model.errors import SandboxError

__all__ = ["Job", "sealed"]

_HOME: Final = Path(__file__).parent
_PROGRAM: Final = (
    "import sys; sys.path.append(sys.argv[1]); from helper import server; server.serve(int(sys.argv[2]))"
)
_MESSAGE_SIZE: Final = 1 << 16
_SERVER_GONE: Final = (BrokenPipeError, ConnectionResetError, ConnectionRefusedError)


def sealed(data: bytes) -> int:
    """Return a descriptor of an anonymous file that holds ``data``, at its start, that nobody can change."""
    import fcntl  # noqa: PLC0415 - Linux only, as all of this package

    descriptor = os.memfd_create("", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with os.fdopen(os.dup(descriptor), "wb") as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


class _Server:
    """The helper's server process; started when first needed, and again should it have died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # Its own session: a terminal's Ctrl-C is for us. No environment: inside, it could be looked for.
            self._process = subprocess.Popen(
                [
                    os.path.realpath(sys.executable),
                    "-I",
                    "-S",
                    "-c",
                    _PROGRAM,
                    str(_HOME),
                    str(theirs.fileno()),
                ],
                env={},
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._control = ours
        return ours

    def send(self, word: str, descriptors: Sequence[int]) -> None:
        """Hand a request over. Raises SandboxError when the server cannot be started."""
        with self._lock:
            for control in (self._control, None):
                try:
                    socket.send_fds(control or self._restart(), [word.encode()], list(descriptors))
                except _SERVER_GONE:
                    continue
                return
        raise SandboxError("the sandboxes' helper process does not start: is the interpreter intact?")

    def _restart(self) -> socket.socket:
        self.close()
        return self._start()

    def close(self) -> None:
        """Let the server go; what it has forked goes on until its own socket closes."""
        if self._control is not None and self._process is not None:
            self._control.close()
            self._process.wait()
        self._control = self._process = None


_SERVER: Final = _Server()


class Job:
    """A request under way. Closing it, or our death, ends whatever it runs."""

    def __init__(self, word: str, request: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        self._word = word
        self._reply, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        body = sealed(json.dumps(request).encode())
        try:
            _SERVER.send(word, (theirs.fileno(), body, *descriptors))
        except BaseException:
            self._reply.close()
            raise
        finally:
            theirs.close()
            os.close(body)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reply.close()

    def release(self) -> None:
        """Ask the job to end what it runs; its answer still comes."""
        self._reply.shutdown(socket.SHUT_WR)

    async def ended(self) -> None:
        """Wait until the job's process is gone (after its one answer was taken)."""
        await self._readable()

    async def answer(self) -> tuple[dict[str, Any], list[int]]:
        """Wait for the job's answer, and the descriptors that came with it.

        Raises:
            SandboxError: the job failed, or its process died.
        """
        await self._readable()
        data, descriptors, _, _ = socket.recv_fds(self._reply, _MESSAGE_SIZE, 1)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)
        message = (
            json.loads(data)
            if data
            else {"error": "its helper process was killed; is the machine out of memory?"}
        )
        if "error" in message:
            raise SandboxError(f"sandbox: cannot {self._word}: {message['error']}")
        return message, descriptors

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._reply, _resolve, ready)
        try:
            await ready
        finally:
            loop.remove_reader(self._reply)


def _resolve(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
