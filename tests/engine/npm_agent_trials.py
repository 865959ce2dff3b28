"""A whole trial of an agent from npm, through the command line."""

from __future__ import annotations

from pathlib import Path

from fourhands.engine.agents.npm_agent import NpmAgent
from fourhands.model.event import EventKind
from fourhands.model.outcome import Termination

from .thin_runs import run_trials


def check_a_counter_edit_trial(agent: type[NpmAgent], folder: Path) -> None:
    """The user edits and speaks, the agent ends its work, and both sides count the same tokens."""
    run = run_trials(
        folder,
        ["ledger-rounding"],
        *("--model", "scripted/keeps", "--condition", "counter-edit"),
        agent=agent.name(),
    )
    (trial,) = run.plan().trials
    attempt = run.final_attempt(trial.key)
    assert attempt
    events = attempt.read().events
    ended = events[-1].body
    assert (ended["termination"], ended["delivered"]) == (Termination.FINISHED, 1)
    assert [event.body["text"] for event in events if event.kind is EventKind.MESSAGE_SENT] != [""]
    carried = [event.body for event in events if event.kind is EventKind.MESSAGE_CARRIED]
    assert carried[-1]["last_request"] > carried[0]["first_request"]
    (logs,) = run.path.glob("jobs/*/*/agent")
    kwargs = {"run": "r", "condition": "vanilla", "repeat": 1}
    reported = agent(logs_dir=logs, model_name="m", **kwargs).reported_usage()
    assert reported is not None
    counted = ended["tokens"]
    names = ("input", "cache_read", "output", "reasoning", "total")
    assert {name: getattr(reported, name) for name in names} == {name: counted[name] for name in names}
