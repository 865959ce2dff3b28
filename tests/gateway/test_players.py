"""What a stand-in answers over HTTP, and how it submits to agents that end in different ways."""

from __future__ import annotations

import asyncio
import json
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from fourhands.gateway.playbook import Move, Turn
from fourhands.gateway.players import PlayerServer

WORD = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
TOOL = {
    "type": "function",
    "function": {"name": "bash", "parameters": {"type": "object", "properties": {"command": {}}}},
}
Message = dict[str, Any]


@dataclass(frozen=True)
class _Always:
    move: Move

    def reply(self, turns: Sequence[Turn]) -> Move:
        del turns
        return self.move


async def _answer(move: Move, *messages: Message) -> Message:
    server = PlayerServer({"one": _Always(move)})
    async with TestClient(TestServer(server.app)) as client:
        body = {"model": "model", "messages": list(messages), "tools": [TOOL]}
        response = await client.post(f"{PlayerServer.path('one')}/chat/completions", json=body)
        message: Message = (await response.json())["choices"][0]["message"]
        return message


def _said(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _command(message: Message) -> str | None:
    calls = message.get("tool_calls")
    command: str | None = json.loads(calls[0]["function"]["arguments"])["command"] if calls else None
    return command


async def test_a_question_is_words_without_a_tool_call() -> None:
    message = await _answer(Move(thought="What do you want?", ask=True), _said("user", f"end with {WORD}"))
    assert message == _said("assistant", "What do you want?")


async def test_an_agent_that_ends_by_a_command_gets_the_last_one_and_the_end_in_one_step(
    tmp_path: Path,
) -> None:
    move = Move(thought="done", command="echo noise\necho x > made\nfalse", submit=True)
    command = _command(await _answer(move, _said("user", f"end with {WORD}")))
    assert command is not None
    shell = await asyncio.create_subprocess_exec("/bin/sh", "-c", command, cwd=tmp_path, stdout=PIPE)
    output, _ = await shell.communicate()
    assert shell.returncode == 0
    assert output.decode() == f"{WORD}\n"  # nothing before the word, or the agent goes on
    assert (tmp_path / "made").read_text() == "x\n"


async def test_an_agent_that_ends_on_words_gets_the_last_command_in_a_step_of_its_own() -> None:
    move = Move(thought="done", command="make", submit=True)
    history = [_said("user", "work"), await _answer(move, _said("user", "work"))]
    assert _command(history[-1]) == "make"
    history.append({**_said("tool", "made"), "tool_call_id": history[-1]["tool_calls"][0]["id"]})
    last = await _answer(move, *history)
    assert _command(last) is None
    again = await _answer(move, *history, _said("user", "I changed it"))
    assert _command(again) == "make"  # somebody may have been at it since


async def test_a_plain_end_is_the_word_or_words() -> None:
    move = Move(thought="done", submit=True)
    assert _command(await _answer(move, _said("user", f"end with {WORD}"))) == f"echo {WORD}"
    assert _command(await _answer(move, _said("user", "work"))) is None
