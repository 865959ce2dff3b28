"""An ASGI application answers a request of our own server: no second server, port or socket between them.

What the application is to know of a request beyond its bytes it is told in ``state``, which no client can set.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any, Final

from aiohttp import web

__all__ = ["ASGIApp", "answer_by"]

_Message = MutableMapping[str, Any]
ASGIApp = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[_Message]], Callable[[_Message], Awaitable[None]]],
    Awaitable[None],
]

_LOOK_SECONDS: Final = 0.5
"""How often it is seen whether the client is still there: aiohttp tells a handler nothing of its going."""
_CLIENT_GONE: Final = 499


async def answer_by(app: ASGIApp, request: web.BaseRequest, state: Mapping[str, Any]) -> web.StreamResponse:
    """Let ``app`` answer ``request``, streamed both ways; ``state`` becomes the scope's.

    Returns when the application does; it is told of a client that hangs up, and cancelled with the handler.
    """
    exchange = _Exchange(request)
    with suppress(ConnectionError):  # the client has hung up within its request
        await app(_scope(request, state), exchange.receive, exchange.send)
    return exchange.response or web.Response(status=_CLIENT_GONE)


class _Exchange:
    """One request and its response, as an application's two channels."""

    def __init__(self, request: web.BaseRequest) -> None:
        self.response: web.StreamResponse | None = None
        self._request = request
        self._read = False

    async def receive(self) -> _Message:
        """The next part of the body; after the last one, that the client is gone, once it is."""
        if not self._read:
            body = await self._request.content.readany()
            self._read = not body
            return {"type": "http.request", "body": body, "more_body": not self._read}
        while not self._is_gone():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(_LOOK_SECONDS)
        return {"type": "http.disconnect"}

    async def send(self, message: _Message) -> None:
        """The start of the response, or the next part of its body; nothing to a client that is gone."""
        if self._is_gone():
            return
        with suppress(ConnectionError):
            if message["type"] == "http.response.start":
                self.response = web.StreamResponse(
                    status=message["status"],
                    headers=[
                        (name.decode("latin-1"), value.decode("latin-1"))
                        for name, value in message["headers"]
                    ],
                )
                await self.response.prepare(self._request)
                return
            assert self.response is not None
            if body := bytes(message.get("body", b"")):
                await self.response.write(body)
            if not message.get("more_body", False):
                await self.response.write_eof()

    def _is_gone(self) -> bool:
        transport = self._request.transport
        return transport is None or transport.is_closing()


def _scope(request: web.BaseRequest, state: Mapping[str, Any]) -> MutableMapping[str, Any]:
    url = request.rel_url
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": f"{request.version.major}.{request.version.minor}",
        "method": request.method,
        "scheme": "http",
        "root_path": "",
        "path": url.path,
        "raw_path": url.raw_path.encode(),
        "query_string": url.raw_query_string.encode(),
        "headers": [(name.lower(), value) for name, value in request.raw_headers],
        "client": None,
        "server": None,
        "state": dict(state),
    }
