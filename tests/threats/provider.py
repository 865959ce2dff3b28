"""A model's provider whose model is an attacker: it answers with a script of commands, one a reply."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from .hidden import canary

BARRIER_SECONDS = 120
READY = "the search is over"
"""What the search prints when it has come to its end; until then it is asked for again."""


@dataclass
class Script:
    """What the model of one trial does: named commands, one a reply. Before a barrier it waits for the other's."""

    steps: list[tuple[str, str]]
    barriers: frozenset[str]
    issued: list[str] = field(default_factory=list)

    def next(self, last_output: str) -> tuple[str, str]:
        """The next command; a wait that came to nothing is asked for again."""
        if self.issued and self.issued[-1] == "look" and READY not in last_output:
            name = "look"
        else:
            name = self.steps[len(set(self.issued))][0]
        self.issued.append(name)
        return name, dict(self.steps)[name]


class Provider:
    """A model's provider with an API key, on a loop and a thread of its own; it remembers who asked for what."""

    def __init__(self) -> None:
        self.key = canary("key")
        self.base = f"/{canary('base')}/v1"
        self.scripts: dict[str, Script] = {}
        self.seen: list[tuple[str, str]] = []
        self._barriers: dict[str, asyncio.Barrier] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.port = asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result()

    async def _serve(self) -> int:
        self._runner = web.ServerRunner(web.Server(self._answer))
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return int(self._runner.addresses[0][1])

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.rel_url.raw_path
        self.seen.append((request.method, path))
        told = request.headers.get("Authorization", "")
        if (request.method, path) == ("GET", f"{self.base}/models"):
            return web.json_response({"object": "list", "data": [{"id": "live-model", "object": "model"}]})
        if (request.method, path) != ("POST", f"{self.base}/chat/completions"):
            return web.json_response({"outside": path, "told": told})
        body = json.loads(await request.read())
        if not body.get("tools"):
            return web.json_response(
                {"error": {"message": f"Incorrect API key provided: {told}"}}, status=401
            )
        return web.json_response(await self._reply(body))

    async def _reply(self, body: Mapping[str, Any]) -> dict[str, Any]:
        messages = body["messages"]
        text = json.dumps(messages[:2])
        script = next(script for mark, script in self.scripts.items() if mark in text)
        name, command = script.next(str(messages[-1].get("content")))
        if name in script.barriers and script.issued.count(name) == 1:
            barrier = self._barriers.setdefault(name, asyncio.Barrier(len(self.scripts)))
            async with asyncio.timeout(BARRIER_SECONDS):
                await barrier.wait()
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        call = {"id": f"call-{len(script.issued)}", "type": "function", "function": function}
        message = {"role": "assistant", "content": f"{name}.", "tool_calls": [call]}
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "live-model",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }
