"""Stand-ins for a model, on a machine without one: they answer over HTTP like any provider.

A player decides from the conversation alone. `ScriptedPlayer` follows a playbook with a temperament;
`RecordedPlayer` repeats the actions of a real, recorded trajectory. Neither measures a live model, and every
output that shows their numbers says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import quote, unquote

import orjson
from aiohttp import web

from fourhands.gateway.playbook import Move, Playbook, Turn, next_move
from fourhands.wire.types import Json

__all__ = ["Player", "PlayerServer", "RecordedPlayer", "ScriptedPlayer"]

_SUBMIT_WORD: Final = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""Agents that end by a command name it in their instructions; this is mini-swe-agent's."""
_BYTES_A_TOKEN: Final = 4


class Player(Protocol):
    """Decides the next reply from the turns behind the instructions."""

    def reply(self, turns: Sequence[Turn]) -> Move:
        """The next move; the same turns give the same move."""
        ...


@dataclass(frozen=True)
class ScriptedPlayer:
    """Follows ``playbook`` with ``temperament``."""

    playbook: Playbook
    temperament: str

    def reply(self, turns: Sequence[Turn]) -> Move:
        """See `Player.reply`."""
        return next_move(self.playbook, self.temperament, turns)


@dataclass(frozen=True)
class RecordedPlayer:
    """Repeats recorded moves one by one, whatever is said to it, then submits."""

    moves: tuple[Move, ...]

    def reply(self, turns: Sequence[Turn]) -> Move:
        """See `Player.reply`."""
        done = sum(turn == "model" for turn in turns)
        return self.moves[done] if done < len(self.moves) else Move(thought="Done.", submit=True)


class PlayerServer:
    """Serves players as Chat Completions below ``/<player>/v1``; a plain aiohttp application."""

    def __init__(self, players: dict[str, Player]) -> None:
        self._players = players
        self.app = web.Application(client_max_size=1 << 28)
        self.app.router.add_post("/{player}/v1/chat/completions", self._complete)

    @staticmethod
    def path(player: str) -> str:
        """The base path at which ``player`` is served."""
        return f"/{quote(player, safe='')}/v1"

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        name = unquote(request.match_info["player"])
        body = orjson.loads(await request.read())
        if name not in self._players:
            return web.json_response({"error": {"message": f"no player {name!r}"}}, status=404)
        completion = _completion(self._players[name], body)
        if not body.get("stream"):
            return web.json_response(completion)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for chunk in _chunks(completion, body):
            await response.write(b"data: " + orjson.dumps(chunk) + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        return response


def _turns(messages: Iterable[Json]) -> list[Turn]:
    """Replies of the model and words of the user behind the instructions (all before the first reply)."""
    turns: list[Turn] = []
    for message in messages:
        if message["role"] == "assistant":
            turns.append("model")
        elif message["role"] == "user" and turns:
            turns.append("user")
    return turns


def _completion(player: Player, body: Json) -> Json:
    messages = body["messages"]
    prompt = orjson.dumps(messages)
    turns = _turns(messages)
    message: Json = {"role": "assistant", "content": "Fix"}
    if body.get("tools"):
        move = player.reply(turns)
        command = move.command
        if move.submit:
            by_command = _SUBMIT_WORD.encode() in prompt
            command = _submission(command) if by_command else _before_the_end(command, messages)
        message["content"] = move.thought
        if command is not None:
            call_id = f"call_{len(turns)}_{hashlib.sha256(prompt).hexdigest()[:12]}"
            function = {
                "name": _shell_tool(body["tools"]),
                "arguments": orjson.dumps({"command": command}).decode(),
            }
            message["tool_calls"] = [{"id": call_id, "type": "function", "function": function}]
    tokens_in, tokens_out = len(prompt) // _BYTES_A_TOKEN, len(orjson.dumps(message)) // _BYTES_A_TOKEN
    return {
        "id": "chatcmpl-" + hashlib.sha256(prompt).hexdigest()[:24],
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


def _submission(command: str | None) -> str:
    """Submit by a command; what else is to be done goes silently first, for the word must be the first line."""
    last = f"echo {_SUBMIT_WORD}"
    return last if command is None else f"(\n{command}\n) > /dev/null 2>&1\n{last}"


def _before_the_end(command: str | None, messages: Sequence[Json]) -> str | None:
    """The command of a last move that is not done yet: an agent that ends on words needs a step of its own for it."""
    for message in reversed(messages):
        if message["role"] == "user":
            break
        if message["role"] == "assistant":
            calls = message.get("tool_calls") or ()
            done = [orjson.loads(call["function"]["arguments"]).get("command") for call in calls]
            return None if command in done else command
    return command


def _shell_tool(tools: Sequence[Json]) -> str:
    """The first tool that takes a ``command``."""
    for tool in tools:
        function = tool.get("function", {})
        if "command" in function.get("parameters", {}).get("properties", {}):
            return str(function["name"])
    return str(tools[0].get("function", {}).get("name"))


def _chunks(completion: Json, body: Json) -> Iterable[Json]:
    """The completion as a provider streams it: role, text in two parts, each tool call in two parts, the end."""
    frame = {key: completion[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    choice = completion["choices"][0]
    message = choice["message"]

    def delta(content: Json, finish: str | None = None) -> Json:
        return {**frame, "choices": [{"index": 0, "delta": content, "finish_reason": finish}]}

    yield delta({"role": "assistant", "content": ""})
    text = message["content"]
    middle = len(text) // 2
    yield delta({"content": text[:middle]})
    yield delta({"content": text[middle:]})
    for index, call in enumerate(message.get("tool_calls", ())):
        arguments = call["function"]["arguments"]
        middle = len(arguments) // 2
        first = {**call, "function": {**call["function"], "arguments": arguments[:middle]}}
        yield delta({"tool_calls": [{"index": index, **first}]})
        yield delta({"tool_calls": [{"index": index, "function": {"arguments": arguments[middle:]}}]})
    yield delta({}, choice["finish_reason"])
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**frame, "choices": [], "usage": completion["usage"]}
