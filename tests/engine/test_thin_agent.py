"""The thin agent's program against a server that answers as it is told; whole trials are in test_temperaments."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import orjson
import pytest

from fourhands.engine.agents import thin_program
from fourhands.engine.agents.registry import AGENTS
from fourhands.touch.actions import read_observation

WORD = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
Message = dict[str, Any]
Asked = list[list[Message]]
Run = Callable[[Sequence[object]], tuple[subprocess.CompletedProcess[str], Asked]]


def _call(arguments: str, number: int = 1) -> Message:
    return {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": arguments}}


def _acts(*commands: str) -> Message:
    calls = [_call(json.dumps({"command": command}), number) for number, command in enumerate(commands)]
    return {"role": "assistant", "content": "", "tool_calls": calls}


SUBMIT = _acts(f"echo {WORD}")


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Run the program against a model that gives ``answers``: messages, or bare statuses."""
    servers = []

    def start(answers: Sequence[object]) -> tuple[subprocess.CompletedProcess[str], Asked]:
        asked: Asked = []
        left = list(answers)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = orjson.loads(self.rfile.read(int(self.headers["content-length"])))
                assert self.headers["authorization"] == "Bearer secret"
                assert self.path == "/v1/chat/completions"
                assert body["model"] == "m"
                asked.append(body["messages"])
                answer = left.pop(0)
                status = answer if isinstance(answer, int) else 200
                data = orjson.dumps({"choices": [{"message": answer}]})
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
                del format, args

        server = HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        request = {
            "base_url": f"http://127.0.0.1:{server.server_port}/v1",
            "model": "m",
            "token": "secret",
            "instruction": "Repair it.",
        }
        program = AGENTS["thin"].lock.read_text()
        command = [sys.executable, "-I", "-c", program]
        done = subprocess.run(
            command, input=json.dumps(request), cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return done, asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_it_acts_until_the_work_is_submitted(run: Run, tmp_path: Path) -> None:
    done, asked = run([_acts("echo one > f; cat f", "exit 3"), SUBMIT])
    assert (done.returncode, done.stderr) == (0, "")
    system, instruction = asked[0]
    assert (system["role"], instruction["role"]) == ("system", "user")
    assert instruction["content"].startswith("Repair it.")
    assert WORD in instruction["content"]
    assert asked[1][:2] == asked[0]  # the history only grows
    first, second = (read_observation(message["content"]) for message in asked[1][3:])
    assert (first.output, first.code) == ("one\n", 0)
    assert (second.output, second.code) == ("", 3)
    assert (tmp_path / "f").read_text() == "one\n"


def test_a_reply_without_a_tool_call_is_answered_by_a_fixed_user_turn(run: Run) -> None:
    done, asked = run([{"role": "assistant", "content": "What do you want?"}, SUBMIT])
    assert done.returncode == 0
    assert asked[1][2:] == [
        {"role": "assistant", "content": "What do you want?"},
        {"role": "user", "content": thin_program.USE_THE_TOOL},
    ]


@pytest.mark.parametrize(
    "arguments", ["", "{", "[]", '{"cmd": "ls"}', '{"command": 1}', '{"command": "\\u0000"}']
)
def test_arguments_that_are_none_are_told_to_the_model(run: Run, arguments: str) -> None:
    done, asked = run([{"role": "assistant", "content": None, "tool_calls": [_call(arguments)]}, SUBMIT])
    assert (done.returncode, done.stderr) == (0, "")
    assert "arguments must be" in read_observation(asked[1][-1]["content"]).output


@pytest.mark.parametrize("command", [f"echo {WORD}; false", f"echo x; echo {WORD}", "true"])
def test_only_the_word_alone_of_a_command_that_went_well_submits(run: Run, command: str) -> None:
    done, asked = run([_acts(command), SUBMIT])
    assert done.returncode == 0
    assert len(asked) == 2


def test_the_middle_of_a_long_output_is_left_out_and_bytes_that_are_no_text_do_no_harm(run: Run) -> None:
    _, asked = run([_acts("printf '\\377start'; seq 100000; printf end"), SUBMIT])
    shown = asked[1][-1]["content"]
    output = read_observation(shown).output
    assert len(shown) < 30_000
    assert output.startswith("\N{REPLACEMENT CHARACTER}start")
    assert output.endswith("end")


def test_a_command_out_of_time_is_killed_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thin_program, "COMMAND_SECONDS", 0.5)
    late = tmp_path / "late"
    code, output = thin_program.run(f"echo before; (sleep 3; touch {late}) & sleep 60")
    assert code != 0
    assert output.startswith("before\n")
    assert "killed after" in output
    time.sleep(3)
    assert not late.exists()


def test_a_server_that_is_busy_is_asked_again_and_one_that_refuses_is_not(run: Run) -> None:
    done, asked = run([503, SUBMIT])
    assert (done.returncode, len(asked)) == (0, 2)
    done, asked = run([401])
    assert (done.returncode, len(asked)) == (1, 1)
    assert "the model does not answer: 401" in done.stderr


def test_the_agent_is_one_file_that_needs_nothing_installed() -> None:
    entry = AGENTS["thin"]
    assert entry.prefixes() == ()
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", entry.lock.read_text()],
        input="{}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KeyError: 'base_url'" in done.stderr  # without site-packages it comes as far as its request
