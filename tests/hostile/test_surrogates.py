"""Lone surrogates in JSON: half a character that no UTF-8 can carry, yet ``\\ud83d`` says it in pure ASCII."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest
from aiohttp import ClientSession

from fourhands.engine.sandbox import LocalSandbox
from fourhands.gateway.conversation import Conversation
from fourhands.gateway.exchanges import Received
from fourhands.gateway.server import Gateway, Seat
from fourhands.gateway.shared_workspace import SharedWorkspace
from fourhands.gateway.upstream import Upstream
from fourhands.model.event import EventKind
from fourhands.model.sandbox import SandboxSpec
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.events import read_events
from fourhands.wire.chat import ChatCompletions
from fourhands.wire.document import Document
from fourhands.workspace.store import ObjectStore

from .scene import Base

HALF = "\ud83d"
TOOLS = [{"type": "function", "function": {"name": "bash"}}]
BODY = {"model": "m", "tools": TOOLS, "messages": [{"role": "user", "content": "fix it"}]}


@pytest.fixture
def conversation(base: Base, store: ObjectStore, tmp_path: Path) -> Conversation:
    """Over a sandbox that is not started: nothing here gets as far as the workspace."""
    sandbox = LocalSandbox(SandboxSpec(base.repository), tmp_path / "sandboxes")
    return Conversation(
        log_path=tmp_path / "events.jsonl",
        blobs=BlobStore(tmp_path / "blobs"),
        users=[],
        workspace=SharedWorkspace(sandbox, store, base.tree),
        step_limit=10,
        on_limit=lambda: None,
        on_event=lambda event: None,  # noqa: ARG005
    )


@pytest.mark.parametrize(
    "arguments", [json.dumps({"command": f"echo {HALF}"}), f'{{"command": "echo {HALF}"}}', HALF]
)
async def test_a_reply_with_half_a_character_is_recorded_as_it_is(
    conversation: Conversation, tmp_path: Path, arguments: str
) -> None:
    wire = ChatCompletions()
    call = {"id": f"c{HALF}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    message = {"role": "assistant", "content": f"so {HALF}", "tool_calls": [call]}
    reply = wire.parse_reply({"choices": [{"message": message}]})
    document = Document.read(wire, json.dumps(BODY).encode())
    admitted = await conversation.before_call(document, {})
    assert admitted
    await conversation.after_call(
        admitted,
        sent=admitted.document,
        received=Received(200, "application/json", b""),
        reply=reply,
        milliseconds=1.0,
        provider_failed=False,
    )
    conversation.log.close()
    read = read_events(tmp_path / "events.jsonl")
    assert read.problems == ()
    called, seen = read.events
    assert (called.kind, seen.kind) == (EventKind.MODEL_CALLED, EventKind.ACTION_SEEN)
    assert seen.body["call"] == f"c{HALF}"
    blobs = BlobStore(tmp_path / "blobs")
    assert blobs.get(called.body["text"]).decode("utf-8", "surrogatepass") == f"so {HALF}"
    assert blobs.get(seen.body["arguments"]).decode("utf-8", "surrogatepass") == arguments


async def test_a_request_with_half_a_character_is_refused_and_the_trial_goes_on(
    conversation: Conversation,
) -> None:
    gateway = Gateway()
    gateway.start()
    listener = socket.create_server(("127.0.0.1", 0))
    seat = Seat("token", conversation, Upstream("http://127.0.0.1:9/v1", "m"))
    await gateway.seat(seat, listener)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/chat/completions"
    spoiled = {**BODY, "messages": [{"role": "user", "content": HALF}]}
    headers = {"Authorization": "Bearer token"}
    async with (
        ClientSession() as client,
        client.post(url, data=json.dumps(spoiled).encode(), headers=headers) as answer,
    ):
        assert answer.status == 400
        assert "not a chat request: " in (await answer.json())["error"]["message"]
    assert conversation.failure is None
    await gateway.leave(seat)
    await asyncio.to_thread(gateway.close)
    conversation.log.close()
