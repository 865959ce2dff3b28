from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from fourhands.model.errors import InputError
from fourhands.trajectories.mini_swe_agent import read_mini_swe_agent


def _write(path: Path, form: str, *messages: dict[str, object]) -> Path:
    info = {"config": {"model": {"model_name": "m"}}, "submission": "diff"}
    path.write_bytes(orjson.dumps({"trajectory_format": form, "info": info, "messages": messages}))
    return path


def test_version_1_ran_replies_with_exactly_one_block(tmp_path: Path) -> None:
    one, two = "look\n```bash\nls\n```", "a\n```bash\nls\n```\nb\n```bash\npwd\n```"
    submit = "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff\n```"
    messages = [{"role": "assistant", "content": text} for text in (one, two, "none", submit)]
    recording = read_mini_swe_agent(_write(tmp_path / "t.json", "mini-swe-agent-1", *messages))
    assert [step.commands for step in recording.steps][:3] == [("ls",), (), ()]
    assert [step.submits for step in recording.steps] == [False, False, False, True]
    assert recording.steps[0].thought == "look"
    assert (recording.model, recording.submission) == ("m", "diff")


def test_version_2_has_tool_calls(tmp_path: Path) -> None:
    calls = [{"function": {"arguments": orjson.dumps({"command": c}).decode()}} for c in ("ls", "pwd")]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    recording = read_mini_swe_agent(_write(tmp_path / "t.json", "mini-swe-agent-1.1", message))
    assert recording.steps[0].commands == ("ls", "pwd")


@pytest.mark.parametrize("text", ["{", "[]", '{"trajectory_format": "other"}'])
def test_anything_else_is_named_with_its_file(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"t\.json"):
        read_mini_swe_agent(path)


def test_every_real_recording_is_read(shared_data: Path) -> None:
    paths = [
        *shared_data.glob("trajectories/mini-swe-agent-v1/*/*.json"),
        *shared_data.glob("trajectories/mini-swe-agent-v2/deepseek-chat/*.json"),
    ]
    assert len(paths) == 9
    for path in paths:
        recording = read_mini_swe_agent(path)
        assert recording.steps[-1].submits, path
        assert recording.submission.startswith("diff --git"), path
