"""Qwen Code: the real program in a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.engine.agents.qwen_code import QwenCode
from fourhands.engine.agents.registry import AGENTS
from fourhands.model.usage import Usage

from .npm_agent_scene import (
    DELEGATED,
    FILE,
    INSTRUCTION,
    ORIGINAL,
    PER_REPLY,
    TOKEN,
    Reply,
    Scene,
    Trial,
    scene_of,
)

pytestmark = pytest.mark.slow

READ: Reply = [("read_file", {"file_path": FILE})]
EDIT: Reply = [("edit", {"file_path": FILE, "old_string": "a - b", "new_string": "b - a"})]


async def test_it_acts_asks_and_is_counted(tmp_path: Path) -> None:
    async with scene_of(QwenCode, tmp_path) as scene:
        done = await scene.run(
            [
                ("read_file", {"file_path": FILE}),
                ("run_shell_command", {"command": "echo $OF_THE_TASK; sleep 0.2"}),
            ],
            [("mcp__user__ask_the_user", {"question": "Which way?"})],
            "Done.",
            trial=Trial(asking=True, reasoning_effort="high"),
        )
        assert done.return_code == 0, scene.kept()
    first, second, third = scene.asked
    assert {
        "run_shell_command",
        "read_file",
        "edit",
        "write_file",
        "agent",
        "mcp__user__ask_the_user",
    } < set(first.tools)
    assert first.body["reasoning"] == {"effort": "high"}
    assert first.texts[-1].endswith(INSTRUCTION)
    read, ran = second.texts[-2:]
    assert read == ORIGINAL
    assert "Output: its own\n" in ran
    assert scene.questions == ["Which way?"]
    assert third.texts[-1] == "Round half up."
    assert scene.agent.reported_usage() == PER_REPLY + PER_REPLY + PER_REPLY
    assert scene.elsewhere == []
    assert TOKEN.encode() not in scene.kept()


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_changed_file_must_be_read_again(tmp_path: Path, *, replaced: bool) -> None:
    async def before(number: int, scene: Scene) -> None:
        if number == 2:
            place = f"{FILE}.new" if replaced else FILE
            await scene.write(place, f"# by the user\n{ORIGINAL}")
            if replaced:
                await scene.inside(f"mv {place} {FILE}")

    async with scene_of(QwenCode, tmp_path) as scene:
        done = await scene.run(READ, EDIT, READ, EDIT, "Done.", before=before)
        assert done.return_code == 0, scene.kept()
        assert await scene.inside(f"cat {FILE}") == f"# by the user\n{ORIGINAL}".replace("a - b", "b - a")
    announced = [
        any(words in asked.texts[-1] for words in AGENTS["qwen-code"].traits.announcements)
        for asked in scene.asked
    ]
    assert announced == [False, False, True, False, False]
    assert "mcp__user__ask_the_user" not in scene.asked[0].tools
    assert "reasoning" not in scene.asked[0].body


async def test_a_sub_agent_works_in_the_background_and_is_counted(tmp_path: Path) -> None:
    async with scene_of(QwenCode, tmp_path) as scene:
        done = await scene.run(
            [("agent", {"description": "Look", "prompt": DELEGATED})],
            "I wait for it.",
            "Done.",
            delegated=[[("run_shell_command", {"command": "wc -l calc.py; sleep 0.2"})], "There is none."],
        )
        assert done.return_code == 0, scene.kept()
    assert len(scene.asked) == 5
    told = scene.asked[-1].texts[-1]
    assert told.startswith("<task-notification>")
    assert "<result>There is none.</result>" in told
    assert scene.agent.reported_usage() == sum([PER_REPLY] * 5, Usage())


async def test_a_model_that_says_no_is_no_end_of_its_own(tmp_path: Path) -> None:
    async with scene_of(QwenCode, tmp_path) as scene:
        done = await scene.run([("run_shell_command", {"command": "true"})], 400)
    assert done.return_code != 0
    assert len(scene.asked) == 2
