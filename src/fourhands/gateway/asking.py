"""How an agent's question reaches the user: over MCP, with the one tool `ask_the_user`, or as plain text.

Who is asked is the caller's to say, with every request: ``ask`` is the trial's own, so that no question can reach
another trial's user. The SDK is imported when the first request comes: it takes more than a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any, Final

from aiohttp import web

from fourhands.gateway.asgi import ASGIApp, answer_by
from fourhands.model.errors import FourhandsError

__all__ = ["PROGRESS_SECONDS", "AskingServer", "answer_plain"]

PROGRESS_SECONDS: Final = 5.0
"""Agents give up on a tool that is silent for long: most of them after 60 to 300 s."""
_MAX_QUESTION: Final = 1 << 16

Ask = Callable[[str], Awaitable[str]]


class AskingServer:
    """Answers MCP requests (streamable HTTP, stateless) on the event loop it is started on."""

    def __init__(self, *, progress_seconds: float = PROGRESS_SECONDS) -> None:
        """Nothing runs yet. ``progress_seconds`` is how often a waiting client hears that the user is thinking."""
        self._progress_seconds = progress_seconds
        self._closing = asyncio.Event()
        self._ready: asyncio.Future[ASGIApp] | None = None
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Be ready for requests; `handle` does so by itself, and once is enough."""
        await self._started()

    async def close(self) -> None:
        """Serve no more; may be called more than once, and without a start."""
        self._closing.set()
        if self._running:
            await self._running

    async def handle(self, request: web.BaseRequest, ask: Ask) -> web.StreamResponse:
        """Answer one MCP request, streamed where it must be; a question that it holds is put to ``ask``.

        What ``ask`` raises as a `FourhandsError` is told to the agent as the tool's error. ``ask`` is cancelled when
        the agent hangs up.
        """
        return await answer_by(await self._started(), request, {"ask": ask})

    async def _started(self) -> ASGIApp:
        if self._ready is None or self._running is None:
            self._ready = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._ready))
        either: set[asyncio.Future[Any]] = {self._ready, self._running}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if self._running.done():
            self._running.result()  # what kept it from starting
        return self._ready.result()

    async def _run(self, ready: asyncio.Future[ASGIApp]) -> None:
        """The server's life, in one task as its SDK demands."""
        module = await asyncio.to_thread(
            import_module, "fourhands.gateway.ask_tool"
        )  # off the loop of all trials
        async with module.tool_app(progress_seconds=self._progress_seconds) as app:
            ready.set_result(app)
            await self._closing.wait()


async def answer_plain(request: web.BaseRequest, ask: Ask) -> web.Response:
    """Answer a question that is the body of a request, in UTF-8, with the answer as the body of the response.

    Anything but 200 is no answer; the body then says why: 400 for what is no question, 413 for one that is too long,
    503 when nobody answers.
    """
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > _MAX_QUESTION:
            return web.Response(
                status=413, text=f"the question is too long: it may have {_MAX_QUESTION} bytes"
            )
    try:
        question = body.decode("utf-8")
    except UnicodeDecodeError:
        return web.Response(status=400, text="the question is not UTF-8")
    if not question.strip():
        return web.Response(status=400, text="the question is empty: say what to ask")
    try:
        return web.Response(text=await ask(question))
    except FourhandsError as error:
        return web.Response(status=503, text=str(error))
