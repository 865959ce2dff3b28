"""Claude Code and Codex: what of a trial's settings reaches the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.engine.agents.registry import AGENTS
from fourhands.gateway.playbook import Move
from fourhands.gateway.players import RecordedPlayer

from .agent_trials import play

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("agent", "place"), [("claude-code", "output_config"), ("codex", "reasoning")])
def test_the_effort_that_is_asked_for_reaches_the_model(agent: str, place: str, tmp_path: Path) -> None:
    hardest = AGENTS[agent].efforts[-1]
    at_once = RecordedPlayer((Move(thought="I am done.", submit=True),))
    (played,) = play(tmp_path, agent, at_once, "--reasoning-effort", hardest)
    assert [seen.body[place]["effort"] for seen in played.seen] == [hardest]
