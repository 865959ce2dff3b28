"""terminus-2 in whole trials against a server that answers as it is told, and the model that it is given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from harbor.llms.base import ContextLengthExceededError, OutputLengthExceededError

from fourhands.engine.agents import terminus_model, tmux
from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.agents.terminus_model import GatewayModel, ModelFailedError
from fourhands.model.errors import MissingError
from fourhands.model.event import Event, EventKind
from fourhands.model.outcome import Termination
from fourhands.trajectories.run_folder import RunFolder

Messages = list[dict[str, Any]]
Answer = str | tuple[int, dict[str, Any]]
"""The words of a reply, or a status and what goes with it."""
Answers = Callable[[int, Messages], Answer]
TOKENS_PER_CHARACTER = 25
TOO_LONG = (400, {"error": {"message": "too many tokens", "code": "context_length_exceeded"}})
MAIN = """
import sys
from fourhands.cli.main import main
try:
    main()
finally:
    print("imported:", *(name for name in ("harbor.agents.terminus_2", "litellm") if name in sys.modules))
"""


class Model:
    """Remembers what it was asked."""

    def __init__(self, answers: Answers) -> None:
        self.asked: list[dict[str, Any]] = []
        self.sessions: set[str] = set()
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                if not raw:  # only asked whether there is such an API
                    self._say(400, {})
                    return
                body = orjson.loads(raw)
                assert self.path == "/v1/chat/completions"
                assert self.headers["authorization"] == "Bearer secret"
                model.sessions.add(self.headers.get("x-session-id", ""))
                model.asked.append(body)
                answer = answers(len(model.asked), body["messages"])
                status, said = (200, _reply(body["messages"], answer)) if isinstance(answer, str) else answer
                self._say(status, said)

            def do_GET(self) -> None:
                self._say(200, {"object": "list", "data": []})

            def _say(self, status: int, said: dict[str, Any]) -> None:
                data = orjson.dumps(said)
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _reply(messages: Messages, text: str) -> dict[str, Any]:
    length = sum(len(message["content"]) for message in messages)
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": length * TOKENS_PER_CHARACTER,
            "completion_tokens": 10,
            "total_tokens": length * TOKENS_PER_CHARACTER + 10,
            "prompt_tokens_details": {"cached_tokens": 5},
        },
    }


def _types(*keystrokes: str, done: bool = False) -> str:
    commands = [{"keystrokes": keys, "duration": 0.4} for keys in keystrokes]
    return json.dumps({"analysis": "", "plan": "", "commands": commands, "task_complete": done})


@pytest.fixture
def serve() -> Iterator[Callable[[Answers], Model]]:
    models: list[Model] = []

    def start(answers: Answers) -> Model:
        models.append(Model(answers))
        return models[-1]

    yield start
    for model in models:
        model.close()


def _trial(folder: Path, model: Model, *arguments: str) -> tuple[RunFolder, list[Event], str]:
    """Run one trial in a process of its own; what it printed comes last."""
    done = subprocess.run(
        [
            *(sys.executable, "-c", MAIN, "run", "--tasks", "ledger-rounding", "--agent", "terminus-2"),
            *("--model", "m", "--base-url", model.url, *arguments, "--out", folder / "run"),
        ],
        env={**os.environ, "OPENAI_API_KEY": "secret"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    run = RunFolder(folder / "run")
    (trial,) = run.plan().trials
    attempt = run.final_attempt(trial.key)
    assert attempt
    return run, list(attempt.read().events), done.stdout


def _ended(events: list[Event]) -> dict[str, Any]:
    assert events[-1].kind is EventKind.TRIAL_ENDED
    return events[-1].body


def _script(*steps: str | tuple[str, str]) -> Answers:
    """Reply by reply; after one that comes with words, wait as a model does until the terminal shows them."""
    state = {"next": 0}

    def answer(_: int, messages: Messages) -> Answer:
        before = steps[state["next"] - 1] if state["next"] else ""
        said = [message["role"] == "assistant" for message in messages]
        shown = messages[len(said) - said[::-1].index(True) :] if any(said) else []
        if not isinstance(before, str) and before[1] not in str(shown):
            return _types("")
        step = steps[min(state["next"], len(steps) - 1)]
        state["next"] += 1
        return step if isinstance(step, str) else step[0]

    return answer


@pytest.mark.slow
def test_it_works_in_a_terminal_of_the_task_and_ends_once_it_has_said_twice_that_it_is_done(
    serve: Callable[[Answers], Model], tmp_path: Path
) -> None:
    model = serve(
        _script(
            _types('python -c \'import pytest; print("has", "pytest")\'\n', "pwd\n"),
            _types("echo by terminus > NOTES.md\n", done=True),
            _types(done=True),
        )
    )
    _, events, printed = _trial(tmp_path, model, "--condition", "vanilla")

    assert "imported: harbor.agents.terminus_2\n" in printed  # and not litellm
    ended = _ended(events)
    assert (ended["termination"], ended["steps"]) == (Termination.FINISHED, len(model.asked))
    first, *_, third = (body["messages"] for body in model.asked)
    assert "tools" not in model.asked[0]
    screens = [message["content"] for message in third if message["role"] == "user"]
    assert "/testbed" in screens[1]
    assert "Are you sure you want to mark the task as complete?" in screens[-1]
    assert third[: len(first)] == first  # the history only grows
    assert len(model.sessions) == 1
    changed = [event.body for event in events if event.kind is EventKind.WORKSPACE_CHANGED]
    assert [file["path"] for body in changed for file in body["files"]] == ["NOTES.md"]


@pytest.mark.slow
def test_the_user_edits_what_it_has_read_and_the_message_stays_in_its_place(
    serve: Callable[[Answers], Model], tmp_path: Path
) -> None:
    model = serve(
        _script(
            (_types("ls src; echo lo''oked\n"), "looked"),
            (_types("clear; cat src/tally/allocation.py; echo re''ad\n"), "read"),
            (_types("clear; git diff --stat | cat\n"), "1 file changed"),  # the edit stands by now
            _types(done=True),
            _types(done=True),
        )
    )
    _, events, _ = _trial(tmp_path, model, "--condition", "counter-edit", "--step-limit", "20")

    (sent,) = [event.body for event in events if event.kind is EventKind.MESSAGE_SENT]
    places = [
        [place for place, message in enumerate(body["messages"]) if sent["text"] in str(message["content"])]
        for body in model.asked
    ]
    first = next(number for number, found in enumerate(places) if found)
    assert first >= 2  # not before it had read
    (place,) = places[first]
    assert places[first:] == [[place]] * (len(model.asked) - first)
    ended = _ended(events)
    assert (ended["termination"], ended["delivered"]) == (Termination.FINISHED, 1)


@pytest.mark.slow
def test_a_history_that_is_too_long_is_summed_up_and_the_work_goes_on(
    serve: Callable[[Answers], Model], tmp_path: Path
) -> None:
    def answers(number: int, messages: Messages) -> Answer:
        asked = str(messages[-1]["content"])
        if "hand off your work" in asked:
            return "I have looked at the folder."
        if "picking up work from a previous AI agent" in asked:
            return "What did you see?"
        if "answer each of them" in asked:
            return "A package called tally."
        if number == 3:
            return TOO_LONG
        return _types("ls\n") if number < 3 else _types(done=True)

    model = serve(answers)
    _, events, printed = _trial(tmp_path, model, "--condition", "vanilla")

    assert _ended(events)["termination"] == Termination.FINISHED
    assert "litellm" not in printed.rpartition("imported:")[2]
    resumed = next(
        body["messages"]
        for body in model.asked
        if "A package called tally." in body["messages"][-1]["content"]
    )
    assert [message["role"] for message in resumed] == ["user", "user", "assistant", "user"]


@pytest.mark.slow
def test_without_its_terminal_it_has_not_come_to_its_end(
    serve: Callable[[Answers], Model], tmp_path: Path
) -> None:
    model = serve(_script(_types("exit\n")))
    run, events, _ = _trial(tmp_path, model, "--condition", "vanilla")
    assert _ended(events)["termination"] == Termination.PROTOCOL_FAILURE
    (log,) = run.path.glob("jobs/*/*/agent/terminus-2.log")
    assert "terminal" in log.read_text()


@pytest.mark.slow
def test_it_is_stopped_at_its_limit_of_steps(serve: Callable[[Answers], Model], tmp_path: Path) -> None:
    model = serve(_script(_types("ls\n")))
    _, events, _ = _trial(tmp_path, model, "--condition", "vanilla", "--step-limit", "2")
    ended = _ended(events)
    assert (ended["termination"], ended["steps"]) == (Termination.STEP_LIMIT, 2)
    assert len(model.asked) == 2


def _gateway_model(http: aiohttp.ClientSession, model: Model, effort: str | None = None) -> GatewayModel:
    return GatewayModel(http, base_url=model.url, name="m", token="secret", effort=effort)


async def test_its_model_counts_by_what_its_replies_said(serve: Callable[[Answers], Model]) -> None:
    model = serve(lambda *_: "Hello.")
    async with aiohttp.ClientSession() as http:
        client = _gateway_model(http, model, effort="low")
        reply = await client.call("abcd", [{"role": "user", "content": "ef"}], logging_path=None)
        assert reply.content == "Hello."
        assert reply.usage is not None
        assert (reply.usage.prompt_tokens, reply.usage.cache_tokens) == (6 * TOKENS_PER_CHARACTER, 5)
        assert client.count([{"role": "user", "content": "abc"}]) == 3 * TOKENS_PER_CHARACTER
    assert model.asked[0] == {
        "model": "m",
        "reasoning_effort": "low",
        "messages": [{"role": "user", "content": "ef"}, {"role": "user", "content": "abcd"}],
    }


async def test_its_model_is_asked_again_when_busy_and_not_when_it_says_no(
    serve: Callable[[Answers], Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminus_model, "_WAITS", (0, 0))
    model = serve(lambda number, _: (503, {"error": "busy"}) if number < 3 else "Here.")
    async with aiohttp.ClientSession() as http:
        assert (await _gateway_model(http, model).call("x")).content == "Here."
        busy = serve(lambda *_: (429, {"error": "slow down"}))
        with pytest.raises(ModelFailedError, match=r"429.*slow down"):
            await _gateway_model(http, busy).call("x")
        assert len(busy.asked) == 3
        closed = serve(lambda *_: (401, {"error": "no"}))
        with pytest.raises(ModelFailedError, match="401"):
            await _gateway_model(http, closed).call("x")
        assert len(closed.asked) == 1


async def test_its_model_learns_what_does_not_fit(serve: Callable[[Answers], Model]) -> None:
    model = serve(lambda number, _: "Yes." if number == 1 else TOO_LONG)
    async with aiohttp.ClientSession() as http:
        client = _gateway_model(http, model)
        await client.call("x")
        assert client.get_model_context_limit() == 1_000_000
        with pytest.raises(ContextLengthExceededError):
            await client.call("x" * 100)
        assert client.get_model_context_limit() == 100 * TOKENS_PER_CHARACTER


async def test_a_reply_that_was_cut_is_handed_on_as_such(serve: Callable[[Answers], Model]) -> None:
    def cut(_: int, messages: Messages) -> Answer:
        said = _reply(messages, "Half of")
        said["choices"][0]["finish_reason"] = "length"
        return 200, said

    async with aiohttp.ClientSession() as http:
        with pytest.raises(OutputLengthExceededError) as error:
            await _gateway_model(http, serve(cut)).call("x")
    assert error.value.truncated_response == "Half of"


def test_a_machine_without_tmux_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = AGENTS["terminus-2"]
    monkeypatch.setattr(tmux, "_SEEN_INSIDE", str(tmp_path))
    with pytest.raises(MissingError, match="apt-get install tmux"):
        entry.prefixes()
    (tmp_path / "tmux").touch(mode=0o755)
    assert entry.prefixes() == ()
