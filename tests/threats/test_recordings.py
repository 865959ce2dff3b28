"""Neither the provider's key nor a trial's token is in anything that a run writes, whatever agent and model say.

One run of two real agents; behind the provider's address is a model of ours. It has the agent print its environment
and its processes, keep them where agents keep their logs, and then repeats the token in words and in commands; at
last it says the provider's key itself.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fourhands.model.event import EventKind
from fourhands.tasks.cache import cache_root
from fourhands.trajectories.run_folder import RunFolder

from .hidden import canary

pytestmark = pytest.mark.slow

FOURHANDS = Path(sys.executable).with_name("fourhands")
SHOW = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n'"
KEEP = (
    f"mkdir -p /logs/artifacts && {SHOW} | tee /logs/agent/shown.log /logs/artifacts/shown.bin > /tmp/shown"
)
TOKEN = re.compile(r"(?:OPENAI_API_KEY=|token\W{1,12})([A-Za-z0-9_-]{32})(?![A-Za-z0-9_-])")
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


@dataclass
class Model:
    """Answers each request by how far its history is; remembers the tokens and the keys that it was shown."""

    key: str
    tokens: set[str] = field(default_factory=set)
    bodies: list[str] = field(default_factory=list)

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        history = json.dumps(body["messages"])
        self.bodies.append(history)
        shown = TOKEN.findall(history)
        self.tokens.update(shown)
        token = shown[0] if shown else ""
        turns = [
            ("I look around.", f"env; {SHOW}"),
            (f"I was given {token}.", f"echo {token}; cat src/{token}.py; {KEEP}"),
            (
                f"My key is {self.key}.",
                f"sed -n 3,9p notes/{token}/x.py; echo {self.key} | tee /logs/agent/key.log",
            ),
            ("Done.", SUBMIT),
        ]
        said, command = turns[sum(each["role"] == "assistant" for each in body["messages"])]
        function = {"name": "bash", "arguments": json.dumps({"command": command})}
        call = {"id": f"call-{len(self.bodies)}", "type": "function", "function": function}
        message = {"role": "assistant", "content": said, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [choice],
            "usage": usage,
        }


@dataclass(frozen=True)
class Written:
    """All that was written, and by which model it was asked for. ``shown`` is what the command line printed."""

    run: Path
    cassette: Path
    model: Model
    shown: str
    since: float

    @property
    def secrets(self) -> list[bytes]:
        return [each.encode() for each in (self.model.key, *self.model.tokens)]

    def holding(self, folder: Path, *, since: float = 0.0) -> list[Path]:
        """Files that hold a secret, as they are, decompressed, or in a name."""
        return [
            path
            for path, data in everything_in(folder, since)
            if any(secret in data or secret in os.fsencode(path) for secret in self.secrets)
        ]


def everything_in(folder: Path, since: float) -> Iterator[tuple[Path, bytes]]:
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.stat().st_mtime < since:
            continue
        data = path.read_bytes()
        yield path, data
        try:
            yield path, zlib.decompress(data)
        except zlib.error:
            continue


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    model = Model(canary("key"))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            assert self.headers["authorization"] == f"Bearer {model.key}"
            if not raw:  # only asked whether there is such an API
                self.send_error(400)
                return
            body = json.loads(raw)
            data = json.dumps(model.reply(body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    folder, since = tmp_path_factory.mktemp("recordings"), time.time()
    run, cassette = folder / "run", folder / "cassette.jsonl"
    command: list[str | Path] = [
        *(FOURHANDS, "run", "--out", run, "--tasks", "ledger-rounding", "--json"),
        *("--condition", "counter-edit"),
        *("--agent", "thin,mini-swe-agent", "--model", "live-model", "--api-key-env", "A_PROVIDERS_KEY"),
        *("--base-url", f"http://127.0.0.1:{server.server_port}/v1"),
    ]
    env = {**os.environ, "A_PROVIDERS_KEY": model.key}
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        made = subprocess.run(
            [FOURHANDS, "cassette", run, "--out", cassette], capture_output=True, text=True, check=False
        )
        assert (done.returncode, made.returncode) == (0, 0), done.stderr + made.stderr
        yield Written(run, cassette, model, done.stdout + done.stderr + made.stdout + made.stderr, since)
    finally:
        server.shutdown()
        server.server_close()


def attempts(written: Written) -> list[Any]:
    folder = RunFolder(written.run)
    return [folder.final_attempt(trial.key) for trial in folder.plan().trials]


def test_the_control_both_agents_showed_their_model_their_token(written: Written) -> None:
    """And both went all the way: what is searched for below was there to be written."""
    assert len(written.model.tokens) == 2
    assert len(written.model.bodies) == 8
    for token in written.model.tokens:
        assert any(f"I was given {token}" in body for body in written.model.bodies)
    assert sum(f"My key is {written.model.key}" in body for body in written.model.bodies) == 2
    for attempt in attempts(written):
        assert attempt.ended.body["termination"] == "finished"
        outputs = [
            attempt.blobs.get(event.body["output"])
            for event in attempt.read().events
            if event.kind is EventKind.ACTION_RESULT
        ]
        assert any(b"(secret)" in output for output in outputs)
    assert b"(secret)" in written.cassette.read_bytes()


def test_no_secret_is_in_any_file_of_the_run(written: Written) -> None:
    """Events, blobs, git objects, plan, report, Harbor's folders with the agents' logs."""
    assert written.holding(written.run) == []


def test_no_secret_is_in_a_packed_git_object(written: Written) -> None:
    for attempt in attempts(written):
        git = ["git", "--git-dir", attempt.objects_path, "cat-file", "--batch", "--batch-all-objects"]
        objects = subprocess.run(git, capture_output=True, check=True).stdout
        assert objects
        assert not any(secret in objects for secret in written.secrets)


def test_the_agents_logs_are_kept_without_the_secrets_and_as_long_as_they_were(written: Written) -> None:
    logs = {path.name: path for path in (written.run / "jobs").rglob("agent/*")}
    assert {"mini.log", "trajectory.mini.json", "thin.log", "shown.log", "key.log"} <= set(logs)
    assert logs["key.log"].read_text() == "*" * len(written.model.key) + "\n"
    assert "*" * 32 in logs["shown.log"].read_text()
    trajectory = json.loads(logs["trajectory.mini.json"].read_text())
    assert f"I was given {'*' * 32}." in json.dumps(trajectory)
    kept = list((written.run / "jobs").rglob("artifacts/**/shown.bin"))
    assert kept
    assert all(b"*" * 32 in path.read_bytes() for path in kept)


def test_no_secret_is_in_the_cassette_or_on_the_screen(written: Written) -> None:
    text = written.cassette.read_bytes() + written.shown.encode()
    assert not any(secret in text for secret in written.secrets)


def test_nothing_of_the_sandboxes_is_left_and_no_secret_in_the_cache(written: Written) -> None:
    assert written.holding(cache_root(), since=written.since) == []


def test_the_providers_key_is_not_inside_before_the_model_says_it(written: Written) -> None:
    """Neither in the agent's environment nor in that of any process, nor in an argument."""
    shown = [body for body in written.model.bodies if "My key is" not in body]
    assert any("/proc/[0-9]*/environ" in body for body in shown)
    assert not any(written.model.key in body for body in shown)
