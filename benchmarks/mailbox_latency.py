"""What a call of the model takes by mailbox, through ``exec`` alone, beside the same sandbox's own listener.

A client in a local sandbox calls one model by both ways in turn, with replies that are streamed and replies that
come whole. Between the two lies nothing but the way. A provider's ``exec`` takes longer than a local one: what a call
costs there follows from how many it needs, which is counted, too.
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Final

import orjson
from aiohttp import web
from harbor.environments.base import ExecResult

from fourhands.engine.containers.mailbox import Mailbox
from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.sandbox import SandboxSpec
from measure import Figure, Outcome

__all__ = ["measure"]

_CHUNKS: Final = 24
_PAUSE: Final = 0.005
_BLOCKS: Final = 8
_CALLS: Final = 8
"""Calls of each kind in a block."""
_BODY: Final = 60_000
_PORTS: Final = {"mailbox": 8123, "listener": 8124}
_KINDS: Final = ("streamed", "whole")
_CLIENT: Final = """
import http.client, json, sys, time
port, calls, size = map(int, sys.argv[1:])
server = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
times = {"streamed": [], "whole": []}
for _ in range(calls):
    for kind, found in times.items():
        body = json.dumps({"stream": kind == "streamed", "input": "x" * size})
        began = time.perf_counter()
        server.request("POST", "/v1/chat/completions", body)
        server.getresponse().read()
        found.append(time.perf_counter() - began)
print(json.dumps(times))
"""
_DAEMON_TICKS: Final = """
for p in /proc/[0-9]*; do read -r name < $p/comm; test "$name" = mailbox && cut -d" " -f14,15 $p/stat; done
"""


def measure() -> Outcome:
    """One sandbox with both ways, used in turn."""
    with tempfile.TemporaryDirectory() as folder:
        ways, execs = asyncio.run(_measured(Path(folder)))
    mailbox, listener = ways["mailbox"], ways["listener"]
    calls = _BLOCKS * _CALLS
    figures = []
    for kind in _KINDS:
        ours, peer = mailbox.seconds[kind], listener.seconds[kind]
        for name, of in (("p50", median), ("p99", _p99)):
            figures.append(
                Figure(f"a {kind} call, {name}", "ms", of(ours) * 1000, of(peer) * 1000, "listener")
            )
    all_calls = calls * len(_KINDS)
    figures += [
        Figure(
            "a call, our own process",
            "ms CPU",
            mailbox.cpu / all_calls * 1000,
            listener.cpu / all_calls * 1000,
            "listener",
        ),
        Figure("a call, what runs inside for it", "ms CPU", (execs.cpu + execs.daemon) / all_calls * 1000),
        Figure("a call, execs", "", execs.during_calls / all_calls),
        Figure("an exec that brings bytes in, p50", "ms", median(execs.gives) * 1000),
    ]
    notes = (
        f"{calls} calls of each kind by each way, in {_BLOCKS} blocks in turn; a request has {_BODY} bytes",
        f"a streamed reply has {_CHUNKS} pieces, {_PAUSE * 1000:.0f} ms apart; a whole one comes after as long",
        "what runs inside: the shells, perl and the program that listens; not the sandbox's own helper",
    )
    return Outcome(tuple(figures), notes)


@dataclass
class _Way:
    seconds: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in _KINDS})
    cpu: float = 0


@dataclass
class _Execs:
    """The mailbox's ``execute``, over a sandbox of our own; every shell tells its CPU time."""

    sandbox: LocalSandbox
    count: int = 0
    during_calls: int = 0
    cpu: float = 0
    daemon: float = 0
    gives: list[float] = field(default_factory=list)

    async def __call__(self, program: str, timeout: int) -> ExecResult:
        self.count += 1
        began = time.perf_counter()
        done = await self.sandbox.run(["/bin/bash", "-c", f"{program}; times >&2"], cwd="/", timeout=timeout)
        if "'give " in program:
            self.gives.append(time.perf_counter() - began)
        said = done.stderr.decode()
        self.cpu += sum(60 * int(m) + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", said))
        return ExecResult(stdout=done.stdout.decode(), stderr=said, return_code=done.code)


async def _measured(folder: Path) -> tuple[dict[str, _Way], _Execs]:
    repository = folder / "repository"
    repository.mkdir()
    async with AsyncExitStack() as stack:
        sandbox = await stack.enter_async_context(LocalSandbox(SandboxSpec(repository), folder / "sandboxes"))
        execs = _Execs(sandbox)
        mailbox = Mailbox(execs, "benchmark")
        runner = web.AppRunner(_model(), access_log=None)
        await runner.setup()
        stack.push_async_callback(runner.cleanup)
        for listener in (
            await mailbox.open(_PORTS["mailbox"]),
            await sandbox.listen(_PORTS["listener"]),
        ):
            await web.SockSite(runner, listener).start()
        stack.push_async_callback(mailbox.close)
        ways = {name: _Way() for name in _PORTS}
        for name in _PORTS:  # warm
            await _block(sandbox, _Way(), _PORTS[name], 1)
        execs.cpu, execs.gives, before = 0, [], await _daemon(sandbox)
        for _ in range(_BLOCKS):
            for name, way in ways.items():
                count = execs.count
                await _block(sandbox, way, _PORTS[name], _CALLS)
                if name == "mailbox":
                    execs.during_calls += execs.count - count
        execs.daemon = await _daemon(sandbox) - before
    return ways, execs


async def _block(sandbox: LocalSandbox, way: _Way, port: int, calls: int) -> None:
    before = time.process_time()
    argv = [sandbox.python, "-I", "-c", _CLIENT, str(port), str(calls), str(_BODY)]
    done = await sandbox.run(argv, cwd="/", timeout=600)
    way.cpu += time.process_time() - before
    if done.code:
        raise RuntimeError(f"the client by port {port} ended with {done.code}: {done.stderr.decode()}")
    for kind, seconds in orjson.loads(done.stdout).items():
        way.seconds[kind] += seconds


async def _daemon(sandbox: LocalSandbox) -> float:
    """CPU seconds of the program that listens inside."""
    ticks = (await sandbox.run(["/bin/bash", "-c", _DAEMON_TICKS], cwd="/")).stdout.split()
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _model() -> web.Application:
    async def complete(request: web.Request) -> web.StreamResponse:
        body = orjson.loads(await request.read())
        if not body["stream"]:
            await asyncio.sleep(_CHUNKS * _PAUSE)
            return web.json_response({"text": "word " * _CHUNKS})
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for number in range(_CHUNKS):
            await response.write(b'data: {"text": "word %d"}\n\n' % number)
            await asyncio.sleep(_PAUSE)
        await response.write_eof()
        return response

    app = web.Application(client_max_size=1 << 28)
    app.router.add_post("/v1/chat/completions", complete)
    return app


def _p99(seconds: Sequence[float]) -> float:
    return quantiles(seconds, n=100, method="inclusive")[-1]
