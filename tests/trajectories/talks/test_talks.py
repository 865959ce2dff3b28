"""What was said in a session is read out of any log: a person's turns and the agent's words, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fourhands.model.errors import InputError
from fourhands.trajectories.talks.registry import read_talk


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def said(path: Path) -> list[tuple[str, str]]:
    return [(each.who, each.text) for each in read_talk(path).said]


def claude(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "sessionId": "s",
        "message": {"role": kind, "content": content},
        "uuid": "u",
        **more,
    }


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_claude_code_is_told_without_results_sub_agents_and_what_its_program_puts_in(tmp_path: Path) -> None:
    called = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    model = {"role": "assistant", "content": [text("I look."), called], "model": "claude-x"}
    path = lines(
        tmp_path / "a.jsonl",
        claude("user", "Fix it.<system-reminder>secret\nrules</system-reminder>"),
        claude("user", "the program's own", isMeta=True),
        claude("user", "<command-name>/clear</command-name>"),
        claude("assistant", [{"type": "thinking", "thinking": "hm"}, text("\n\n")]),
        {**claude("assistant", []), "message": model},
        claude("user", [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}]),
        claude("assistant", [text("to itself")], isSidechain=True),
        claude("user", [text("[Request interrupted by user for tool use]")]),
        claude("user", [text("No, the other one.")]),
    )
    assert said(path) == [("user", "Fix it."), ("agent", "I look."), ("user", "No, the other one.")]
    talk = read_talk(path)
    assert (talk.format, talk.agent, talk.model, talk.problems) == (
        "claude-code",
        "claude-code",
        "claude-x",
        (),
    )


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}


def item(role: str, words: str) -> dict[str, Any]:
    return codex("response_item", type="message", role=role, content=[{"type": "input_text", "text": words}])


def test_codex_is_told_by_what_was_typed_or_else_by_the_models_items(tmp_path: Path) -> None:
    around = item("user", "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>")
    typed = (
        codex("event_msg", type="user_message", message="Fix it."),
        codex("event_msg", type="agent_message", message="Done."),
    )
    items = (around, item("user", "Fix it."), item("assistant", "Done."))
    told = [("user", "Fix it."), ("agent", "Done.")]
    assert said(lines(tmp_path / "both.jsonl", *items, *typed)) == told
    assert said(lines(tmp_path / "items.jsonl", *items)) == told
    assert said(lines(tmp_path / "typed.jsonl", items[1], typed[0], items[2])) == told


def test_opencodes_export_is_told_without_what_it_made_up(tmp_path: Path) -> None:
    def message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
        return {"info": {"role": role, "modelID": "big"}, "parts": list(parts)}

    path = tmp_path / "o.json"
    made_up = {**text("a file's text"), "synthetic": True}
    messages = [
        message("user", text("Fix it."), made_up),
        message("assistant", {"type": "tool", "tool": "edit"}, text("Done.")),
    ]
    path.write_text(json.dumps({"info": {"id": "s"}, "messages": messages}))
    assert said(path) == [("user", "Fix it."), ("agent", "Done.")]
    assert read_talk(path).model == "big"


def test_an_agent_that_nobody_talks_with_is_told_by_its_instruction_and_its_words(tmp_path: Path) -> None:
    path = tmp_path / "m.traj.json"
    messages = [
        {"role": "system", "content": "You are."},
        {"role": "user", "content": "Fix it."},
        {"role": "assistant", "content": "I look.\n```bash\nls\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"},
        {"role": "assistant", "content": "I end.\n```bash\ntrue\n```"},
    ]
    document = {"trajectory_format": "mini-swe-agent-1", "info": {"exit_status": "Submitted"}}
    path.write_text(json.dumps({**document, "messages": messages}))
    assert said(path) == [("user", "Fix it."), ("agent", "I look."), ("agent", "I end.")]
    assert "at first" in read_talk(path).problems[0]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.jsonl", "", "an empty file"),
        ("notes.txt", "Dear diary", "in no known format"),
        ("a.diff", "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n", "nothing is said"),
    ],
)
def test_what_is_no_log_of_a_session_is_refused_by_name(
    tmp_path: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=words) as refused:
        read_talk(tmp_path / name)
    assert name in str(refused.value)
    with pytest.raises(InputError, match="no such file"):
        read_talk(tmp_path / "nowhere")


def test_a_session_in_which_nothing_is_said_is_refused(tmp_path: Path) -> None:
    path = lines(tmp_path / "s.jsonl", claude("user", "<command-name>/clear</command-name>"))
    with pytest.raises(InputError, match="nothing is said"):
        read_talk(path)


def test_a_log_that_breaks_off_is_told_as_far_as_it_goes(tmp_path: Path) -> None:
    path = lines(tmp_path / "s.jsonl", claude("user", "Fix it."))
    path.write_bytes(path.read_bytes() + b'{"type":"assistant","mess')
    talk = read_talk(path)
    assert [each.text for each in talk.said] == ["Fix it."]
    assert talk.problems == ("s.jsonl:2: the last line breaks off",)


def test_real_logs_begin_with_what_a_person_said(shared_data: Path) -> None:
    logs = shared_data / "trajectories"
    first = {
        "claude-code/simonw/sample_session.jsonl": "Create a hello world function",
        "claude-code/spotter/short.jsonl": "mix phx.server doesnt seem to start",
        "codex/codex-session-view/rollout-trimmed.jsonl": "finish up the users work",
        "harbor-atif/trajectory_pass.json": "You are a software engineer.",
        "openhands-events/basic.json": "Please create a simple 2048 game.",
        "swe-agent-traj/official-1.x-demo/marshmallow-code__marshmallow-1867.traj": "We're currently solving",
        "vorflux/opus46-gpt55/django__django-11133.json": "Fix this GitHub issue.",
    }
    for name, words in first.items():
        talk = read_talk(logs / name)
        assert talk.said[0].who == "user", name
        assert talk.said[0].text.startswith(words), name
