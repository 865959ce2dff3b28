"""A real program from npm in a real sandbox, between a model that answers as it is told and a user who is asked."""

from __future__ import annotations

import json
import logging
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast, override

import orjson
from aiohttp import web
from harbor.environments.base import ExecResult
from harbor.models.task.config import EnvironmentConfig, NetworkMode, NetworkPolicy
from harbor.models.trial.paths import TrialPaths

from fourhands.engine.agents.npm_agent import NpmAgent
from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.local import LocalEnvironment
from fourhands.engine.session import Session
from fourhands.gateway.asking import AskingServer
from fourhands.model.sandbox import SandboxSpec
from fourhands.model.usage import Usage

FILE: Final = "/testbed/calc.py"
ORIGINAL: Final = "def add(a, b):\n    return a + b\n\n\ndef sub(a, b):\n    return a - b\n"
INSTRUCTION: Final = '@nobody Repair "calc.py":\n\n-- it\'s $wrong, `so` wrong'
DELEGATED: Final = "Look for other places"
"""How the prompt of a sub-agent begins."""
TOKEN: Final = "per-trial-token"
_INPUT, _CACHED, _OUTPUT, _REASONING = 100, 40, 10, 3
PER_REPLY: Final = Usage(input=_INPUT - _CACHED, cache_read=_CACHED, output=_OUTPUT, reasoning=_REASONING)

Call = tuple[str, dict[str, Any]]
Reply = str | int | list[Call]
"""Words, a status, or calls: a tool's name and its arguments."""
Before = Callable[[int, "Scene"], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What an agent reads of a session."""

    asking: bool = False
    reasoning_effort: str | None = None
    seen_model: str = "model"
    token: str = TOKEN
    gateway_root: str = "http://127.0.0.1:8123"
    gateway_url: str = "http://127.0.0.1:8123/v1"
    ask_url: str = "http://127.0.0.1:8123/mcp"


@dataclass(frozen=True)
class Request:
    """A request to the model."""

    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def tools(self) -> list[str]:
        return [tool["function"]["name"] for tool in self.body.get("tools") or ()]

    @property
    def texts(self) -> list[str]:
        """Of every message, in order."""
        return [_text(message) for message in self.body["messages"]]


class _Prepared(LocalEnvironment):
    @override
    async def _spec(self) -> SandboxSpec:
        env = {"PATH": "/usr/bin:/bin", "OF_THE_TASK": "its own"}
        return SandboxSpec(self.environment_dir.parent / "repository", env=env)


class Scene:
    """A sandbox with the file `FILE`, and all that was asked of the model and of the user."""

    def __init__(self, agent: NpmAgent, environment: LocalEnvironment) -> None:
        self.asked: list[Request] = []
        self.questions: list[str] = []
        self.elsewhere: list[str] = []
        self.agent = agent
        self._environment = environment
        self._left: dict[bool, list[Reply]] = {}
        self._before: Before | None = None

    async def run(
        self,
        *main: Reply,
        delegated: Sequence[Reply] = (),
        trial: Trial | None = None,
        before: Before | None = None,
    ) -> ExecResult:
        """Run the agent to its end; ``before`` each request is answered, the user may act."""
        self._left, self._before = {False: list(main), True: list(delegated)}, before
        session = cast("Session", trial or Trial())
        for path, text in self.agent.files(session).items():
            await self.write(path, text)
        command, env = self.agent.launch(INSTRUCTION, session)
        done = await self._environment.exec(command, env=dict(env), timeout_sec=280)
        await self._environment.download_dir("/logs/agent", self.agent.logs_dir)
        return done

    async def write(self, path: str, text: str) -> None:
        """In place, as many editors do."""
        command = ["bash", "-c", 'mkdir -p "${1%/*}" && cat > "$1"', "bash", path]
        assert (await self._environment.sandbox.run(command, stdin=text.encode())).code == 0

    async def inside(self, command: str) -> str:
        done = await self._environment.exec(command)
        assert done.return_code == 0, done.stderr
        return done.stdout or ""

    def kept(self) -> bytes:
        """All that its logs hold."""
        return b"\n".join(path.read_bytes() for path in self.agent.logs_dir.rglob("*") if path.is_file())

    async def answer(self, request: web.BaseRequest, asking: AskingServer) -> web.StreamResponse:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return web.json_response({"error": {"message": "who are you?"}}, status=401)
        if request.path == "/mcp":
            return await asking.handle(request, self._tell)
        if request.path != "/v1/chat/completions":
            self.elsewhere.append(f"{request.method} {request.path}")
            return web.json_response({"error": {"message": "there is no such thing"}}, status=404)
        asked = Request(
            {k.lower(): v for k, v in request.headers.items()}, orjson.loads(await request.read())
        )
        self.asked.append(asked)
        if self._before:
            await self._before(len(self.asked), self)
        prompt = next(text for text in asked.texts[1:] if text)
        reply = self._left[DELEGATED in prompt].pop(0)
        if isinstance(reply, int):
            return web.json_response({"error": {"message": "no"}}, status=reply)
        assert asked.body["stream"]
        assert asked.body["stream_options"]["include_usage"]
        return web.Response(body=_stream(reply, len(self.asked)), content_type="text/event-stream")

    async def _tell(self, question: str) -> str:
        self.questions.append(question)
        return "Round half up."


@asynccontextmanager
async def scene_of(agent_class: type[NpmAgent], folder: Path) -> AsyncIterator[Scene]:
    """Start a sandbox that sees the agent, and serve on its listener."""
    logs = folder / "logs"
    logs.mkdir()
    _lay_a_task(folder / "task")
    entry = AGENTS[agent_class.name()]
    environment = _Prepared(
        environment_dir=folder / "task" / "environment",
        environment_name="name",
        session_id="session",
        trial_paths=TrialPaths(folder / "trial"),
        task_env_config=EnvironmentConfig(),
        network_policy=NetworkPolicy(network_mode=NetworkMode.NO_NETWORK),
        logger=logging.getLogger("test"),
        prefixes=[str(prefix) for prefix in entry.prefixes()],
    )
    await environment.start(force_build=False)
    agent = agent_class(logs_dir=logs, model_name="m", run="r", condition="vanilla", repeat=1)
    asking = AskingServer(progress_seconds=0.5)
    try:
        await agent.install(environment)
        scene = Scene(agent, environment)
        runner = web.ServerRunner(web.Server(lambda request: scene.answer(request, asking)))
        await runner.setup()
        await web.SockSite(runner, await environment.listen()).start()
        yield scene
        await runner.cleanup()
    finally:
        await asking.close()
        await environment.stop(delete=True)


def _lay_a_task(folder: Path) -> None:
    (folder / "environment").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", folder / "repository"], check=True)
    (folder / "repository" / "calc.py").write_text(ORIGINAL)


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


def _stream(reply: str | list[Call], number: int) -> bytes:
    delta: dict[str, Any] = {"role": "assistant", "content": reply if isinstance(reply, str) else "I act."}
    if not isinstance(reply, str):
        delta["tool_calls"] = [
            {
                "index": index,
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for index, (name, given) in enumerate(reply)
        ]
    usage = {
        "prompt_tokens": _INPUT,
        "completion_tokens": _OUTPUT,
        "total_tokens": _INPUT + _OUTPUT,
        "prompt_tokens_details": {"cached_tokens": _CACHED},
        "completion_tokens_details": {"reasoning_tokens": _REASONING},
    }
    finish = "stop" if isinstance(reply, str) else "tool_calls"
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
        {"choices": [], "usage": usage},
    ]
    common = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 0, "model": "model"}
    events = [b"data: " + orjson.dumps({**common, **chunk}) + b"\n\n" for chunk in chunks]
    return b"".join([*events, b"data: [DONE]\n\n"])
