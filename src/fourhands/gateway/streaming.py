"""A streamed reply on its way from the provider to the agent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Final

from aiohttp import ClientResponse, web

from fourhands.wire.sse import EventSplitter, event_data
from fourhands.wire.types import Collector, Reply

__all__ = ["UNREADABLE", "Listener", "reply_so_far", "wanted_events"]

UNREADABLE: Final = (ValueError, AttributeError, TypeError, LookupError, RecursionError)
"""What a reader raises on an answer that is not of its API."""


class Listener:
    """The agent's side of a stream. Once the agent has hung up, what is written for it is lost, and that is all."""

    def __init__(self, request: web.BaseRequest, status: int, headers: dict[str, str]) -> None:
        self._request = request
        self._response = web.StreamResponse(status=status, headers=headers)
        self.has_hung_up = False

    @property
    def response(self) -> web.StreamResponse:
        """What is answered."""
        return self._response

    async def open(self) -> None:
        """Send status and headers."""
        try:
            await self._response.prepare(self._request)
        except ConnectionError:
            self.has_hung_up = True

    async def write(self, data: bytes) -> None:
        """Send some of the body."""
        if data and not self.has_hung_up:  # an empty write would end a chunked body
            try:
                await self._response.write(data)
            except ConnectionError:
                self.has_hung_up = True

    async def end(self) -> None:
        """Let the agent see that the body is whole."""
        if not self.has_hung_up:
            with suppress(ConnectionError):
                await self._response.write_eof()

    def break_off(self) -> None:
        """Let the agent see what we saw: a stream that breaks off."""
        if self._request.transport is not None:
            self._request.transport.abort()


async def wanted_events(
    upstream: ClientResponse, collector: Collector, received: bytearray
) -> AsyncIterator[bytes]:
    """Events as they come, those that came together in one piece, without those that only we asked for.

    All that comes is added to ``received``, and every event is with ``collector`` before it is handed out.
    """
    splitter = EventSplitter()
    async for chunk in upstream.content.iter_any():
        received += chunk
        wanted = []
        for event in splitter.feed(chunk):
            data = event_data(event)
            if not data or _feed(collector, data):
                wanted.append(event)
        yield b"".join(wanted)
    yield splitter.rest()


def reply_so_far(collector: Collector) -> Reply | None:
    """What has been said, or ``None`` where it is no reply of its API."""
    try:
        return collector.reply()
    except UNREADABLE:
        return None


def _feed(collector: Collector, data: bytes) -> bool:
    """Whether the agent is to see an event; one that cannot be read is not ours to judge."""
    try:
        return collector.feed(data)
    except UNREADABLE:
        return True
