"""OpenCode: the real program in a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.engine.agents.opencode import OpenCode
from fourhands.engine.agents.registry import AGENTS
from fourhands.model.usage import Usage

from .npm_agent_scene import (
    DELEGATED,
    FILE,
    INSTRUCTION,
    ORIGINAL,
    PER_REPLY,
    TOKEN,
    Scene,
    Trial,
    scene_of,
)

pytestmark = pytest.mark.slow


async def test_it_acts_asks_and_is_counted(tmp_path: Path) -> None:
    async with scene_of(OpenCode, tmp_path) as scene:
        done = await scene.run(
            [("read", {"filePath": FILE}), ("bash", {"command": "echo $OF_THE_TASK"})],
            [("user_ask_the_user", {"question": "Which way?"})],
            "Done.",
            trial=Trial(asking=True, reasoning_effort="high", seen_model="some/model"),
        )
        assert done.return_code == 0, scene.kept()
    first, second, third = scene.asked  # and none for a title
    assert {"bash", "read", "edit", "write", "task", "user_ask_the_user"} < set(first.tools)
    assert (first.body["model"], first.body["reasoning_effort"]) == ("some/model", "high")
    assert first.texts[-1] == INSTRUCTION
    read, ran = second.texts[-2:]
    assert "2:     return a + b" in read
    assert ran == "its own\n"
    assert scene.questions == ["Which way?"]
    assert third.texts[-1] == "Round half up."
    assert scene.agent.reported_usage() == PER_REPLY + PER_REPLY + PER_REPLY
    assert scene.elsewhere == []
    assert TOKEN.encode() not in scene.kept()


async def test_a_sub_agent_has_a_thread_of_its_own_and_is_counted(tmp_path: Path) -> None:
    async with scene_of(OpenCode, tmp_path) as scene:
        task = {"description": "Look", "prompt": DELEGATED, "subagent_type": "general"}
        done = await scene.run(
            [("task", task)],
            "Done.",
            delegated=[[("bash", {"command": "wc -l calc.py"})], "There is none."],
        )
        assert done.return_code == 0, scene.kept()
    traits = AGENTS["opencode"].traits
    assert traits.sub_agent_header
    threads = [tuple(asked.headers.get(name) for name in traits.thread_headers) for asked in scene.asked]
    main, sub = threads[:2]
    assert threads == [main, sub, sub, main]
    assert main != sub
    assert [traits.sub_agent_header in asked.headers for asked in scene.asked] == [False, True, True, False]
    assert "There is none." in scene.asked[-1].texts[-1]
    assert scene.agent.reported_usage() == sum([PER_REPLY] * 4, Usage())


async def test_a_changed_file_is_edited_without_a_word(tmp_path: Path) -> None:
    async def before(number: int, scene: Scene) -> None:
        if number == 2:
            await scene.write(FILE, f"# by the user\n{ORIGINAL}")

    async with scene_of(OpenCode, tmp_path) as scene:
        edit = {"filePath": FILE, "oldString": "a - b", "newString": "b - a"}
        done = await scene.run([("read", {"filePath": FILE})], [("edit", edit)], "Done.", before=before)
        assert done.return_code == 0, scene.kept()
        assert await scene.inside(f"cat {FILE}") == f"# by the user\n{ORIGINAL}".replace("a - b", "b - a")
    assert scene.asked[-1].texts[-1] == "Edit applied successfully."
    assert "user_ask_the_user" not in scene.asked[0].tools
    assert "reasoning_effort" not in scene.asked[0].body


async def test_a_model_that_says_no_is_no_end_of_its_own(tmp_path: Path) -> None:
    async with scene_of(OpenCode, tmp_path) as scene:
        done = await scene.run([("bash", {"command": "true"})], 400)
    assert done.return_code != 0
    assert len(scene.asked) == 2
