"""One trial at the gateway: real sockets, a real sandbox for the workspace, a provider that we serve ourselves."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from aiohttp import ClientSession, web

from fourhands.engine.sandbox import LocalSandbox
from fourhands.gateway.conversation import Conversation
from fourhands.gateway.server import Gateway, Seat
from fourhands.gateway.shared_workspace import SharedWorkspace
from fourhands.gateway.traits import NO_TRAITS, AgentTraits
from fourhands.gateway.upstream import Upstream
from fourhands.model.event import Event, EventKind
from fourhands.model.intervention import Intervention, Trigger, TriggerEvent
from fourhands.model.sandbox import SandboxSpec
from fourhands.model.text import LineRange, Region
from fourhands.model.user import Moment, Speaker, User
from fourhands.trajectories.blobs import BlobStore
from fourhands.user.speaking import FixedSpeaker
from fourhands.user.touching import TouchingUser
from fourhands.workspace.store import ObjectStore

LINES = [f"line {n}\n" for n in range(1, 21)]
PATCH = b"""diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -9,3 +9,4 @@
 line 9
 line 10
+the user's line
 line 11
"""
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {"properties": {"command": {}}}}}]


@dataclass
class Provider:
    """A model API of our own: answers with what a test queued, and remembers what it was sent.

    A list is streamed: pieces of the body, seconds or something else to wait for, ``None`` to break off.
    """

    answers: list[Any] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        if request.method == "GET":
            return web.json_response({"data": [{"id": "m"}]})
        self.bodies.append(orjson.loads(await request.read()))
        answer = self.answers.pop(0)
        if isinstance(answer, Awaitable):
            await answer
            return web.Response()
        if isinstance(answer, web.Response):
            return answer
        if isinstance(answer, dict):
            return web.json_response(answer)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for chunk in answer:
            if chunk is None:
                assert request.transport is not None
                request.transport.abort()
            elif isinstance(chunk, float):
                await asyncio.sleep(chunk)
            elif isinstance(chunk, Awaitable):
                await chunk
            else:
                await response.write(chunk)
        return response


@dataclass
class Scene:
    """One trial at the gateway, and an agent's side of the wire."""

    url: str
    token: str
    provider: Provider
    conversation: Conversation
    sandbox: LocalSandbox
    client: ClientSession
    gateway: Gateway
    leave: Callable[[], Awaitable[None]]
    events: list[Event]
    limit_reached: list[bool]
    messages: list[dict[str, Any]] = field(default_factory=lambda: [{"role": "user", "content": "fix it"}])

    async def post(self, body: dict[str, Any], *, token: str | None = None) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        async with self.client.post(f"{self.url}/v1/chat/completions", json=body, headers=headers) as answer:
            return answer.status, await answer.read()

    async def send(
        self, path: str, body: dict[str, Any], headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """A request on any wire, with the token where Anthropic's SDK puts it; the answer's JSON."""
        async with self.client.post(
            f"{self.url}/v1/{path}", json=body, headers={"x-api-key": self.token, **(headers or {})}
        ) as answer:
            return answer.status, orjson.loads(await answer.read())

    async def step(self, call_id: str, command: str) -> None:
        """One turn of an agent: the model asks for ``command``, the agent runs it and keeps its history."""
        self.provider.answers.append(completion(call_id, command))
        status, body = await self.post({"model": "seen", "messages": self.messages, "tools": TOOLS})
        assert status == 200, body
        self.messages.append(orjson.loads(body)["choices"][0]["message"])
        done = await self.sandbox.run(["bash", "-c", command])
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": done.stdout.decode()})

    def of(self, kind: EventKind) -> list[dict[str, Any]]:
        return [event.body for event in self.events if event.kind is kind]


def completion(call_id: str, command: str) -> dict[str, Any]:
    function = {"name": "bash", "arguments": orjson.dumps({"command": command}).decode()}
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }
    return {"choices": [{"message": message}], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}


MakeScene = Callable[..., Any]


def scene_maker(tmp_path: Path) -> MakeScene:
    """What makes scenes below ``tmp_path``."""

    @asynccontextmanager
    async def make(
        *,
        event: TriggerEvent = TriggerEvent.READ,
        k: int = 3,
        moment: Moment = Moment.AFTER_ACTION,
        at: float | None = None,
        patch: bytes | None = PATCH,
        shadow: bool = False,
        step_limit: int = 100,
        speaker: Callable[[BlobStore], Speaker] = lambda blobs: FixedSpeaker(),  # noqa: ARG005
        traits: AgentTraits = NO_TRAITS,
        framing: str | None = None,
        others: Sequence[User] = (),
    ) -> AsyncIterator[Scene]:
        repository = tmp_path / "repository"
        repository.mkdir()
        (repository / "a.txt").write_text("".join(LINES))
        await asyncio.to_thread(subprocess.run, ["git", "init", "-q"], cwd=repository, check=True)
        base = ObjectStore(tmp_path / "base.git")
        tree = base.import_directory(repository)
        store = ObjectStore(tmp_path / "objects.git", base=tmp_path / "base.git")
        region = Region("a.txt", LineRange(9, 11))
        trigger = Trigger(event, (region,), moment, at)
        interventions = [
            Intervention(f"i{n}", trigger, patch, f"I changed it ({n}).") for n in range(1, k + 1)
        ]
        blobs = BlobStore(tmp_path / "blobs")
        shadow_of = ("counter-edit",) if shadow else ()
        user = TouchingUser(interventions, speaker(blobs), shadow_of=shadow_of)
        provider, events, limit = Provider(), [], []
        spec = SandboxSpec(repository, (Path(sys.prefix),))
        gateway = Gateway()
        gateway.start()
        runner = web.ServerRunner(web.Server(provider.handle))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        async with LocalSandbox(spec, tmp_path / "sandboxes") as sandbox, ClientSession() as client:
            workspace = SharedWorkspace(sandbox, store, tree)
            conversation = Conversation(
                log_path=tmp_path / "events.jsonl",
                blobs=blobs,
                users=[user, *others],
                workspace=workspace,
                step_limit=step_limit,
                on_limit=lambda: limit.append(True),
                on_event=events.append,
                traits=traits,
                framing=framing,
            )
            await gateway.call(workspace.start(interventions, [region]))
            seat = Seat(
                "token", conversation, Upstream(f"http://127.0.0.1:{port}/v1", "real-model", "provider-key")
            )
            listener = socket.create_server(("127.0.0.1", 0))
            await gateway.seat(seat, listener)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            yield Scene(
                url,
                "token",
                provider,
                conversation,
                sandbox,
                client,
                gateway,
                lambda: gateway.leave(seat),
                events,
                limit,
            )
            await gateway.leave(seat)
            conversation.log.close()
        await asyncio.to_thread(gateway.close)
        await runner.cleanup()

    return make
