"""The thin agent: Chat Completions, one bash tool, a history that only grows. Runs inside, on Python 3.9 or later.

Standard input holds the request: the base URL of the model, its name, the token, and the instruction. Exits with 0
once the work is submitted.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from typing import Any
from urllib.parse import urlsplit

SUBMIT_WORD = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
COMMAND_SECONDS = 120
SHOWN_CHARACTERS = 16_000
WAITS = (1, 2, 4, 8)
"""Seconds before each further try, when the model's server is down or busy."""
FIRST_ERROR = 400
FIRST_SERVER_ERROR = 500
RETRIED = (408, 409, 429)
"""What a server says that is busy."""

SYSTEM = "You are a software engineer. You work on a repository through a shell."
RULES = f"""

The repository is your working directory. Every reply must call the tool `bash`, which runs one command in a new
shell. When the work is done, submit it: run `echo {SUBMIT_WORD}` and nothing else.
"""
USE_THE_TOOL = (
    "Nothing was run: your reply has no tool call. "
    f"Call the tool `bash`, or submit with `echo {SUBMIT_WORD}`."
)
BASH = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a command in a new shell, in the repository's folder.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
}


class Model:
    """The model behind one address, on one connection that is kept."""

    def __init__(self, base_url: str, name: str, token: str) -> None:
        """Nothing is sent yet."""
        parts = urlsplit(base_url)
        self._host = parts.netloc
        self._path = f"{parts.path}/chat/completions"
        self._name = name
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        self._connection = http.client.HTTPConnection(self._host)

    def reply(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """The model's next message; exits when its server keeps failing, or refuses."""
        body = json.dumps({"model": self._name, "messages": messages, "tools": [BASH]})
        said = ""
        for wait in (0, *WAITS):
            time.sleep(wait)
            try:
                self._connection.request("POST", self._path, body, self._headers)
                answer = self._connection.getresponse()
                data = answer.read()
            except (OSError, http.client.HTTPException) as error:
                said = repr(error)
                self._connection.close()
                continue
            if answer.status < FIRST_ERROR:
                message: dict[str, Any] = json.loads(data)["choices"][0]["message"]
                return message
            said = f"{answer.status} {data.decode(errors='replace')}"
            if answer.status < FIRST_SERVER_ERROR and answer.status not in RETRIED:
                break
        sys.exit(f"the model does not answer: {said}")


def run(command: str) -> tuple[int, str]:
    """Run ``command`` in bash; its exit status and all it printed. Out of time, it is killed with what it started."""
    process = subprocess.Popen(
        ["/bin/bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    late = ""
    try:
        output, _ = process.communicate(timeout=COMMAND_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        late = f"\n(killed after {COMMAND_SECONDS} seconds)"
    return process.returncode, output.decode(errors="replace") + late


def observation(code: int, output: str) -> str:
    """What the model is shown: the middle of a long output is left out."""
    if len(output) <= SHOWN_CHARACTERS:
        return json.dumps({"returncode": code, "output": output}, ensure_ascii=False)
    half = SHOWN_CHARACTERS // 2
    parts = {"returncode": code, "output_head": output[:half], "output_tail": output[-half:]}
    return json.dumps({**parts, "characters_left_out": len(output) - 2 * half}, ensure_ascii=False)


def command_of(call: dict[str, Any]) -> str | None:
    """The command of a tool call, or ``None`` if its arguments hold none that a shell can run."""
    try:
        command = json.loads(call["function"]["arguments"])["command"]
    except (ValueError, KeyError, TypeError):
        return None
    return command if isinstance(command, str) and "\0" not in command else None


def act(call: dict[str, Any]) -> tuple[bool, str]:
    """Carry out one tool call: whether it submits, and what the model is shown."""
    command = command_of(call)
    if command is None:
        return False, observation(2, 'the arguments must be {"command": "…"}')
    code, output = run(command)
    submits = code == 0 and output.lstrip().partition("\n")[0].strip() == SUBMIT_WORD
    return submits, observation(code, output)


def work(model: Model, instruction: str) -> None:
    """Ask and act until the work is submitted."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": instruction + RULES},
    ]
    while True:
        message = model.reply(messages)
        calls = message.get("tool_calls") or []
        kept = {"role": "assistant", "content": message.get("content") or ""}
        messages.append({**kept, "tool_calls": calls} if calls else kept)
        if not calls:
            messages.append({"role": "user", "content": USE_THE_TOOL})
        for call in calls:
            submits, shown = act(call)
            if submits:
                return
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": shown})


if __name__ == "__main__":
    REQUEST = json.load(sys.stdin)
    work(Model(REQUEST["base_url"], REQUEST["model"], REQUEST["token"]), REQUEST["instruction"])
