"""A streamed call of the model through the gateway, beside the same call made directly and through other proxies.

Agents speak to each route in turn, 1, 16 and 64 at once, each in a conversation that grows by a command and its
output with every call. All servers have processes of their own. LiteLLM is the peer; a bare proxy, which only passes
bytes on, shows what of our cost any proxy in Python has on this machine.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agents import DIALECTS, OUTPUT, Agent, Dialect, Took, open_client
from fourhands.model.errors import MissingError
from measure import Figure, Outcome, process_cpu, resident_memory, serving, summary, tail
from peers.litellm_proxy import KEY, VERSION, litellm_proxy

__all__ = ["measure"]

_PIECES: Final = 24
_PAUSE_MS: Final = 10
_ROUNDS: Final = {1: 40, 16: 5, 64: 2}
"""Streams at once -> rounds; in each, every stream makes one call on each route."""
_SEATS: Final = sum(_ROUNDS)
"""Each stream has a trial of its own."""
_COMPARED: Final = "Chat Completions"
"""The API on which the peer is measured, too."""
_DIRECT: Final = "direct"
_BARE: Final = "bare proxy"
_LITELLM: Final = "LiteLLM proxy"
_GATEWAY: Final = "gateway"
_WALKING: Final = "gateway with its snapshots"


def measure() -> Outcome:
    """All routes on each API, with more and more streams."""
    figures: list[Figure] = []
    notes = [
        f"a reply has {_PIECES} pieces of text, {_PAUSE_MS} ms apart; a call adds {len(OUTPUT)} bytes of output",
        "in each round every stream makes one call, on one route after the other; streams start spread over a reply",
        "calls on each route: " + ", ".join(f"{n * rounds} at {n} streams" for n, rounds in _ROUNDS.items()),
        "CPU and memory are of the server's own process; memory as it is after the calls",
    ]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        _, provider = stack.enter_context(serving("provider", str(_PIECES), str(_PAUSE_MS)))
        upstream = provider["url"]
        for name, dialect in DIALECTS.items():
            with ExitStack() as servers:
                routes = _routes(servers, upstream, folder / dialect.path.replace("/", "-"))
                if name == _COMPARED:
                    routes += _peers(servers, upstream, folder, notes)
                found = asyncio.run(_levels(dialect, routes, f"{name}, load average after", notes))
            figures += _figures(name, found)
    return Outcome(tuple(figures), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Route:
    """A way to the model. Stream ``n`` goes to the ``n``-th of ``urls``; with one URL, all share it.

    ``pid`` is the server's, ``most`` the most streams that are sent on it.
    """

    name: str
    urls: Sequence[str]
    key: str
    pid: int | None = None
    most: int = max(_ROUNDS)

    def url(self, seat: int) -> str:
        return self.urls[seat % len(self.urls)]


@dataclass(slots=True)
class _Found:
    """What calls on one route took. ``cpu`` are seconds of its server for all of them, ``memory`` its MB."""

    calls: list[Took] = field(default_factory=list)
    cpu: float = 0
    memory: float = 0


def _routes(stack: ExitStack, upstream: str, folder: Path) -> list[_Route]:
    folder.mkdir()
    pid, ready = stack.enter_context(serving("gateway", upstream, str(_SEATS), "still", str(folder)))
    bare, at = stack.enter_context(serving("bare_proxy", upstream))
    return [
        _Route(_DIRECT, [upstream], "key"),
        _Route(_GATEWAY, ready["urls"], ready["token"], pid),
        _Route(_BARE, [at["url"]], "key", bare),
    ]


def _peers(stack: ExitStack, upstream: str, folder: Path, notes: list[str]) -> Iterator[_Route]:
    """A proxy for the same work, and our own gateway with what a proxy has not."""
    sandbox = folder / "sandbox"
    sandbox.mkdir()
    pid, ready = stack.enter_context(serving("gateway", upstream, "1", "sandbox", str(sandbox)))
    yield _Route(_WALKING, ready["urls"], ready["token"], pid, most=1)
    try:
        pid, url = stack.enter_context(litellm_proxy(upstream, folder))
    except (MissingError, RuntimeError) as error:
        notes.append(f"without a LiteLLM proxy: {error}")
        return
    notes.append(f"LiteLLM {VERSION}, one worker, no logging, no database")
    yield _Route(_LITELLM, [url], KEY, pid)


async def _levels(
    dialect: Dialect, routes: Sequence[_Route], said: str, notes: list[str]
) -> dict[tuple[int, str], _Found]:
    found: dict[tuple[int, str], _Found] = {}
    loads = []
    seat = 0
    for streams, rounds in _ROUNDS.items():
        used = [route for route in routes if streams <= route.most]
        found |= {
            (streams, name): each
            for name, each in (await _level(dialect, used, range(seat, seat + streams), rounds)).items()
        }
        seat += streams
        loads.append(f"{os.getloadavg()[0]:.1f} at {streams}")
    notes.append(f"{said} {', '.join(loads)} streams")
    return found


async def _level(
    dialect: Dialect, routes: Sequence[_Route], seats: Sequence[int], rounds: int
) -> dict[str, _Found]:
    found = {route.name: _Found() for route in routes}
    async with open_client() as client:
        agents = {
            route.name: [Agent(client, dialect, route.url(seat), route.key) for seat in seats]
            for route in routes
        }
        for number in range(rounds + 1):
            for route in routes:
                before = process_cpu(route.pid) if route.pid else 0
                calls = await _at_once(agents[route.name])
                if number:  # the first round warms
                    found[route.name].calls += calls
                    found[route.name].cpu += process_cpu(route.pid) - before if route.pid else 0
    for route in routes:
        found[route.name].memory = resident_memory(route.pid) if route.pid else 0
    return found


async def _at_once(agents: Sequence[Agent]) -> list[Took]:
    """A call of each, spread over the time of a reply as they are among agents that know nothing of each other."""

    async def call(place: int, agent: Agent) -> Took:
        await asyncio.sleep(_PIECES * _PAUSE_MS / 1000 * place / len(agents))
        return await agent.call()

    return await asyncio.gather(*(call(place, agent) for place, agent in enumerate(agents)))


def _figures(api: str, found: Mapping[tuple[int, str], _Found]) -> Iterator[Figure]:
    for streams in _ROUNDS:
        of = {name: each for (at, name), each in found.items() if at == streams}
        said = f"{api}, {streams} stream{'s' * (streams > 1)}"
        if streams == 1:
            yield from _added(said, of)
        peers = [name for name in (_DIRECT, _BARE, _LITELLM) if name in of]
        for words, unit, measured in (
            ("a call, p50", "ms", lambda each: summary([call.total for call in each.calls])),
            ("a call, p99", "ms", lambda each: tail([call.total for call in each.calls])),
            ("a call", "ms CPU", lambda each: each.cpu / len(each.calls) * 1000),
            ("memory", "MB", lambda each: each.memory),
        ):
            for name in peers:
                if peer := measured(of[name]):  # a direct call has no server of its own
                    strict = (name, unit, streams) == (_LITELLM, "ms CPU", max(_ROUNDS))
                    target = "ratio ≤ 0.1" if strict else ""
                    yield Figure(f"{said}: {words}", unit, measured(of[_GATEWAY]), peer, name, target)


def _added(said: str, of: Mapping[str, _Found]) -> Iterator[Figure]:
    """Medians of what a call took longer than the direct call of the same round."""

    def beyond(name: str, part: str) -> float:
        pairs = zip(of[name].calls, of[_DIRECT].calls, strict=True)
        return summary([getattr(one, part) - getattr(direct, part) for one, direct in pairs])

    for part, words, target in (("total", "to a call", "≤ 2 ms"), ("first", "until the first piece", "")):
        for peer in (_BARE, _WALKING, _LITELLM):
            if peer in of:
                ours = beyond(_GATEWAY, part)
                yield Figure(f"{said}: added {words}", "ms", ours, beyond(peer, part), peer, target)
