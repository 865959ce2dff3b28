"""Calls and results that real agents have left in their logs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fourhands.model.touch import Touch
from fourhands.touch.actions import action_touches, read_observation
from fourhands.touch.text_actions import text_actions


@dataclass(frozen=True)
class Call:
    """One call; the repository of its log is moved to where ours lies."""

    tool: str
    arguments: dict[str, Any]
    result: str

    def before(self) -> tuple[Touch, ...]:
        return action_touches(self.tool, self.arguments)

    def after(self) -> tuple[Touch, ...]:
        return action_touches(self.tool, self.arguments, output=read_observation(self.result).output)


def moved(tool: str, arguments: dict[str, Any], result: str, root: str) -> Call:
    return Call(
        tool, json.loads(json.dumps(arguments).replace(root, "/testbed")), result.replace(root, "/testbed")
    )


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def text_of(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def claude_code(data: Path) -> Iterator[Call]:
    for path in sorted((data / "trajectories" / "claude-code").rglob("*.jsonl")):
        calls: dict[str, tuple[str, dict[str, Any], str]] = {}
        for record in lines_of(path):
            content = (record.get("message") or {}).get("content")
            for block in content if isinstance(content, list) else []:
                if block["type"] == "tool_use":
                    calls[block["id"]] = (block["name"], block["input"], record.get("cwd") or "/project")
                elif block["type"] == "tool_result":
                    tool, arguments, root = calls[block["tool_use_id"]]
                    yield moved(tool, arguments, text_of(block["content"]), root)


def codex(data: Path) -> Iterator[Call]:
    for path in sorted((data / "trajectories" / "codex").rglob("*.jsonl")):
        calls: dict[str, tuple[str, str]] = {}
        root = "/testbed"
        for record in lines_of(path):
            payload = record.get("payload") or {}
            root = payload.get("cwd") or root
            if payload.get("type") == "function_call":
                calls[payload["call_id"]] = (payload["name"], payload["arguments"])
            elif payload.get("type") == "function_call_output":
                tool, arguments = calls[payload["call_id"]]
                yield moved(tool, json.loads(arguments), payload["output"], root)


def openhands(data: Path) -> Iterator[Call]:
    for path in sorted((data / "trajectories" / "openhands-llm-completions").rglob("*.json")):
        calls: dict[str, tuple[str, str]] = {}
        for message in json.loads(path.read_bytes())["messages"]:
            for call in message.get("tool_calls") or []:
                calls[call["id"]] = (call["function"]["name"], call["function"]["arguments"])
            if message["role"] == "tool":
                tool, arguments = calls[message["tool_call_id"]]
                root = "/workspace/django__django__3.0"
                yield moved(tool, json.loads(arguments), text_of(message["content"]), root)


def zero_based(data: Path) -> Iterator[Call]:
    for path in sorted((data / "trajectories" / "vorflux").rglob("*.json")):
        for step in json.loads(path.read_bytes())["trajectory"]:
            if step.get("type") == "tool_call" and isinstance(step["result"], str):
                roots = [part for part in step["arguments"].values() if str(part).startswith("/code/")]
                root = "/".join(str(roots[0]).split("/")[:4]) if roots else "/code"
                yield moved(step["tool"], step["arguments"], step["result"], root)


def shown(touches: tuple[Touch, ...]) -> int:
    return sum(len(lines) for touch in touches for lines in touch.lines or ())


def test_claude_code_has_read_the_lines_that_it_was_shown(shared_data: Path) -> None:
    calls = [call for call in claude_code(shared_data) if call.tool == "Read"]
    refused = [call for call in calls if call.result.startswith("<tool_use_error>")]
    assert len(calls) == 16
    assert len(refused) == 8
    for call in calls:
        (claimed,) = call.before()
        assert call.after() == () if call in refused else call.after()[0].path == claimed.path
        assert shown(call.after()) == (
            0 if call in refused else len(re.findall(r"^ *\d+→", call.result, re.MULTILINE))
        )


def test_claude_code_searches_and_lists(shared_data: Path) -> None:
    calls = [call for call in claude_code(shared_data) if call.tool in {"Grep", "Glob"}]
    touched = [touch for call in calls for touch in call.after()]
    assert len(calls) == 13
    assert [touch.path for touch in touched] == ["priv/static/assets/spotter.css"]
    assert shown(tuple(touched)) == 18


def test_codex_reads_with_its_shell(shared_data: Path) -> None:
    calls = [call for call in codex(shared_data) if call.tool == "shell"]
    printing = [call for call in calls if call.arguments["command"][2].startswith(("sed -n", "cat"))]
    patching = [call for call in calls if call.arguments["command"][2].startswith("apply_patch")]
    searching = [
        call for call in calls if "metadata" in call.result and call.arguments["command"][2].startswith("rg")
    ]
    assert len(printing) > 10
    assert all(len(call.before()) == 1 and call.before() == call.after() for call in printing)
    assert len(patching) == 2
    assert not any(call.after() for call in patching)
    found = [call for call in searching if read_observation(call.result).code == 0]
    assert len(found) > 4
    assert sum(shown(call.after()) > 0 for call in found) >= len(found) - 1
    assert not any(call.after() for call in searching if call not in found)


def test_openhands_reads_with_its_editor(shared_data: Path) -> None:
    calls = list(openhands(shared_data))
    numbered = [call for call in calls if call.result.startswith("Here's the result of running `cat -n`")]
    listed = [call for call in calls if call.result.startswith("Here's the files and directories")]
    edited = [call for call in calls if "has been edited" in call.result]
    assert min(len(numbered), len(listed), len(edited)) >= 4
    assert all(shown(call.after()) > 20 for call in numbered)
    assert not any(call.after() for call in [*listed, *edited])
    codes = [read_observation(call.result).code for call in calls if call.tool == "execute_bash"]
    assert set(codes) == {0, 1, 2}
    assert not any("[Command finished" in read_observation(call.result).output for call in calls)


def test_a_reader_that_counts_from_0_is_told_by_its_name(shared_data: Path) -> None:
    calls = [call for call in zero_based(shared_data) if call.tool == "read_text_file" and "→" in call.result]
    ranged = [call for call in calls if call.arguments.get("limit")]
    assert len(ranged) > 20
    assert all(call.before() == call.after() for call in ranged)
    searches = [call for call in zero_based(shared_data) if call.arguments.get("outputMode") == "content"]
    found = [call for call in searches if "No matches" not in call.result]
    assert len(found) > 8
    assert all(shown(call.after()) for call in found)


@pytest.mark.parametrize("version", ["official-0.x", "official-1.x-demo"])
def test_swe_agent_acts_by_the_last_block(shared_data: Path, version: str) -> None:
    steps = [
        step
        for path in sorted((shared_data / "trajectories" / "swe-agent-traj" / version).glob("*.traj"))
        for step in json.loads(path.read_bytes())["trajectory"]
    ]
    acting = [step for step in steps if "```" in step["response"]]
    assert len(acting) > 8 or version != "official-0.x"
    for step in acting:
        (action,) = text_actions(step["response"])
        assert action.arguments["command"].strip() == step["action"].strip()


def test_mini_swe_agent_acts_by_its_one_block(shared_data: Path) -> None:
    replies = [
        message
        for path in sorted((shared_data / "trajectories" / "mini-swe-agent-v1").rglob("*.json"))
        for message in json.loads(path.read_bytes())["messages"]
    ]
    results = [
        reply["content"]
        for reply in replies
        if reply["role"] == "user" and "<returncode>" in reply["content"][:20]
    ]
    acting = [
        reply["content"]
        for reply in replies
        if reply["role"] == "assistant" and "```bash" in reply["content"]
    ]
    assert len(acting) > 50
    for content in acting:
        blocks = re.findall(r"```bash\s*\n(.*?)\n```", content, re.DOTALL)  # as it finds them itself
        actions = [action.arguments["command"] for action in text_actions(content)]
        assert actions == (blocks if len(blocks) == 1 else [])
    assert len(results) > 50
    for result in results:
        seen = read_observation(result)
        assert seen.code is not None
        assert "<returncode>" not in seen.output
