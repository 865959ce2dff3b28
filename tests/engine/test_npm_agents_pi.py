"""pi: the real program in a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.engine.agents.pi import Pi

from .npm_agent_scene import FILE, INSTRUCTION, ORIGINAL, PER_REPLY, TOKEN, Scene, Trial, scene_of

pytestmark = pytest.mark.slow


async def test_it_acts_asks_and_is_counted(tmp_path: Path) -> None:
    async with scene_of(Pi, tmp_path) as scene:
        done = await scene.run(
            [("read", {"path": FILE}), ("bash", {"command": "echo $OF_THE_TASK; false"})],
            [("mcp__user__ask_the_user", {"question": "Which way?"})],
            "Done.",
            trial=Trial(asking=True, reasoning_effort="xhigh"),
        )
        assert done.return_code == 0, scene.kept()
    first, second, third = scene.asked
    assert first.tools[:5] == ["read", "bash", "edit", "write", "mcp__user__ask_the_user"]
    assert first.body["reasoning_effort"] == "xhigh"
    assert first.texts[-1] == INSTRUCTION
    read, ran = second.texts[-2:]
    assert read == ORIGINAL
    assert ran.startswith("its own\n")
    assert scene.questions == ["Which way?"]
    assert third.texts[-1] == "Round half up."
    assert scene.agent.reported_usage() == PER_REPLY + PER_REPLY + PER_REPLY
    assert scene.elsewhere == []
    assert TOKEN.encode() not in scene.kept()


async def test_a_changed_file_is_edited_without_a_word(tmp_path: Path) -> None:
    async def before(number: int, scene: Scene) -> None:
        if number == 2:
            await scene.write(FILE, f"# by the user\n{ORIGINAL}")

    async with scene_of(Pi, tmp_path) as scene:
        edit = {"path": FILE, "edits": [{"oldText": "a - b", "newText": "b - a"}]}
        done = await scene.run([("read", {"path": FILE})], [("edit", edit)], "Done.", before=before)
        assert done.return_code == 0, scene.kept()
        assert await scene.inside(f"cat {FILE}") == f"# by the user\n{ORIGINAL}".replace("a - b", "b - a")
    assert scene.asked[-1].texts[-1] == f"Successfully replaced 1 block(s) in {FILE}."
    assert "mcp__user__ask_the_user" not in scene.asked[0].tools
    assert "reasoning_effort" not in scene.asked[0].body


async def test_a_model_that_says_no_is_no_end_of_its_own(tmp_path: Path) -> None:
    async with scene_of(Pi, tmp_path) as scene:
        done = await scene.run([("bash", {"command": "true"})], 400)
    assert done.return_code != 0
    assert len(scene.asked) == 2
    assert scene.agent.reported_usage() == PER_REPLY
