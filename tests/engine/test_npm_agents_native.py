"""Claude Code and Codex: whole trials of the real programs, touched, spoken to, asking, delegating, and counted."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from fourhands.engine.agents.claude_code import ClaudeCode
from fourhands.engine.agents.codex import Codex
from fourhands.engine.agents.npm_agent import NpmAgent
from fourhands.engine.agents.registry import AGENTS
from fourhands.model.event import Event, EventKind
from fourhands.tasks.find import bundled_tasks
from fourhands.trajectories.run_folder import RunFolder

from .thin_runs import run_trials

pytestmark = pytest.mark.slow

AGENT = pytest.mark.parametrize("agent", [ClaudeCode, Codex], ids=lambda agent: str(agent.name()))

PLAYBOOK = """
schema = 1

[[moves]]
thought = "Two looks at once."
parallel = ["python -c 'import sys; print(sys.prefix)'", "git log --oneline"]

[[moves]]
thought = "Let somebody else count the lines."
delegate = ["wc -l src/tally/*.py", "git status --short"]

[[moves]]
thought = "Now the file."
read = "src/tally/allocation.py"

[[moves]]
thought = "And what is there now."
command = "git diff"

[[moves]]
thought = "Done."
submit = true

[temperaments.keeps]
then = "continue"

[[temperaments.keeps.on_message]]
thought = "Do you want to keep it?"
ask = true
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A bundled task, played so that everything comes up that the agent has a way of its own for."""
    folder = tmp_path / "ledger-rounding"
    shutil.copytree(bundled_tasks()["ledger-rounding"], folder)
    (folder / "user" / "playbook.toml").write_text(PLAYBOOK)
    return folder


def events_of(run: RunFolder) -> Sequence[Event]:
    (trial,) = run.plan().trials
    attempt = run.final_attempt(trial.key)
    assert attempt
    return attempt.read().events


def bodies(events: Sequence[Event], kind: EventKind) -> list[dict[str, Any]]:
    return [dict(event.body) for event in events if event.kind is kind]


@AGENT
def test_a_trial_in_which_all_comes_up(agent: type[NpmAgent], task: Path, tmp_path: Path) -> None:
    options = ("--model", "scripted/keeps", "--condition", "counter-edit", "--asking")
    run = run_trials(tmp_path, [task], *options, agent=agent.name())
    events = events_of(run)
    ended = events[-1].body
    assert (ended["termination"], ended["uncounted_replies"], ended["retries"]) == ("finished", 0, 0)
    # Touched and spoken to, in the main thread; and the model has seen it in every later request.
    assert bodies(events, EventKind.EDIT_APPLIED)
    (sent,) = bodies(events, EventKind.MESSAGE_SENT)
    carried = bodies(events, EventKind.MESSAGE_CARRIED)
    assert {each["message"] for each in carried} == {sent["message"]}
    assert carried[-1]["requests"] > 1
    # It has asked, and been answered.
    assert [asked["text"] for asked in bodies(events, EventKind.ASKED)] == ["Do you want to keep it?"]
    assert len(bodies(events, EventKind.ANSWERED)) == 1
    # A sub-agent has worked in a thread of its own.
    threads = {event.thread for event in events if event.kind is EventKind.ACTION_SEEN}
    assert threads == {"main", "sub-1"}
    # What both sides count is the same.
    (logs,) = run.path.glob("jobs/*/*/agent")
    reported = agent(
        logs_dir=logs, model_name="m", skip_model_parsing=True, run="r", condition="vanilla", repeat=1
    ).reported_usage()
    assert reported is not None
    assert {name: getattr(reported, name) for name in ended["tokens"]} == ended["tokens"]
    # The commands ran in the task's environment.
    (said,) = {
        match[0]
        for path in logs.rglob("*.jsonl")
        for match in re.finditer(r"/[^\s\"\\]*/environments/[0-9a-f]+", path.read_text())
    }
    assert Path(said).is_dir()
    # The agent's own files lie outside the repository.
    assert {change["by"] for change in bodies(events, EventKind.WORKSPACE_CHANGED)} == {"user"}


def _request(run: RunFolder) -> dict[str, Any]:
    """The first request to the model, less its history and its tools."""
    (trial,) = run.plan().trials
    attempt = run.final_attempt(trial.key)
    assert attempt
    digest = bodies(attempt.read().events, EventKind.MODEL_CALLED)[0]["exchange"]
    return cast("dict[str, Any]", orjson.loads(attempt.blobs.get(digest))["request"])


@AGENT
def test_the_effort_that_is_asked_for_reaches_the_model(agent: type[NpmAgent], tmp_path: Path) -> None:
    hardest = AGENTS[agent.name()].efforts[-1]
    options = ("--model", "scripted/gives-up", "--condition", "vanilla", "--reasoning-effort", hardest)
    request = _request(run_trials(tmp_path, ["ledger-rounding"], *options, agent=agent.name()))
    said = request["output_config"] if agent is ClaudeCode else request["reasoning"]
    assert said["effort"] == hardest
