"""The server between agent and model, on a thread and an event loop of its own.

Each trial brings a listening socket that exists in its sandbox alone, a token, and a conversation. Whoever speaks
to that socket with that token is the trial's agent; its requests go on to the upstream with the provider's key.
"""

from __future__ import annotations

import asyncio
import hmac
import socket
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass
from typing import Any, Final

import orjson
from aiohttp import (
    ClientConnectionError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    TCPConnector,
    web,
)

from fourhands.gateway.conversation import Admitted, Conversation
from fourhands.gateway.players import PlayerServer
from fourhands.gateway.upstream import Upstream
from fourhands.model.errors import FourhandsError
from fourhands.wire.registry import wire_for
from fourhands.wire.sse import EventSplitter, event_data
from fourhands.wire.types import Collector, Json, Reply, Request, Wire

__all__ = ["Gateway", "Seat"]

_SEEN_AS: Final = "/v1"
"""The base path that every agent is pointed at."""
_MAX_BODY: Final = 1 << 29
_HOP_BY_HOP: Final = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "host",
        "keep-alive",
        "transfer-encoding",
        "accept-encoding",
    }
)
_SECRETS: Final = frozenset({"authorization", "x-api-key", "api-key"})


class _RefusedError(Exception):
    """A request that gets no further; ``status`` and message are the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Seat:
    """One trial at the gateway."""

    token: str
    conversation: Conversation
    upstream: Upstream


class Gateway:
    """Runs on its own thread; its public methods may be called from any other."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gateway", daemon=True)
        self._client: ClientSession | None = None
        self._servers: dict[Seat, tuple[asyncio.Server, web.Server]] = {}
        self._runners: list[web.AppRunner] = []

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End every connection and the thread."""
        self.call_soon(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call_soon[T](self, work: Coroutine[Any, Any, T]) -> T:
        """Run ``work`` on the gateway's loop and wait for it here; not from that loop itself."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def call[T](self, work: Coroutine[Any, Any, T]) -> T:
        """As `call_soon`, awaited from another event loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def serve_players(self, players: PlayerServer) -> str:
        """Serve stand-ins on the host's loopback; return the address, ``http://127.0.0.1:PORT``."""

        async def work() -> str:
            runner = web.AppRunner(players.app, access_log=None)
            await runner.setup()
            self._runners.append(runner)
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            return f"http://{host}:{port}"

        return await self.call(work())

    async def seat(self, seat: Seat, listener: socket.socket) -> None:
        """Answer on ``listener`` for ``seat`` from now on."""

        async def work() -> None:
            handler = web.Server(lambda request: self._handle(seat, request), access_log=None)
            server = await self._loop.create_server(handler, sock=listener, backlog=128)
            self._servers[seat] = server, handler

        await self.call(work())

    async def leave(self, seat: Seat) -> None:
        """Stop answering for ``seat``."""

        async def work() -> None:
            if served := self._servers.pop(seat, None):
                await _shut(*served)

        await self.call(work())

    async def _close(self) -> None:
        for served in self._servers.values():
            await _shut(*served)
        for runner in self._runners:
            await runner.cleanup()
        if self._client:
            await self._client.close()

    def _session(self) -> ClientSession:
        if self._client is None:
            # No total limit: a model may think for an hour. Connecting may not take for ever.
            timeout = ClientTimeout(total=None, sock_connect=30)
            self._client = ClientSession(
                timeout=timeout, connector=TCPConnector(limit=0), auto_decompress=False
            )
        return self._client

    async def _handle(self, seat: Seat, request: web.BaseRequest) -> web.StreamResponse:
        wire = wire_for(request.path) if request.method == "POST" else None
        try:
            _admit(request, seat.token)
            raw = await request.content.read()
            if wire is None:
                return await self._pass_on(seat, request, raw)
            return await self._converse(seat, wire, request, raw)
        except _RefusedError as refusal:
            return _error(wire, refusal.status, str(refusal))

    async def _converse(
        self, seat: Seat, wire: Wire, request: web.BaseRequest, raw: bytes
    ) -> web.StreamResponse:
        try:
            body = orjson.loads(raw)
            parsed = wire.parse_request(body)
        except (ValueError, AttributeError) as error:
            raise _RefusedError(400, f"not a {wire.name} request: {error}") from None
        try:
            admitted = await seat.conversation.before_call(wire, parsed, body)
        except FourhandsError as error:
            seat.conversation.fail(str(error))
            raise _RefusedError(500, str(error)) from error
        if admitted is None:
            raise _RefusedError(403, "the trial's step limit is reached")
        return await _Exchange(seat, wire, request, parsed, body, admitted).run(self._session())

    async def _pass_on(self, seat: Seat, request: web.BaseRequest, raw: bytes) -> web.StreamResponse:
        """Anything that is no exchange with the model: lists of models, token counts."""
        async with self._session().request(
            request.method, _target(seat, request), data=raw or None, headers=_headers(seat, request)
        ) as upstream:
            return web.Response(status=upstream.status, headers=_back(upstream), body=await upstream.read())


@dataclass
class _Exchange:
    """One request to the model and its answer, passed on byte for byte."""

    seat: Seat
    wire: Wire
    request: web.BaseRequest
    parsed: Request
    body: Json
    admitted: Admitted

    async def run(self, client: ClientSession) -> web.StreamResponse:
        body = {**self.admitted.body, "model": self.seat.upstream.model}
        sent = orjson.dumps(body)
        started = time.monotonic()
        received = bytearray()
        reply: Reply | None = None
        status = 0
        try:
            async with client.post(
                _target(self.seat, self.request), data=sent, headers=_headers(self.seat, self.request)
            ) as upstream:
                status = upstream.status
                if "text/event-stream" in upstream.headers.get("content-type", ""):
                    collector = self.wire.collector(self.body)
                    response: web.StreamResponse = web.StreamResponse(status=status, headers=_back(upstream))
                    await response.prepare(self.request)
                    try:
                        async for event in _wanted(upstream, collector, received):
                            await response.write(event)
                        # Recorded before the agent sees the end: its next request finds this one settled.
                        reply = collector.reply()
                        await self._record(status, reply, body, received, started)
                        await response.write_eof()
                    except (ClientError, ConnectionError, asyncio.CancelledError):
                        reply = collector.reply()
                        await asyncio.shield(self._record(status, reply, body, received, started))
                        raise
                    return response
                received += await upstream.read()
                if upstream.ok:
                    reply = self._whole(received)
                response = web.Response(status=status, headers=_back(upstream), body=bytes(received))
        except (ClientConnectionError, TimeoutError) as error:
            status = 502
            response = _error(self.wire, status, f"the model cannot be reached: {error}")
        await self._record(status, reply, body, received, started)
        return response

    def _whole(self, received: bytearray) -> Reply | None:
        try:
            return self.wire.parse_reply(orjson.loads(received))
        except (ValueError, AttributeError):
            return None

    async def _record(
        self, status: int, reply: Reply | None, sent: Json, received: bytearray, started: float
    ) -> None:
        await self.seat.conversation.after_call(
            self.parsed,
            number=self.admitted.number,
            status=status,
            reply=reply,
            sent=sent,
            received=bytes(received),
            milliseconds=(time.monotonic() - started) * 1000,
        )


async def _wanted(
    upstream: ClientResponse, collector: Collector, received: bytearray
) -> AsyncIterator[bytes]:
    """Events as they come, without those that only we asked for."""
    splitter = EventSplitter()
    async for chunk in upstream.content.iter_any():
        received += chunk
        for event in splitter.feed(chunk):
            data = event_data(event)
            if not data or collector.feed(data):
                yield event
    if rest := splitter.rest():
        yield rest


async def _shut(server: asyncio.Server, handler: web.Server) -> None:
    server.close()
    await handler.shutdown(timeout=0)


def _admit(request: web.BaseRequest, token: str) -> None:
    if not _knows_token(request, token):
        raise _RefusedError(401, "this gateway needs the trial's own token")
    if request.content_length is not None and request.content_length > _MAX_BODY:
        raise _RefusedError(413, f"requests end at {_MAX_BODY} bytes")


def _knows_token(request: web.BaseRequest, token: str) -> bool:
    given = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get(
        "x-api-key", ""
    )
    return hmac.compare_digest(given.encode(), token.encode())


def _target(seat: Seat, request: web.BaseRequest) -> str:
    return seat.upstream.base_url.rstrip("/") + request.path_qs.removeprefix(_SEEN_AS)


def _headers(seat: Seat, request: web.BaseRequest) -> dict[str, str]:
    """The agent's headers, with the provider's key in place of the trial's token."""
    kept = {k: v for k, v in request.headers.items() if k.lower() not in _HOP_BY_HOP | _SECRETS}
    kept["Accept-Encoding"] = "identity"
    if seat.upstream.key:
        kept["Authorization"] = f"Bearer {seat.upstream.key}"
    return kept


def _back(upstream: ClientResponse) -> dict[str, str]:
    return {k: v for k, v in upstream.headers.items() if k.lower() not in _HOP_BY_HOP}


def _error(wire: Wire | None, status: int, message: str) -> web.Response:
    return web.json_response(wire.error(message) if wire else {"error": {"message": message}}, status=status)
