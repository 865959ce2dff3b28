"""The MCP server with the one tool `ask_the_user`. Importing it takes more than a second: see `asking`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)
from starlette.requests import Request

from fourhands.gateway.asgi import ASGIApp
from fourhands.model.errors import FourhandsError

__all__ = ["tool_app"]

# No output schema: with one, agents show their model {"result": …} in place of the words.
_TOOL: Final = Tool(
    name="ask_the_user",
    description=(
        "Ask the user you are working for a question, and wait for the answer. They may take minutes. "
        "They see the code you are working on."
    ),
    input_schema={
        "type": "object",
        "properties": {"question": {"type": "string", "description": "What to ask, in plain words."}},
        "required": ["question"],
        "additionalProperties": False,
    },
)
_THINKING: Final = "The user is thinking."

_Context = ServerRequestContext[Any, Any]


@asynccontextmanager
async def tool_app(*, progress_seconds: float) -> AsyncIterator[ASGIApp]:
    """The server as an ASGI application; each request's ``state["ask"]`` is who answers it.

    Stateless: a request stands for itself, so that trials share nothing. A client that gave a progress token hears
    every ``progress_seconds`` that the user is still thinking.
    """

    async def call(context: _Context, params: CallToolRequestParams) -> CallToolResult:
        return await _call(context, params, progress_seconds)

    server: Server[Any] = Server("user", on_list_tools=_list, on_call_tool=call)
    manager = StreamableHTTPSessionManager(server, stateless=True)
    async with manager.run():
        try:
            yield manager.asgi_app
        finally:
            await _end_watchers()


async def _list(context: _Context, params: PaginatedRequestParams | None) -> ListToolsResult:
    del context, params
    return ListToolsResult(tools=[_TOOL])


async def _call(context: _Context, params: CallToolRequestParams, progress_seconds: float) -> CallToolResult:
    if params.name != _TOOL.name:
        return _error(f"there is no tool {params.name!r}: there is {_TOOL.name}")
    question = (params.arguments or {}).get("question")
    if not isinstance(question, str) or not question.strip():
        return _error("question: say what to ask, as text")
    request = context.request
    assert isinstance(request, Request)
    ask: Callable[[str], Awaitable[str]] = request.state.ask
    async with asyncio.TaskGroup() as tasks:
        progress = tasks.create_task(_tell_progress(context, progress_seconds))
        try:
            result = CallToolResult(content=[TextContent(text=await ask(question))])
        except FourhandsError as error:
            result = _error(str(error))
        progress.cancel()
    return result


async def _tell_progress(context: _Context, seconds: float) -> None:
    for times in count(1):
        await asyncio.sleep(seconds)
        await context.session.report_progress(times, message=_THINKING)


def _error(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


async def _end_watchers() -> None:
    """End what the SSE library leaves running on this loop for ever, so that the loop closes in silence."""
    left = [
        task
        for task in asyncio.all_tasks()
        if getattr(task.get_coro(), "__qualname__", "") == "_shutdown_watcher"
    ]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
