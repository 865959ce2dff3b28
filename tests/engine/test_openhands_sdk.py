"""OpenHands: our program around its SDK against a server that answers as it is told."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest

from fourhands.engine.agents import openhands_sdk
from fourhands.engine.agents.openhands_sdk import OpenHandsSdk
from fourhands.engine.agents.registry import AGENTS
from fourhands.model.usage import Usage
from fourhands.tasks.environment import python_environment

pytestmark = pytest.mark.slow

Call = tuple[str, dict[str, Any]]
Reply = str | int | list[Call]
"""Words, a status, or calls: a tool's name and its arguments."""
THREAD = "x-litellm-session-id"
DELEGATED = "Count the lines of a.py."


class Server:
    """A model for the main loop and its sub-agents, and an MCP server with one tool; remembers what it was asked."""

    def __init__(
        self, main: Sequence[Reply], delegated: Sequence[Reply], before: Callable[[int], None]
    ) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.questions: list[str] = []
        self.elsewhere: list[str] = []
        left = {False: list(main), True: list(delegated)}
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = orjson.loads(self.rfile.read(int(self.headers["content-length"])))
                assert self.headers["authorization"] == "Bearer per-trial-token"
                if self.path == "/mcp":
                    self._say(*server.answer(body))
                elif self.path == "/v1/chat/completions":
                    server.asked.append((self.headers[THREAD], body))
                    before(len(server.asked))
                    reply = left[DELEGATED in str(body["messages"][1]["content"])].pop(0)
                    self._say(
                        *((reply, {"error": {"message": "no"}}) if isinstance(reply, int) else _ok(reply))
                    )
                else:
                    server.elsewhere.append(self.path)
                    self._say(404, None)

            def do_GET(self) -> None:
                if self.path != "/mcp":
                    server.elsewhere.append(self.path)
                self._say(405, None)

            def do_DELETE(self) -> None:
                self._say(405, None)

            def _say(self, status: int, said: dict[str, Any] | None) -> None:
                data = orjson.dumps(said) if said is not None else b""
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any] | None]:
        if "id" not in request:
            return 202, None
        schema = {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]}
        match request["method"]:
            case "initialize":
                info = {"name": "user", "version": "1"}
                said = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                said = {"tools": [{"name": "ask_the_user", "description": "Ask.", "inputSchema": schema}]}
            case _:
                self.questions.append(request["params"]["arguments"]["question"])
                said = {"content": [{"type": "text", "text": "Round half up."}]}
        return 200, {"jsonrpc": "2.0", "id": request["id"], "result": said}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _ok(reply: str | list[Call]) -> tuple[int, dict[str, Any]]:
    message: dict[str, Any] = {"role": "assistant", "content": reply if isinstance(reply, str) else "I act."}
    if not isinstance(reply, str):
        message["tool_calls"] = [
            {
                "id": f"call-{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for number, (name, given) in enumerate(reply)
        ]
    return 200, {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "prompt_tokens_details": {"cached_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    }


class Scene:
    """A folder to work in, and the program, run as its agent runs it."""

    def __init__(self, path: Path) -> None:
        self.servers: list[Server] = []
        self.work, self.home, self.logs = path / "work", path / "home", path / "logs"
        for folder in (self.work, self.home, self.logs):
            folder.mkdir()
        self._python = python_environment(AGENTS["openhands-sdk"].lock).prefix / "bin" / "python"

    def run(
        self,
        *main: Reply,
        delegated: Sequence[Reply] = (),
        effort: str | None = None,
        asking: bool = False,
        before: Callable[[int], None] = lambda _: None,
    ) -> tuple[int, Server]:
        server = Server(main, delegated, before)
        self.servers.append(server)
        ask = {
            "user": {
                "url": f"{server.root}/mcp",
                "transport": "http",
                "headers": {"Authorization": "Bearer per-trial-token"},
            }
        }
        request = {
            "base_url": f"{server.root}/v1",
            "model": "m",
            "token": "per-trial-token",
            "instruction": "Repair it.",
            "effort": effort,
            "ask": ask if asking else None,
            "log": str(self.logs / "openhands"),
        }
        done = subprocess.run(
            [self._python, "-I", "-c", openhands_sdk._PROGRAM.read_text()],
            input=json.dumps(request),
            cwd=self.work,
            env={
                "HOME": str(self.home),
                "PATH": "/usr/bin:/bin",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "TASK": "its own",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        (self.logs / "openhands.log").write_text(done.stdout)
        return done.returncode, server

    def reported(self) -> Usage | None:
        kwargs = {"run": "r", "condition": "vanilla", "repeat": 1, "skip_model_parsing": True}
        return OpenHandsSdk(logs_dir=self.logs, model_name="m", **kwargs).reported_usage()


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    for server in scene.servers:
        server.close()


def _texts(message: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in message["content"])


@dataclass(frozen=True)
class Played:
    """One run of the program with all that it can do, for its start takes seconds of work."""

    scene: Scene
    code: int
    server: Server
    file: Path

    def requests(self) -> list[dict[str, Any]]:
        """Of the main loop."""
        main = self.server.asked[0][0]
        return [body for thread, body in self.server.asked if thread == main]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    scene = Scene(tmp_path_factory.mktemp("openhands"))
    file = scene.work / "a.py"
    file.write_text("x = 1\ny = 2\n")

    def before(number: int) -> None:
        if number == 2:
            file.write_text("# by the user\nx = 1\ny = 2\n")

    code, server = scene.run(
        [
            ("file_editor", {"command": "view", "path": str(file)}),
            ("terminal", {"command": "echo $TASK; pwd; false"}),
        ],
        [
            (
                "file_editor",
                {"command": "str_replace", "path": str(file), "old_str": "x = 1", "new_str": "x = 3"},
            )
        ],
        [("task", {"prompt": DELEGATED, "subagent_type": "general-purpose"})],
        [("ask_the_user", {"question": "Which way?"})],
        [("finish", {"message": "Done."})],
        delegated=[[("terminal", {"command": "wc -l a.py"})], "Three lines."],
        effort="low",
        asking=True,
        before=before,
    )
    yield Played(scene, code, server, file)
    server.close()


def test_it_speaks_chat_without_streaming_and_says_when_it_is_done(played: Played) -> None:
    assert played.code == 0
    first, *_ = played.requests()
    assert [tool["function"]["name"] for tool in first["tools"]] == [
        *("terminal", "file_editor", "task_tracker", "task", "finish", "think", "ask_the_user")
    ]
    assert not first.get("stream")
    assert first["reasoning_effort"] == "low"
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert _texts(first["messages"][1]) == "Repair it."
    assert played.server.elsewhere == []


def test_parallel_calls_run_in_order_in_the_tasks_own_variables(played: Played) -> None:
    viewed, ran = played.requests()[1]["messages"][-2:]
    assert "1\tx = 1" in _texts(viewed)
    expected = f"its own\n{played.scene.work}\n[The command completed with exit code 1.]"
    assert _texts(ran).startswith(expected)


def test_a_changed_file_is_edited_without_a_word(played: Played) -> None:
    assert played.file.read_text() == "# by the user\nx = 3\ny = 2\n"
    said = _texts(played.requests()[2]["messages"][-1])
    assert "has been edited" in said
    assert "modified" not in said


def test_a_sub_agent_has_a_thread_of_its_own_and_is_counted(played: Played) -> None:
    threads = [thread for thread, _ in played.server.asked]
    main, sub = threads[0], threads[3]
    assert main != sub
    assert threads == [main, main, main, sub, sub, main, main]
    assert "3 a.py" in _texts(played.server.asked[4][1]["messages"][-1])
    result = _texts(played.requests()[3]["messages"][-1])
    assert "Status: completed" in result
    assert "Three lines." in result
    assert played.scene.reported() == Usage(input=7 * 60, cache_read=7 * 40, output=7 * 10, reasoning=7 * 3)


def test_it_asks_the_user_and_keeps_no_token(played: Played) -> None:
    assert played.server.questions == ["Which way?"]
    assert "Round half up." in _texts(played.requests()[4]["messages"][-1])
    folders = played.scene.logs, played.scene.home
    kept = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert kept
    assert not [path for path in kept if b"per-trial-token" in path.read_bytes()]


def test_a_model_that_says_no_is_no_end_of_its_own(scene: Scene) -> None:
    code, server = scene.run(401)
    assert code == 1
    assert len(server.asked) == 1
    assert (
        "401" in (scene.logs / "openhands.log").read_text()
        or "Authentication" in (scene.logs / "openhands.log").read_text()
    )


def test_an_agent_that_turns_in_circles_has_given_up(scene: Scene) -> None:
    code, _ = scene.run(*([("terminal", {"command": "true"})] for _ in range(12)))
    assert code == 3
