"""What Claude Code's own client tells its model, in words that the registry holds."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import quote
from typing import Any, cast

import orjson
import pytest
from aiohttp import web

from fourhands.engine.agents.claude_code import ClaudeCode
from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.session import Session

from .npm_agent_scene import FILE, INSTRUCTION, ORIGINAL, Scene, Trial, scene_of

pytestmark = pytest.mark.slow

TRAITS = AGENTS["claude-code"].traits

Json = dict[str, Any]
Reply = tuple[str, Json] | str
Before = Callable[[int, Scene], Awaitable[None]]


@asynccontextmanager
async def playing(
    folder: Path, *replies: Reply, before: Before | None = None
) -> AsyncIterator[tuple[Scene, list[Json]]]:
    """The program in a sandbox, and the requests of its own; the n-th is answered with the n-th of ``replies``."""
    async with scene_of(ClaudeCode, folder) as scene:
        asked: list[Json] = []

        async def answer(request: web.BaseRequest, _: object) -> web.StreamResponse:
            if request.path != "/v1/messages":
                return web.json_response({"type": "error"}, status=404)
            asked.append(orjson.loads(await request.read()))
            if before:
                await before(len(asked), scene)
            return web.Response(
                body=_stream(replies[len(asked) - 1], len(asked)), content_type="text/event-stream"
            )

        scene.answer = answer  # type: ignore[method-assign] # this one speaks Messages
        yield scene, asked


def _stream(reply: Reply, number: int) -> bytes:
    usage = {"input_tokens": 9, "output_tokens": 9}
    block: Json
    if isinstance(reply, str):
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": reply}
    else:
        block = {"type": "tool_use", "id": f"toolu_{number}", "name": reply[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(reply[1])}
    message: Json = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
    }
    stop = "end_turn" if isinstance(reply, str) else "tool_use"
    events: list[Json] = [
        {"type": "message_start", "message": {**message, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage},
        {"type": "message_stop"},
    ]
    return b"".join(b"event: %s\ndata: %s\n\n" % (e["type"].encode(), orjson.dumps(e)) for e in events)


def _last_blocks(asked: list[Json]) -> list[Json]:
    """Of the last user turn; Claude Code may put a system message of its own behind it."""
    return cast("list[Json]", [m["content"] for m in asked[-1]["messages"] if m["role"] == "user"][-1])


@pytest.mark.parametrize(
    ("changed", "announced"),
    [
        pytest.param(f"# of the user\n{ORIGINAL}", 0, id="elsewhere: the edit is applied"),
        pytest.param(ORIGINAL.replace("a - b", "b - a"), 1, id="the same lines: the edit is refused"),
    ],
)
async def test_it_says_that_a_file_changed_under_it(tmp_path: Path, changed: str, announced: int) -> None:
    async def before(number: int, scene: Scene) -> None:
        if number == 2:
            await scene.write(FILE, changed)
            await scene.inside(f"touch -d '+2 seconds' {FILE}")

    edit = ("Edit", {"file_path": FILE, "old_string": "a - b", "new_string": "a-b"})
    async with playing(tmp_path, ("Read", {"file_path": FILE}), edit, "Done.", before=before) as (
        scene,
        asked,
    ):
        done = await scene.run()
        assert done.return_code == 0, scene.kept()
        (result,) = _last_blocks(asked)
        assert TRAITS.announcements[announced] in result["content"]
        assert ("a-b" in await scene.inside(f"cat {FILE}")) == (announced == 0)


async def test_its_words_around_a_message_in_mid_turn_are_those_of_the_native_framing(tmp_path: Path) -> None:
    work = ("Bash", {"command": "python3 -c 'import time; time.sleep(6)'"})
    async with playing(tmp_path, work, "Done.") as (scene, asked):
        command, env = scene.agent.launch(INSTRUCTION, cast("Session", Trial()))
        said = [
            json.dumps({"type": "user", "message": {"role": "user", "content": text}})
            for text in ("Go.", "Stop?")
        ]
        speak = f"(echo {quote(said[0])}; sleep 3; echo {quote(said[1])}; sleep 8)"
        command = command.replace(f"printf %s {quote(INSTRUCTION)}", speak)
        command = command.replace("--output-format=", "--input-format=stream-json --output-format=")
        await scene.inside(f"export {' '.join(f'{k}={quote(v)}' for k, v in env.items())}; {command}")
        result, message = _last_blocks(asked)
        assert result["type"] == "tool_result"
        assert TRAITS.native_framing
        assert message["text"] == TRAITS.native_framing.format(message="Stop?")
