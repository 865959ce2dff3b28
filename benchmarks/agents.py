"""An agent's side of a conversation with a model, on each API: what the gateway's benchmarks call with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from aiohttp import ClientSession, ClientTimeout, TCPConnector

from fourhands.wire.registry import wire_for
from fourhands.wire.sse import EventSplitter, event_data
from fourhands.wire.types import Action, Json, Reply
from scene import TOOLS

__all__ = ["DIALECTS", "OUTPUT", "Agent", "Dialect", "Took", "open_client"]

OUTPUT: Final = "".join(f"{n:6}\tresult = compute(value_{n}, weight_{n})\n" for n in range(40))
"""What every command prints."""
_SYSTEM: Final = "You are a helpful assistant that works with a shell. " * 40
_TASK: Final = "Fix the rounding of shares in this repository. " * 40
_FUNCTION: Final = TOOLS[0]["function"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an API words a conversation. ``fixed`` and ``key`` make the body, ``opening`` begins the history.

    ``turn`` are the items that a reply and the results of its calls add to it.
    """

    path: str
    key: str
    fixed: Mapping[str, Any]
    opening: Sequence[Json]
    turn: Callable[[Reply, Sequence[str]], Sequence[Json]]


def _arguments(action: Action) -> str:
    return orjson.dumps(action.arguments).decode()


def _chat_turn(reply: Reply, outputs: Sequence[str]) -> Sequence[Json]:
    calls = [
        {
            "id": action.call_id,
            "type": "function",
            "function": {"name": action.tool, "arguments": _arguments(action)},
        }
        for action in reply.actions
    ]
    results = [
        {"role": "tool", "tool_call_id": action.call_id, "content": output}
        for action, output in zip(reply.actions, outputs, strict=True)
    ]
    return [{"role": "assistant", "content": reply.text, "tool_calls": calls}, *results]


def _responses_turn(reply: Reply, outputs: Sequence[str]) -> Sequence[Json]:
    said = [{"type": "output_text", "text": reply.text}]
    calls = [
        {
            "type": "function_call",
            "call_id": action.call_id,
            "name": action.tool,
            "arguments": _arguments(action),
        }
        for action in reply.actions
    ]
    results = [
        {"type": "function_call_output", "call_id": action.call_id, "output": output}
        for action, output in zip(reply.actions, outputs, strict=True)
    ]
    return [{"type": "message", "role": "assistant", "content": said}, *calls, *results]


def _messages_turn(reply: Reply, outputs: Sequence[str]) -> Sequence[Json]:
    calls = [
        {"type": "tool_use", "id": action.call_id, "name": action.tool, "input": action.arguments}
        for action in reply.actions
    ]
    results = [
        {"type": "tool_result", "tool_use_id": action.call_id, "content": output}
        for action, output in zip(reply.actions, outputs, strict=True)
    ]
    said = [{"type": "text", "text": reply.text}, *calls]
    return [{"role": "assistant", "content": said}, {"role": "user", "content": results}]


DIALECTS: Final = {
    "Chat Completions": Dialect(
        "chat/completions",
        "messages",
        {"tools": TOOLS},
        [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _TASK}],
        _chat_turn,
    ),
    "Responses": Dialect(
        "responses",
        "input",
        {"instructions": _SYSTEM, "tools": [{"type": "function", **_FUNCTION}]},
        [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": _TASK}]}],
        _responses_turn,
    ),
    "Messages": Dialect(
        "messages",
        "messages",
        {
            "max_tokens": 1000,
            "system": _SYSTEM,
            "tools": [
                {
                    "name": _FUNCTION["name"],
                    "description": _FUNCTION["description"],
                    "input_schema": _FUNCTION["parameters"],
                }
            ],
        },
        [{"role": "user", "content": _TASK}],
        _messages_turn,
    ),
}


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of a call until the first bytes of the answer, and until its end."""

    first: float
    total: float


def open_client() -> ClientSession:
    """A client without limits that could be taken for a server's slowness."""
    return ClientSession(connector=TCPConnector(limit=0), timeout=ClientTimeout(total=600))


@dataclass
class Agent:
    """One conversation; its history grows by a reply and a command's output with each call."""

    client: ClientSession
    dialect: Dialect
    url: str
    key: str
    history: list[Json] = field(default_factory=list)

    async def call(self) -> Took:
        """Call the model, and take what it says into the history.

        Raises:
            RuntimeError: the reply is not whole, or asks for nothing.
        """
        dialect = self.dialect
        history = [*dialect.opening, *self.history]
        body = orjson.dumps({"model": "m", "stream": True, **dialect.fixed, dialect.key: history})
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        wire = wire_for(f"/{dialect.path}")
        assert wire
        collector, splitter, first, said = wire.collector(wants_usage=False), EventSplitter(), 0.0, b""
        began = time.perf_counter()
        async with self.client.post(f"{self.url}/{dialect.path}", data=body, headers=headers) as answer:
            async for chunk in answer.content.iter_any():
                first = first or time.perf_counter() - began
                said += chunk
        total = time.perf_counter() - began
        for event in splitter.feed(said):
            if data := event_data(event):
                collector.feed(data)
        reply = collector.reply()
        if not (reply.complete and reply.actions):
            raise RuntimeError(f"{self.url} answered {answer.status} and no whole reply: {said[:300]!r}")
        self.history += dialect.turn(reply, [OUTPUT] * len(reply.actions))
        return Took(first, total)
