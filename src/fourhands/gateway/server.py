"""The server between agent and model, on a thread and an event loop of its own.

Each trial brings a listening socket that exists in its sandbox alone, a token, and a conversation. Whoever speaks
to that socket with that token is the trial's agent; its requests go on to the upstream with the provider's key.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import socket
import threading
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from aiohttp import (
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    TCPConnector,
    web,
)
from aiohttp.http_exceptions import ContentEncodingError

from fourhands.gateway.asking import AskingServer, answer_plain
from fourhands.gateway.conversation import Admitted, Conversation
from fourhands.gateway.exchanges import Received
from fourhands.gateway.upstream import Upstream
from fourhands.model.errors import FourhandsError
from fourhands.model.outcome import Termination
from fourhands.wire.document import Document
from fourhands.wire.registry import wire_for
from fourhands.wire.sse import EventSplitter, event_data
from fourhands.wire.types import Collector, MalformedError, Reply, Wire

__all__ = ["Gateway", "Seat"]

_SEEN_AS: Final = "/v1"
"""The base path that every agent is pointed at."""
_MAX_BODY: Final = 1 << 29
_FIRST_ERROR: Final = 400
_FIRST_SERVER_ERROR: Final = 500
_NOT_THE_AGENTS: Final = frozenset({401, 402, 403, 408, 429})
_NO_TIME: Final = 0.01
"""Seconds for requests under way before they are cancelled; aiohttp takes 0 for "as long as it takes"."""
_LAST_RECORDS: Final = 10.0
"""Seconds that exchanges under way have to be recorded once their trial has ended."""
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
_UNREADABLE: Final = (ValueError, AttributeError, TypeError, LookupError)
"""What a reader raises on an answer that is not of its API."""
_INVALID: Final = "the gateway failed; the trial is invalid"
_SECRETS: Final = frozenset({"authorization", "x-api-key", "api-key"})
_PLAIN_PATH: Final = re.compile(r"(?:/[A-Za-z0-9_-][A-Za-z0-9._:-]*)+")
"""Nothing that a client or a provider could take for another host or a folder above: no ``..``, ``%``, ``@``."""
_PASSED_ON: Final = (
    ("GET", re.compile(r"/models(?:/.+)?")),
    ("POST", re.compile(r"/messages/count_tokens|/responses/input_tokens")),
)
"""What an agent may ask beside the model's replies: the key opens more at a provider, such as files and accounts."""


_OVER: Final[dict[Termination | None, str]] = {
    Termination.STEP_LIMIT: "its limit of steps is reached",
    Termination.BUDGET: "the run's budget is spent",
}
_ASK_PLAINLY: Final = "/ask"
_ASKING: Final = frozenset({"/mcp", _ASK_PLAINLY})
"""Where an agent asks its user: as an MCP tool, or in plain text."""


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
        self._asking = AskingServer()
        self._servers: dict[Seat, list[tuple[asyncio.Server, web.Server]]] = {}
        self._running: dict[Seat, set[asyncio.Future[None]]] = {}
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

    async def serve(self, stand_ins: web.Application) -> str:
        """Serve models' stand-ins on the host's loopback; return the address, ``http://127.0.0.1:PORT``."""

        async def work() -> str:
            runner = web.AppRunner(stand_ins, access_log=None)
            await runner.setup()
            self._runners.append(runner)
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            host, port = runner.addresses[0][:2]
            return f"http://{host}:{port}"

        return await self.call(work())

    async def seat(self, seat: Seat, *listeners: socket.socket) -> None:
        """Answer on ``listeners`` for ``seat`` from now on."""

        async def work() -> None:
            self._running[seat] = set()
            self._servers[seat] = []
            if seat.conversation.answers:  # agents wait for their tools only so long
                await self._asking.start()
            for listener in listeners:
                handler = web.Server(lambda request: self._handle(seat, request), access_log=None)
                server = await self._loop.create_server(handler, sock=listener, backlog=128)
                self._servers[seat].append((server, handler))

        await self.call(work())

    async def leave(self, seat: Seat) -> None:
        """Stop answering for ``seat``; every exchange that was under way is recorded when this returns."""

        async def work() -> None:
            for served in self._servers.pop(seat, ()):
                await _shut(*served)
            if running := self._running.pop(seat, None):
                await asyncio.wait(running, timeout=_LAST_RECORDS)

        await self.call(work())

    async def _close(self) -> None:
        for served in [each for of_seat in self._servers.values() for each in of_seat]:
            await _shut(*served)
        for runner in self._runners:
            await runner.cleanup()
        await self._asking.close()
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
        wire = None
        under_way = self._loop.create_future()
        self._running.get(seat, set()).add(under_way)
        try:
            _admit(request, seat.token)
            _refuse_upgrade(request)
            if request.path in _ASKING:
                return await self._question(seat, request)
            wire = _wire(request)
            raw = await _read(request)
            if wire is None:
                return await self._pass_on(seat, request, raw)
            return await self._converse(seat, wire, request, raw)
        except _RefusedError as refusal:
            return _error(wire, refusal.status, str(refusal))
        finally:
            self._running.get(seat, set()).discard(under_way)
            under_way.set_result(None)

    async def _question(self, seat: Seat, request: web.BaseRequest) -> web.StreamResponse:
        conversation = seat.conversation
        if not conversation.answers:
            raise _RefusedError(404, "nobody answers questions in this trial")
        if request.path == _ASK_PLAINLY:
            return await answer_plain(request, conversation.ask)
        return await self._asking.handle(request, conversation.ask)

    async def _converse(
        self, seat: Seat, wire: Wire, request: web.BaseRequest, raw: bytes
    ) -> web.StreamResponse:
        if seat.conversation.failure is not None:
            raise _RefusedError(500, _INVALID)
        try:
            document = Document.read(wire, raw)
            admitted = await seat.conversation.before_call(document, request.headers)
        except MalformedError as error:  # what cannot be read is the agent's mistake, not ours
            raise _RefusedError(400, str(error)) from None
        except Exception as error:  # whatever breaks on our side is ours to answer for, never the agent's
            _fail(seat, error)
            raise _RefusedError(500, _INVALID) from error
        if admitted is None:
            why = _OVER.get(seat.conversation.limit, "it has ended")
            raise _RefusedError(403, f"the trial takes no more requests: {why}")
        return await _Exchange(seat, request, document, admitted).run(self._session())

    async def _pass_on(self, seat: Seat, request: web.BaseRequest, raw: bytes) -> web.StreamResponse:
        """Anything that is no exchange with the model: lists of models, token counts."""
        async with self._session().request(
            request.method,
            _target(seat, request),
            data=raw or None,
            headers=_headers(seat, request),
            allow_redirects=False,
        ) as upstream:
            body = _without_key(seat, upstream.status, await upstream.read())
            return web.Response(status=upstream.status, headers=_back(upstream), body=body)


@dataclass
class _Exchange:
    """One request to the model and its answer, passed on byte for byte. ``document`` is as the agent sent it."""

    seat: Seat
    request: web.BaseRequest
    document: Document
    admitted: Admitted

    status: int = 0
    content_type: str = ""
    reply: Reply | None = None
    received: bytearray = field(default_factory=bytearray)
    provider_failed: bool = False
    started: float = field(default_factory=time.monotonic)
    recorded: bool = False

    @property
    def wire(self) -> Wire:
        """The API that is spoken."""
        return self.document.wire

    async def run(self, client: ClientSession) -> web.StreamResponse:
        """Pass the request on, and the answer back; record both, however it ends."""
        sent = self._sent()
        try:
            return await self._forward(client, sent)
        except (ClientError, TimeoutError) as error:
            self.status, self.provider_failed = 502, True
            return _error(self.wire, self.status, f"the model cannot be reached: {type(error).__name__}")
        finally:
            await asyncio.shield(self._record(sent))

    def _sent(self) -> Document:
        """The request as it goes to the model: the provider's name for it, and the usage asked for."""
        asking = self.admitted.document
        options = {key: asking.value(key) for key in ("stream", "stream_options")}
        model = orjson.dumps(self.seat.upstream.model)
        return asking.with_fields({**self.wire.ask_for_usage(options), "model": model})

    async def _forward(self, client: ClientSession, sent: Document) -> web.StreamResponse:
        async with client.post(
            _target(self.seat, self.request),
            data=sent.encode(),
            headers=_headers(self.seat, self.request),
            allow_redirects=False,
        ) as upstream:
            self.status = upstream.status
            self.content_type = upstream.headers.get("content-type", "")
            self.provider_failed = _is_provider_failure(upstream.status)
            if "text/event-stream" in self.content_type:
                return await self._stream(upstream, sent)
            self.received += _without_key(self.seat, self.status, await upstream.read())
            if upstream.ok:
                self.reply = self._whole()
                self.provider_failed = self.reply is None
            return web.Response(status=self.status, headers=_back(upstream), body=bytes(self.received))

    async def _stream(self, upstream: ClientResponse, sent: Document) -> web.StreamResponse:
        options = self.document.value("stream_options")
        asked = isinstance(options, dict) and bool(options.get("include_usage"))
        collector = self.wire.collector(wants_usage=asked)
        response = web.StreamResponse(status=self.status, headers=_back(upstream))
        await response.prepare(self.request)
        held: list[bytes] | None = [] if self.seat.conversation.holds_replies else None
        try:
            async for events in _wanted(upstream, collector, self.received):
                if held is not None:
                    held.append(events)
                    continue
                try:
                    await response.write(events)
                except ConnectionError:
                    return response  # the agent has hung up: not the provider's doing
        except (ClientError, TimeoutError):
            self.provider_failed = True
            if self.request.transport is not None:
                self.request.transport.abort()  # the agent sees what we saw: a stream that breaks off
            return response
        finally:
            self.reply = collector.reply()
        self.provider_failed = self.provider_failed or not self.reply.complete
        # Recorded before the agent sees the end: its next request finds this one settled. And before it sees
        # anything, if a user may act in between.
        await self._record(sent)
        with suppress(ConnectionError):
            await response.write_eof(b"".join(held or ()))
        return response

    def _whole(self) -> Reply | None:
        try:
            return self.wire.parse_reply(orjson.loads(self.received))
        except _UNREADABLE:
            return None

    async def _record(self, sent: Document) -> None:
        if self.recorded:
            return
        self.recorded = True
        try:
            await self.seat.conversation.after_call(
                self.admitted,
                sent=sent,
                received=Received(self.status, self.content_type, bytes(self.received)),
                reply=self.reply,
                milliseconds=(time.monotonic() - self.started) * 1000,
                provider_failed=self.provider_failed,
            )
        except Exception as error:  # noqa: BLE001 - a full disk, a sandbox that is gone: ours, never the agent's
            _fail(self.seat, error)


def _fail(seat: Seat, error: Exception) -> None:
    seat.conversation.fail(str(error) if isinstance(error, FourhandsError) else repr(error))


async def _wanted(
    upstream: ClientResponse, collector: Collector, received: bytearray
) -> AsyncIterator[bytes]:
    """Events as they come, those that came together in one piece, without those that only we asked for."""
    splitter = EventSplitter()
    async for chunk in upstream.content.iter_any():
        received += chunk
        wanted = []
        for event in splitter.feed(chunk):
            data = event_data(event)
            if not data or _feed(collector, data):
                wanted.append(event)
        if wanted:  # an empty write would end a chunked body
            yield b"".join(wanted)
    if rest := splitter.rest():
        yield rest


def _feed(collector: Collector, data: bytes) -> bool:
    """Whether the agent is to see an event; one that cannot be read is not ours to judge."""
    try:
        return collector.feed(data)
    except _UNREADABLE:
        return True


async def _shut(server: asyncio.Server, handler: web.Server) -> None:
    server.close()
    await handler.shutdown(timeout=_NO_TIME)


async def _read(request: web.BaseRequest) -> bytes:
    """The body, whose length may not be told beforehand.

    Raises:
        _RefusedError: it is too long, or is not compressed as it says.
    """
    chunks, length = [], 0
    try:
        async for chunk in request.content.iter_any():
            chunks.append(chunk)
            length += len(chunk)
            if length > _MAX_BODY:
                raise _RefusedError(413, f"requests end at {_MAX_BODY} bytes")
    except (web.RequestPayloadError, ContentEncodingError) as error:
        raise _RefusedError(400, f"the body cannot be read: {error}") from None
    return b"".join(chunks)


def _refuse_upgrade(request: web.BaseRequest) -> None:
    """Refuse a WebSocket by the one status at which clients go on by HTTP at once."""
    if request.headers.get("upgrade", "").lower() == "websocket":
        raise _RefusedError(426, "this gateway speaks HTTP alone: send the request as a POST")


def _is_provider_failure(status: int) -> bool:
    """Whether a status is the provider's fault or our key's; any other 4xx answers what the agent asked."""
    return status >= _FIRST_SERVER_ERROR or status in _NOT_THE_AGENTS


def _admit(request: web.BaseRequest, token: str) -> None:
    if not _knows_token(request, token):
        raise _RefusedError(401, "this gateway needs the trial's own token")


def _knows_token(request: web.BaseRequest, token: str) -> bool:
    given = request.headers.get("authorization", "").removeprefix("Bearer ") or request.headers.get(
        "x-api-key", ""
    )
    # A header may hold any bytes; they come as surrogates.
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), token.encode())


def _path(request: web.BaseRequest) -> str:
    """The path below the base that agents are pointed at, as it was sent.

    Raises:
        _RefusedError: it could lead anywhere but below the provider's base URL.
    """
    path = request.rel_url.raw_path
    if not _PLAIN_PATH.fullmatch(path):
        raise _RefusedError(404, "this gateway has no such path")
    return path.removeprefix(_SEEN_AS) if path.startswith(f"{_SEEN_AS}/") else path


def _wire(request: web.BaseRequest) -> Wire | None:
    """The wire of an exchange with the model, or ``None`` for what is passed on as it is.

    Raises:
        _RefusedError: the request is neither.
    """
    method, path = request.method, _path(request)
    wire = wire_for(path) if method == "POST" else None
    if wire is None and not any(method == each and known.fullmatch(path) for each, known in _PASSED_ON):
        raise _RefusedError(404, "this gateway passes on calls of the model alone")
    return wire


def _target(seat: Seat, request: web.BaseRequest) -> str:
    query = request.rel_url.raw_query_string
    return seat.upstream.base_url.rstrip("/") + _path(request) + (f"?{query}" if query else "")


def _without_key(seat: Seat, status: int, body: bytes) -> bytes:
    """An answer as the agent may see it: a provider that refuses a key may repeat it."""
    if seat.upstream.key and status >= _FIRST_ERROR:
        return body.replace(seat.upstream.key.encode(), b"(the provider's key)")
    return body


def _headers(seat: Seat, request: web.BaseRequest) -> dict[str, str]:
    """The agent's headers, with the provider's key in place of the trial's token, where the agent had put it.

    A body that came compressed has been unpacked, and goes on like that.
    """
    dropped = _HOP_BY_HOP | _SECRETS
    kept = {k: v for k, v in request.headers.items() if k.lower() not in dropped}
    kept["Accept-Encoding"] = "identity"
    if seat.upstream.key:
        if "x-api-key" in request.headers:
            kept["X-Api-Key"] = seat.upstream.key
        else:
            kept["Authorization"] = f"Bearer {seat.upstream.key}"
    return kept


def _back(upstream: ClientResponse) -> dict[str, str]:
    return {k: v for k, v in upstream.headers.items() if k.lower() not in _HOP_BY_HOP}


def _error(wire: Wire | None, status: int, message: str) -> web.Response:
    return web.json_response(wire.error(message) if wire else {"error": {"message": message}}, status=status)
