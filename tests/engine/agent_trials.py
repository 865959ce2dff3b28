"""Whole trials of real agents, through the command line, against a model server that remembers what it was asked.

The server's log is the other side's word: what a trial's events claim about the model is held against it. It is read
here without any of the code that reads requests in the product.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal

from aiohttp import web

from fourhands.analysis.delivery import DeliveryProof, delivery_proofs
from fourhands.engine.agents.base import AttemptingAgent
from fourhands.engine.agents.registry import AGENTS
from fourhands.gateway.players import Player, PlayerServer
from fourhands.gateway.traits import AgentTraits
from fourhands.model.event import Event, EventKind
from fourhands.model.usage import Usage
from fourhands.trajectories.exchanges import read_exchange
from fourhands.trajectories.run_folder import Attempt, RunFolder

Json = dict[str, Any]
Kind = Literal["system", "user", "model", "call", "result"]

DELEGATED: Final = "<delegated-commands>"
"""Stands in what a scripted model tells its sub-agent."""
_PLAYER: Final = "it"


@dataclass(frozen=True)
class Entry:
    """One thing in a request's history. ``call`` names the call or the result; empty for words."""

    kind: Kind
    text: str
    call: str = ""


@dataclass(frozen=True)
class Seen:
    """A request as it reached the model server, and the reply it gave."""

    path: str
    body: Json
    reply: Json

    @cached_property
    def entries(self) -> list[Entry]:
        match self.path:
            case "chat/completions":
                return list(_chat(self.body["messages"]))
            case "responses":
                return list(_responses(self.body["input"]))
            case _:
                return list(_messages(self.body["messages"]))

    @property
    def tools(self) -> list[str]:
        """Names of the tools that are offered to be called at once."""
        return [_tool_name(tool) for tool in self.body.get("tools") or () if not tool.get("defer_loading")]

    @property
    def is_delegated(self) -> bool:
        """Whether it is a sub-agent's: what it was told to do stands in the words that it begins with."""
        return any(entry.kind in {"user", "system"} and DELEGATED in entry.text for entry in self.entries)

    @property
    def calls(self) -> list[Json]:
        """The calls in the reply: ``id``, ``tool``."""
        if self.path == "chat/completions":
            calls = self.reply["choices"][0]["message"].get("tool_calls", ())
            return [{"id": call["id"], "tool": call["function"]["name"]} for call in calls]
        if self.path == "responses":
            items = self.reply["output"]
            return [{"id": i["call_id"], "tool": i["name"]} for i in items if i["type"].endswith("_call")]
        return [{"id": b["id"], "tool": b["name"]} for b in self.reply["content"] if b["type"] == "tool_use"]

    def places(self, words: str) -> list[int]:
        """Where in the history the user says just these words."""
        return [
            place for place, entry in enumerate(self.entries) if (entry.kind, entry.text) == ("user", words)
        ]

    def holds(self, words: str) -> bool:
        """Whether the words stand anywhere in the history, whoever's they are."""
        return any(words in entry.text for entry in self.entries)

    def result(self, call: str) -> str:
        """What came back for a call."""
        return "\n".join(e.text for e in self.entries if e.kind == "result" and e.call == call)


class ModelServer:
    """Serves a player on a loop and a thread of its own, on all wires; ``seen`` grows with every request."""

    def __init__(self, player: Player) -> None:
        self.seen: list[Seen] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        app = PlayerServer({_PLAYER: player}, log=self._remember).app
        self._runner = web.AppRunner(app)
        self.base_url = asyncio.run_coroutine_threadsafe(self._serve(), self._loop).result()

    def _remember(self, _: str, path: str, body: Json, reply: Json) -> None:
        self.seen.append(Seen(path, body, reply))

    async def _serve(self) -> str:
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}{PlayerServer.path(_PLAYER)}"

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextmanager
def serving(player: Player) -> Iterator[ModelServer]:
    server = ModelServer(player)
    try:
        yield server
    finally:
        server.close()


@dataclass(frozen=True)
class Played:
    """One trial: what we recorded, what the model server saw of it, and where the agent's logs are.

    ``key`` is the model's provider's.
    """

    agent: str
    key: str
    run: RunFolder
    attempt: Attempt
    events: Sequence[Event]
    seen: Sequence[Seen]
    logs: Path

    @property
    def traits(self) -> AgentTraits:
        return AGENTS[self.agent].traits

    @property
    def ended(self) -> Json:
        assert self.events[-1].kind is EventKind.TRIAL_ENDED
        return dict(self.events[-1].body)

    @property
    def proofs(self) -> tuple[DeliveryProof, ...]:
        return delivery_proofs(self.events)

    def bodies(self, kind: EventKind) -> list[Json]:
        return [dict(event.body) for event in self.events if event.kind is kind]

    def notes(self, name: str) -> list[Json]:
        return [body for body in self.bodies(EventKind.NOTE) if body["note"] == name]

    def request(self, number: int) -> Seen:
        """A request by the number that it has in the events."""
        return self.seen[number - 1]

    @cached_property
    def main(self) -> list[int]:
        """Numbers of the requests of the main loop: they offer tools, and are no sub-agent's."""
        text_actions = self.traits.text_actions
        return [
            number
            for number, seen in enumerate(self.seen, 1)
            if (seen.tools or text_actions) and not seen.is_delegated
        ]

    def recorded_requests(self) -> dict[int, Json]:
        """By its number, each request as our record has it."""
        get = self.attempt.blobs.get
        return {
            body["request"]: read_exchange(get, body["exchange"]).request
            for body in self.bodies(EventKind.MODEL_CALLED)
        }

    def written(self) -> Iterator[tuple[Path, bytes]]:
        """Every file of the run, below its folder; what is compressed as it was before."""
        for path in self.run.path.rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                yield path.relative_to(self.run.path), _inflated(data)

    def reported_usage(self) -> Usage | None:
        """What the agent says of its own tokens."""
        module, _, name = AGENTS[self.agent].import_path.partition(":")
        agent_class: type[AttemptingAgent] = getattr(import_module(module), name)
        options = {"skip_model_parsing": True, "run": "r", "condition": "vanilla", "repeat": 1}
        return agent_class(logs_dir=self.logs, model_name="m", **options).reported_usage()


def play(
    folder: Path,
    agent: str,
    player: Player,
    *arguments: str | Path,
    task: str | Path = "ledger-rounding",
    conditions: Sequence[str] = ("vanilla",),
) -> list[Played]:
    """Run a trial under each condition, one after another, in a process of its own; in the order given."""
    key = f"key-{secrets.token_hex(16)}"
    with serving(player) as server:
        done = subprocess.run(
            [
                *(Path(sys.executable).with_name("fourhands"), "run", "--tasks", task, "--agent", agent),
                *(
                    "--model",
                    "some-model",
                    "--base-url",
                    server.base_url,
                    "--condition",
                    ",".join(conditions),
                ),
                *("--out", folder / "run", *arguments),
            ],
            env={**os.environ, "OPENAI_API_KEY": key},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return list(_played(agent, key, RunFolder(folder / "run"), server.seen))


def _played(agent: str, key: str, run: RunFolder, seen: Sequence[Seen]) -> Iterator[Played]:
    """Conditions are gone through one by one: each trial has the next requests of the server's log."""
    for trial in run.plan().trials:
        (attempt,) = run.attempts(trial.key)
        events = attempt.read().events
        number = sum(event.kind is EventKind.MODEL_CALLED for event in events)
        own, seen = seen[:number], seen[number:]
        label = re.sub(r"[^\w=]+", "-", trial.condition).strip("-")
        (logs,) = run.path.glob(f"jobs/*__{label}__*/*/agent")
        yield Played(agent, key, run, attempt, events, own, logs)
    assert not seen, "the model was asked more than the trials have recorded"


def _inflated(data: bytes) -> bytes:
    try:
        return zlib.decompress(data)
    except zlib.error:
        return data


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part["text"] for part in content if "text" in part)


def _chat(messages: Sequence[Json]) -> Iterator[Entry]:
    for message in messages:
        text = _text(message.get("content"))
        match message["role"]:
            case "assistant":
                if text:
                    yield Entry("model", text)
                for call in message.get("tool_calls") or ():
                    yield Entry("call", call["function"]["arguments"], call["id"])
            case "tool":
                yield Entry("result", text, message["tool_call_id"])
            case "user":
                yield Entry("user", text)
            case _:
                yield Entry("system", text)


def _responses(items: Sequence[Json]) -> Iterator[Entry]:
    kinds: dict[str, Kind] = {"user": "user", "assistant": "model"}
    for item in items:
        kind = item["type"]
        if kind == "message":
            yield Entry(kinds.get(item["role"], "system"), _text(item["content"]))
        elif kind.endswith("_call_output"):
            yield Entry("result", _text(item["output"]), item["call_id"])
        elif kind.endswith("_call"):
            yield Entry("call", json.dumps(item), item["call_id"])


def _messages(messages: Sequence[Json]) -> Iterator[Entry]:
    words: dict[str, Kind] = {"user": "user", "assistant": "model"}
    for message in messages:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "tool_result":
                yield Entry("result", _text(block.get("content")), block["tool_use_id"])
            elif block["type"] == "tool_use":
                yield Entry("call", json.dumps(block["input"]), block["id"])
            elif block["type"] == "text":
                yield Entry(words.get(message["role"], "system"), block["text"])


def _tool_name(tool: Json) -> str:
    """A tool's name; a namespace's with those of its tools."""
    if "tools" in tool:
        return " ".join([tool["name"], *(each["name"] for each in tool["tools"])])
    return str((tool.get("function") or tool)["name"])
