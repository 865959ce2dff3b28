"""A call with a history of 10 MB through the gateway: CPU and memory, beside its JSON alone, and other proxies.

A proxy that parses each request and writes it out again pays for the whole history with every step. All servers
have processes of their own.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median
from typing import Final

import orjson

from agents import DIALECTS, OUTPUT, Agent, open_client
from fourhands.model.errors import MissingError
from fourhands.wire.types import Action, Json, Reply
from measure import Figure, Outcome, child_cpu, peak_memory, process_cpu, resident_memory, serving
from peers.litellm_proxy import KEY, VERSION, litellm_proxy

__all__ = ["measure"]

_DIALECT: Final = DIALECTS["Chat Completions"]
_TURNS: Final = 1000
_PRINTED: Final = OUTPUT * 5
_PIECES: Final = 4
_CALLS: Final = 8
_PARSING: Final = """
import os, sys, time
import orjson
from measure import peak_memory, resident_memory
raw = sys.stdin.buffer.read()
before, began = resident_memory(os.getpid()), time.process_time()
orjson.dumps(orjson.loads(raw))
print(time.process_time() - began, peak_memory(os.getpid()) - before)
"""


def measure() -> Outcome:
    """Calls on each route in turn, all with the same history."""
    history = _history()
    size = len(orjson.dumps(history)) / 1e6
    notes = [
        f"{_CALLS} calls on each route in turn; the history has {size:.1f} MB, {len(history)} messages",
        "the first call, in which all of the history is new, is told apart; CPU of the others is their mean",
        "memory: the most that lay in the server's memory during all calls, beyond what did before the first",
        "a bare proxy, which only passes bytes on, has the cost of the sockets",
    ]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _, provider = stack.enter_context(serving("provider", str(_PIECES), "1"))
        pid, ready = stack.enter_context(serving("gateway", provider["url"], "1", "still", str(folder)))
        bare, at = stack.enter_context(serving("bare_proxy", provider["url"]))
        routes = [
            _Route("gateway", pid, ready["urls"][0], ready["token"]),
            _Route("bare proxy", bare, at["url"], "key"),
        ]
        try:
            pid, url = stack.enter_context(litellm_proxy(provider["url"], folder))
            routes.append(_Route(f"LiteLLM proxy {VERSION}", pid, url, KEY))
        except (MissingError, RuntimeError) as error:
            notes.append(f"without a LiteLLM proxy: {error}")
        asyncio.run(_calls(routes, history))
    return Outcome(tuple(_figures(routes, [_parsed(history) for _ in range(_CALLS)])), tuple(notes))


@dataclass
class _Route:
    """A way to the model, and what calls on it took: CPU seconds of each, and MB."""

    name: str
    pid: int
    url: str
    key: str
    cpu: list[float] = field(default_factory=list)
    memory: float = 0


def _history() -> list[Json]:
    """As if a model had run a thousand commands."""
    items: list[Json] = []
    for number in range(_TURNS):
        action = Action(f"call_before_{number}", "bash", {"command": f"cat part_{number}.py"})
        items += _DIALECT.turn(Reply(f"Step {number}.", (action,), None, complete=True), [_PRINTED])
    return items


async def _calls(routes: Sequence[_Route], history: Sequence[Json]) -> None:
    async with open_client() as client:
        agents = [Agent(client, _DIALECT, route.url, route.key) for route in routes]
        for route, agent in zip(routes, agents, strict=True):
            await agent.call()  # warms, with a short history
            route.memory = -resident_memory(route.pid)
            agent.history = [*history]
        for _ in range(_CALLS):
            for route, agent in zip(routes, agents, strict=True):
                before = process_cpu(route.pid)
                await agent.call()
                route.cpu.append(process_cpu(route.pid) - before)
    for route in routes:
        route.memory += peak_memory(route.pid)


def _parsed(history: Sequence[Json]) -> tuple[float, float]:
    """CPU seconds and MB that a request's JSON takes by itself, parsed and written out, in a fresh process."""
    raw = orjson.dumps({"model": "m", **_DIALECT.fixed, _DIALECT.key: [*_DIALECT.opening, *history]})
    _, output = child_cpu([sys.executable, "-c", _PARSING], stdin=raw, cwd=Path(__file__).parent)
    seconds, memory = output.split()
    return float(seconds), float(memory)


def _figures(routes: Sequence[_Route], parsed: Sequence[tuple[float, float]]) -> list[Figure]:
    ours = routes[0]
    peers = [("its JSON alone", median(cpu for cpu, _ in parsed), median(memory for _, memory in parsed))]
    peers += [(route.name, mean(route.cpu[1:]), route.memory) for route in routes[1:]]
    figures = [Figure("the first call with 10 MB", "ms CPU", ours.cpu[0] * 1000)]
    for name, cpu, memory in peers:
        figures += [
            Figure("a call with 10 MB", "ms CPU", mean(ours.cpu[1:]) * 1000, cpu * 1000, name),
            Figure("10 MB: memory", "MB", ours.memory, memory, name),
        ]
    return figures
