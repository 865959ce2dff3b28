"""The outer end of a tunnel: connections that were made inside, made again to the gateway's listener."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Final

__all__ = ["WINDOW", "Tunnel"]

WINDOW: Final = 4 << 20
"""Bytes of data that may be under way in one direction of one connection."""
_HEADER: Final = struct.Struct(">IcI")
_PIECE: Final = 1 << 16
_CONNECTIONS: Final = 512
_OPENED, _DATA, _END, _RESET, _MORE = b"O", b"D", b"E", b"R", b"W"
_Post = Callable[[bytes, bytes], None]


class Tunnel:
    """Frames in, frames out; ``inside/mailbox.pl`` says what they are.

    Args:
        address: host and port of the gateway's listener.
        send: takes frames for the inside; never waits.
    """

    def __init__(self, address: tuple[str, int], send: Callable[[bytes], None]) -> None:
        self._address = address
        self._send = send
        self._unread = bytearray()
        self._connections: dict[int, _Connection] = {}
        self._work: dict[int, asyncio.Task[None]] = {}

    def feed(self, data: bytes) -> None:
        """Take what came from inside, cut anywhere.

        Raises:
            ValueError: these are no frames, or more of them than were allowed.
        """
        self._unread += data
        while len(self._unread) >= _HEADER.size:
            number, kind, length = _HEADER.unpack_from(self._unread)
            if length > _PIECE:
                raise ValueError(f"a frame of {length} bytes")
            end = _HEADER.size + length
            if len(self._unread) < end:
                return
            payload = bytes(self._unread[_HEADER.size : end])
            del self._unread[:end]
            self._obey(number, kind, payload)

    async def close(self) -> None:
        """Break off every connection."""
        work = list(self._work.values())
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)

    def _obey(self, number: int, kind: bytes, payload: bytes) -> None:
        if kind == _OPENED:
            self._open(number)
        elif kind == _RESET:
            if number in self._work:
                self._work[number].cancel()
        elif connection := self._connections.get(number):  # one that is lost is still written to for a while
            if kind == _MORE:
                connection.allow(int.from_bytes(payload))
            elif kind == _DATA:
                connection.take(payload)
            elif kind == _END:
                connection.take(b"")
            else:
                raise ValueError(f"a frame of kind {kind!r}")

    def _open(self, number: int) -> None:
        if number in self._work:
            raise ValueError(f"a frame that opens connection {number} again")

        def post(kind: bytes, payload: bytes) -> None:
            self._send(_HEADER.pack(number, kind, len(payload)) + payload)

        def forget(_: asyncio.Task[None]) -> None:
            del self._connections[number], self._work[number]

        if len(self._work) >= _CONNECTIONS:
            post(_RESET, b"")
            return
        self._connections[number] = connection = _Connection(post)
        self._work[number] = task = asyncio.create_task(connection.run(self._address))
        task.add_done_callback(forget)


class _Connection:
    """One connection to the gateway, from its opening until both directions have ended."""

    def __init__(self, post: _Post) -> None:
        self._post = post
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()
        self._room = WINDOW
        self._allowed = WINDOW
        self._more = asyncio.Event()

    def take(self, data: bytes) -> None:
        """Data from inside, empty at its end. Raises ValueError when it is more than was allowed."""
        self._room -= len(data)
        if self._room < 0:
            raise ValueError(f"more than {WINDOW} bytes unasked")
        self._arrived.put_nowait(data)

    def allow(self, size: int) -> None:
        """So many more bytes may be sent inside."""
        self._allowed += size
        self._more.set()

    async def run(self, address: tuple[str, int]) -> None:
        """Carry data both ways; what breaks here is broken off inside, too."""
        try:
            reader, writer = await asyncio.open_connection(*address)
        except OSError:
            self._post(_RESET, b"")
            return
        whole = False
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._outward(writer))
                group.create_task(self._inward(reader))
            whole = True
        except* OSError:
            self._post(_RESET, b"")
        finally:
            if not whole:  # also when the agent's end is gone, or the trial's has come
                writer.transport.abort()
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _outward(self, writer: asyncio.StreamWriter) -> None:
        owed = 0
        while data := await self._arrived.get():
            writer.write(data)
            await writer.drain()
            owed += len(data)
            if owed >= WINDOW // 4:
                self._room += owed
                self._post(_MORE, owed.to_bytes(4))
                owed = 0
        writer.write_eof()

    async def _inward(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(min(_PIECE, self._allowed)):
            self._post(_DATA, data)
            self._allowed -= len(data)
            while self._allowed == 0:
                self._more.clear()
                await self._more.wait()
        self._post(_END, b"")
