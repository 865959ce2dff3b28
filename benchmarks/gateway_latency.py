"""What the gateway adds to a streamed call of the model, beside a LiteLLM proxy; all servers in their own processes.

An agent speaks to each route in turn, with a history that grows by a command and its output with each call. One
stream shows what a call takes longer; sixty-four at once show what a call costs the server in CPU.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import orjson
from aiohttp import ClientSession, ClientTimeout, TCPConnector

from fourhands.model.errors import MissingError
from fourhands.wire.chat import ChatCompletions
from fourhands.wire.sse import EventSplitter, event_data
from measure import Figure, Outcome, process_cpu, serving, summary
from peers.litellm_proxy import KEY, VERSION, litellm_proxy
from scene import TOOLS

__all__ = ["measure"]

_CHUNKS: Final = 24
_PAUSE_MS: Final = 5
_ROUNDS: Final = 40
_STREAMS: Final = 64
_CALLS: Final = 4
"""Calls of each stream."""
_WARM_UP: Final = 3
_OUTPUT: Final = "".join(f"{n:6}\tresult = compute(value_{n}, weight_{n})\n" for n in range(40))
_DIRECT: Final = "direct"
_LITELLM: Final = "LiteLLM proxy"
_STILL: Final = "gateway"
_SANDBOX: Final = "gateway with its snapshots"


def measure() -> Outcome:
    """Start everything, then take one stream, then many."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _, provider = stack.enter_context(serving("provider", str(_CHUNKS), str(_PAUSE_MS)))
        upstream = provider["url"]
        routes = [_Route(_DIRECT, 0, (upstream,), "key")]
        for name, workspace in ((_STILL, "still"), (_SANDBOX, "sandbox")):
            place = folder / workspace
            place.mkdir()
            pid, ready = stack.enter_context(
                serving("gateway", upstream, str(_STREAMS), workspace, str(place))
            )
            routes.append(_Route(name, pid, tuple(ready["urls"]), ready["token"]))
        missing = []
        try:
            pid, url = stack.enter_context(litellm_proxy(upstream, folder))
            routes.append(_Route(_LITELLM, pid, (url,), KEY))
        except (MissingError, RuntimeError) as error:
            missing.append(f"without a LiteLLM proxy: {error}")
        added = asyncio.run(_one_stream(routes))
        costs = {route.name: asyncio.run(_many_streams(route)) for route in routes if route.pid}
    notes = (
        f"a reply has {_CHUNKS} pieces of text, {_PAUSE_MS} ms apart; a call adds {len(_OUTPUT)} bytes of output",
        f"LiteLLM {VERSION}, one worker",
        f"one stream: medians of {_ROUNDS} interleaved rounds, each beyond the direct call of its round",
        f"{_STREAMS} streams: a trial each, {_CALLS} calls a stream; CPU of the server's own process",
    )
    return Outcome((*_latencies(added), *_costs(costs)), (*notes, *missing))


@dataclass(frozen=True)
class _Route:
    """A way to the model. With one URL, all streams share it."""

    name: str
    pid: int
    urls: Sequence[str]
    key: str


@dataclass
class _Agent:
    """An agent's side of one conversation."""

    client: ClientSession
    url: str
    key: str
    messages: list[dict[str, Any]] = field(
        default_factory=lambda: [
            {"role": "system", "content": "You are a helpful assistant that works with a shell. " * 40},
            {"role": "user", "content": "Fix the rounding of shares in this repository. " * 40},
        ]
    )

    async def call(self) -> tuple[float, float]:
        """One call, and the command's result into the history; seconds to the first piece and to the end.

        Raises:
            RuntimeError: the reply is not whole, or asks for nothing.
        """
        body = {"model": "m", "messages": self.messages, "tools": TOOLS, "stream": True}
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        collector, splitter, first = ChatCompletions().collector(body), EventSplitter(), 0.0
        began = time.perf_counter()
        async with self.client.post(
            f"{self.url}/chat/completions", data=orjson.dumps(body), headers=headers
        ) as answer:
            async for chunk in answer.content.iter_any():
                first = first or time.perf_counter() - began
                for event in splitter.feed(chunk):
                    if data := event_data(event):
                        collector.feed(data)
        total = time.perf_counter() - began
        reply = collector.reply()
        if not (reply.complete and reply.actions):
            raise RuntimeError(f"{self.url} answered {answer.status} and no whole reply: {reply.text[:200]}")
        action = reply.actions[0]
        function = {"name": action.tool, "arguments": orjson.dumps(action.arguments).decode()}
        call = {"id": action.call_id, "type": "function", "function": function}
        self.messages += [
            {"role": "assistant", "content": reply.text, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": action.call_id, "content": _OUTPUT},
        ]
        return first, total


def _client() -> ClientSession:
    return ClientSession(connector=TCPConnector(limit=0), timeout=ClientTimeout(total=600))


@dataclass(frozen=True, slots=True)
class _Added:
    """Seconds beyond the direct call of the same round."""

    first: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)


async def _one_stream(routes: Sequence[_Route]) -> dict[str, _Added]:
    added = {route.name: _Added() for route in routes if route.name != _DIRECT}
    async with _client() as client:
        agents = {route.name: _Agent(client, route.urls[0], route.key) for route in routes}
        for number in range(_ROUNDS + _WARM_UP):
            times = {name: await agent.call() for name, agent in agents.items()}
            if number < _WARM_UP:
                continue
            for name, found in added.items():
                found.first.append(times[name][0] - times[_DIRECT][0])
                found.total.append(times[name][1] - times[_DIRECT][1])
    return added


async def _many_streams(route: _Route) -> float:
    """CPU seconds of the route's server per call."""
    async with _client() as client:
        agents = [
            _Agent(client, route.urls[number % len(route.urls)], route.key) for number in range(_STREAMS)
        ]

        async def work(agent: _Agent, calls: int) -> None:
            for _ in range(calls):
                await agent.call()

        await asyncio.gather(*(work(agent, 1) for agent in agents))
        before = process_cpu(route.pid)
        await asyncio.gather(*(work(agent, _CALLS) for agent in agents))
        return (process_cpu(route.pid) - before) / (_STREAMS * _CALLS)


def _latencies(added: dict[str, _Added]) -> list[Figure]:
    peer = added.get(_LITELLM)
    figures = []
    for name, target in ((_STILL, "≤ 2 ms"), (_SANDBOX, "")):
        figures += [
            Figure(
                f"{name}: added to a streamed call, 1 stream",
                "ms",
                summary(added[name].total),
                summary(peer.total) if peer else None,
                _LITELLM,
                target,
            ),
            Figure(
                f"{name}: added until the first piece, 1 stream",
                "ms",
                summary(added[name].first),
                summary(peer.first) if peer else None,
                _LITELLM,
            ),
        ]
    return figures


def _costs(costs: dict[str, float]) -> list[Figure]:
    peer = costs.get(_LITELLM)
    return [
        Figure(
            f"{name}: a call at {_STREAMS} streams",
            "ms CPU",
            costs[name] * 1000,
            None if peer is None else peer * 1000,
            _LITELLM,
            "ratio ≤ 0.1",
        )
        for name in (_STILL, _SANDBOX)
    ]
