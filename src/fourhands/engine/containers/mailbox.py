"""A way to the gateway from a sandbox that has none to this machine: by ``exec`` alone.

Inside, ``inside/mailbox.pl`` takes the agent's connections in. An exec that waits fetches their bytes, others bring
in what is answered. Both directions are streams of bytes with offsets, so an exec that is lost is made again, and
one that was lost only on its way back does no harm.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
import secrets
import shlex
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from harbor.environments.base import ExecResult

from fourhands.engine.containers.tunnel import WINDOW, Tunnel
from fourhands.model.errors import MissingError, SandboxError

__all__ = ["CutOff", "Execute", "Mailbox", "OnCutOff", "ignore"]

Execute = Callable[[str, int], Awaitable[ExecResult]]
"""Run a shell command inside within so many seconds; raises SandboxError when that cannot be."""


@dataclass(frozen=True, slots=True)
class CutOff:
    """The agent has no way to the gateway any more before its time: whose doing that was, and how."""

    by: Literal["agent", "environment"]
    reason: str


OnCutOff = Callable[[CutOff], None]
"""Is told of it at once, and only once."""

_LETTER: Final = 72 << 10
"""Bytes that go in at once: as Base64 three quarters of what an argument may have."""
_LETTERS: Final = 4
"""Full letters under way at once."""
_MOST: Final = 512 << 10
"""Bytes that are fetched at once: fewer while answers do not arrive whole, for a provider may cut long ones off."""
_LEAST: Final = 16 << 10
_WAIT: Final = 25
"""Seconds that one exec waits for bytes."""
_SLACK: Final = 30
"""Seconds that an exec may take beyond those."""
_LAST: Final = 5
"""Seconds that the exec may take by which the program inside is seen to be there at the end."""
_LINGER: Final = 0.002
"""Seconds in which more may come that goes in with the first."""
_PAUSES: Final = (0.1, 0.3, 1.0, 3.0, 8.0, 20.0)
"""Seconds before an exec that was lost is made again; then the environment is."""
_LEASE: Final = 300
"""Seconds without an exec after which the program inside ends by itself."""
_NOT_FOUND: Final = frozenset({126, 127})
_SHOWN: Final = 400
_TRIES: Final = 20


class _LostError(Exception):
    """An exec whose answer did not arrive whole; the message is what arrived."""


class _GoneError(Exception):
    """Our program does not answer inside any more: it was killed, or has ended by itself."""


def ignore(cut_off: CutOff) -> None:
    """For whoever does not ask; see `OnCutOff`."""
    del cut_off


class Mailbox:
    """Carries the agent's connections from one environment. Belongs to the event loop on which it is opened.

    Args:
        execute: reaches the environment; always as one and the same user.
        place: what the environment is called in messages.
        on_cut_off: called on that event loop.
    """

    def __init__(self, execute: Execute, place: str, on_cut_off: OnCutOff = ignore) -> None:
        self.failure: SandboxError | None = None
        """Why the way is closed, where that is not the agent's doing: the environment does not do its work."""
        self._execute = execute
        self._place = place
        self._on_cut_off = on_cut_off
        self._name = secrets.token_hex(16)
        self._heard = time.time()
        self._fetched = 0
        self._outbox = bytearray()
        self._more = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._is_cut_off = False

    async def open(self, port: int) -> socket.socket:
        """Listen inside at ``port``; a listening socket of our loopback, at the same port, for the gateway.

        Raises:
            MissingError: there is no perl inside.
            SandboxError: the port is taken inside, or the environment does not do its work.
        """
        listener = _listener(port)
        try:
            await self._install(port)
        except BaseException:
            listener.close()
            raise
        self._work = asyncio.create_task(self._carry(listener.getsockname()))
        return listener

    async def close(self) -> None:
        """Break off every connection, and fetch nothing more. The program inside is left to whoever kills all."""
        if self._work is None or self._work.done():
            return
        self._work.cancel()
        await asyncio.wait({self._work})
        if self._is_cut_off:
            return
        # An agent that kills everything may have ended by that, before any exec has met it.
        with suppress(SandboxError, TimeoutError, _LostError):
            try:
                await self._say(f"take {self._fetched} 0 0", _LAST)
            except _GoneError as error:
                self._gone(error)

    async def _install(self, port: int) -> None:
        program = _perl("mailbox", self._name, port, WINDOW, _LEASE)
        done = await self._execute(program, _SLACK)
        said = self._answer(done.stdout)
        if said == "open":
            return
        if said is not None:
            reason = said.removeprefix("taken ")
            raise SandboxError(
                f"{self._place}: the gateway's port {port} cannot be had inside ({reason}): let nothing in the "
                "task's image listen there"
            )
        if done.return_code in _NOT_FOUND:
            raise MissingError(
                f"the image of {self._place} has no perl, by which the agent's model is reached from there: install "
                "it in its environment/Dockerfile (apt-get install perl-base, or apk add perl)"
            )
        raise SandboxError(
            f"{self._place}: the way to the gateway cannot be opened, code {done.return_code}: {_end_of(done)}"
        )

    async def _carry(self, address: tuple[str, int]) -> None:
        tunnel = Tunnel(address, self._send)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._fetch_all(tunnel))
                group.create_task(self._bring_all())
        except* _GoneError as errors:
            self._gone(errors.exceptions[0])
        except* Exception as errors:  # noqa: BLE001 - whatever it was, the agent has no model any more
            self._fail(str(errors.exceptions[0]))
        finally:
            await tunnel.close()

    def _gone(self, error: Exception) -> None:
        if time.time() - self._heard > _LEASE:
            self._fail(f"no command could be run inside for {_LEASE} s")
        else:
            self._tell(
                CutOff("agent", f"{self._place}: the way to the gateway is closed from inside: {error}")
            )

    def _fail(self, reason: str) -> None:
        self.failure = SandboxError(f"{self._place}: the way to the gateway is closed: {reason}")
        self._tell(CutOff("environment", str(self.failure)))

    def _tell(self, cut_off: CutOff) -> None:
        self._is_cut_off = True
        self._on_cut_off(cut_off)

    def _send(self, frames: bytes) -> None:
        self._outbox += frames
        self._more.set()

    async def _fetch_all(self, tunnel: Tunnel) -> None:
        most = _MOST
        while True:
            before = most

            async def fetch() -> bytes:
                nonlocal most
                try:
                    return await self._fetch(most)
                except _LostError:
                    most = max(_LEAST, most // 2)
                    raise

            data = await self._patiently(fetch)
            self._fetched += len(data)
            if most == before:
                most = min(_MOST, most * 2)
            try:
                tunnel.feed(data)
            except ValueError as error:
                raise _GoneError(f"what answers is not our program any more: it sent {error}") from error

    async def _fetch(self, most: int) -> bytes:
        """What is there beyond what has been fetched.

        Raises:
            _LostError: it did not arrive whole.
        """
        said = await self._say(f"take {self._fetched} {most} {_WAIT}", _WAIT + _SLACK)
        found = re.fullmatch(r"(\d+) (\d+) ([A-Za-z0-9+/=\s]*)", said)
        with suppress(binascii.Error):
            data = base64.b64decode(found[3]) if found else b""
            if found and (int(found[1]), int(found[2])) == (self._fetched, len(data)):
                return data
        raise _LostError(f"not the bytes from {self._fetched} on: {said[:_SHOWN]}")

    async def _bring_all(self) -> None:
        under_way: set[asyncio.Task[None]] = set()
        brought = 0
        try:
            while True:
                # What is little waits for the letter before it, and gathers; what fills letters does not.
                while self._outbox and (
                    not under_way or (len(under_way) < _LETTERS and len(self._outbox) >= _LETTER)
                ):
                    letter = bytes(self._outbox[:_LETTER])
                    del self._outbox[:_LETTER]
                    under_way.add(asyncio.create_task(self._bring(brought, letter)))
                    brought += len(letter)
                self._more.clear()
                news = asyncio.create_task(self._more.wait())
                done, _ = await asyncio.wait({news, *under_way}, return_when=asyncio.FIRST_COMPLETED)
                news.cancel()
                for letter_task in done & under_way:
                    letter_task.result()
                if not under_way:
                    await asyncio.sleep(_LINGER)
                under_way -= done
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _bring(self, offset: int, data: bytes) -> None:
        line = f"give {offset} {base64.b64encode(data).decode()}"
        await self._patiently(lambda: self._say(line, _SLACK))

    async def _patiently[T](self, attempt: Callable[[], Awaitable[T]]) -> T:
        """What ``attempt`` comes to, made again after growing pauses.

        Raises:
            SandboxError: it was lost every time.
            _GoneError: nobody answers inside.
        """
        for pause in _PAUSES:
            try:
                return await attempt()
            except (SandboxError, TimeoutError, _LostError):
                await asyncio.sleep(pause)
        try:
            return await attempt()
        except (TimeoutError, _LostError) as error:
            raise SandboxError(f"no answer from inside after {len(_PAUSES) + 1} attempts: {error}") from error

    async def _say(self, line: str, seconds: int) -> str:
        """The answer of the program inside to a line.

        Raises:
            SandboxError: the environment does not do its work.
            TimeoutError: nor does it say so.
            _LostError: the answer did not arrive whole.
            _GoneError: nobody answers.
        """
        async with asyncio.timeout(seconds + _SLACK):
            done = await self._execute(_perl("letter", self._name, line), seconds)
        said = self._answer(done.stdout)
        if said is None:
            raise _LostError(f"code {done.return_code}, {_end_of(done)}")
        if said == "gone":
            raise _GoneError("the program that carries it was killed, by the agent or for want of memory")
        self._heard = time.time()
        return said

    def _answer(self, output: str | None) -> str | None:
        found = re.search(f"<{self._name}:([^:]*):{self._name}>", output or "")
        return found[1] if found else None


def _listener(port: int) -> socket.socket:
    """Every trial has the same port, and one of the many addresses of the loopback."""
    for _ in range(_TRIES):
        address = f"127.{secrets.randbelow(254) + 1}.{secrets.randbelow(256)}.{secrets.randbelow(254) + 1}"
        with suppress(OSError):
            return socket.create_server((address, port), backlog=128)
    raise SandboxError(f"the gateway cannot listen on port {port} of this machine's loopback: is it taken?")


def _perl(program: Literal["mailbox", "letter"], *arguments: str | int) -> str:
    return shlex.join(["perl", "-e", _source(program), *map(str, arguments)])


@cache
def _source(program: str) -> str:
    return files("fourhands.engine.containers.inside").joinpath(f"{program}.pl").read_text(encoding="utf-8")


def _end_of(done: ExecResult) -> str:
    return ((done.stderr or done.stdout) or "")[-_SHOWN:].strip() or "no message"
