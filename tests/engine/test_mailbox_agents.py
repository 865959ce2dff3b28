"""Whole trials of real agents where no network leads to their model, and what becomes of a trial whose way is lost.

Nothing of the agents is changed, and nothing of the environment is known but Harbor's interface.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, Final

import pytest
from harbor.job import Job
from harbor.models.trial.config import EnvironmentConfig

from fourhands.edits.plan import plan_run
from fourhands.engine.active import ActiveRun
from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.containers import mailbox
from fourhands.engine.jobs import harbor_configs
from fourhands.engine.models import Models
from fourhands.gateway.playbook import Move, load_playbook
from fourhands.gateway.players import RecordedPlayer
from fourhands.gateway.server import Gateway
from fourhands.model.condition import Condition
from fourhands.model.event import Event, EventKind
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import load_task
from fourhands.trajectories.run_folder import RunFolder, Settings

from .agent_trials import Played, serving

pytestmark = pytest.mark.filterwarnings("ignore:Task.checksum:DeprecationWarning")  # Harbor's own

HERE = Path(__file__).parent
TASK: Final = "ledger-rounding"
FILE: Final = "src/tally/allocation.py"
QUESTION: Final = "May a share be a cent short?"
READS: Final = Move(thought="Where are the shares computed?", read=FILE)
ASKS: Final = Move(thought=QUESTION, ask=True)
EVERY_AGENT: Final = pytest.mark.skipif(
    os.environ.get("FOURHANDS_ALL_AGENTS") != "1", reason="set FOURHANDS_ALL_AGENTS=1 to try every agent"
)


def repairs() -> Move:
    """What resolves the task around the user's lines."""
    return (
        load_playbook(bundled_tasks()[TASK] / "user" / "playbook.toml")
        .temperaments["reconciles"]
        .on_message[1]
    )


async def play(
    folder: Path, monkeypatch: pytest.MonkeyPatch, environment: str, *moves: Move, agent: str = "thin"
) -> Played:
    """A trial under a user who edits and answers, in an environment of ``elsewhere``."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("OPENAI_API_KEY", "the-providers-key")
    with serving(RecordedPlayer(moves)) as server:
        plan = plan_run(
            tasks=[load_task(bundled_tasks()[TASK])],
            agents=[AgentSpec(agent, "some-model")],
            conditions=[Condition.parse("counter-edit[k=1]")],
            repeats=1,
            settings=Settings(base_url=server.base_url, asking=True),
            progress_steps={},
        )
        run = RunFolder(folder / "run")
        run.write_plan(plan)
        gateway = Gateway()
        gateway.start()
        try:
            (config,) = harbor_configs(plan, run.jobs_path, 1)
            config.environment = EnvironmentConfig(import_path=f"elsewhere:{environment}")

            def ignore(key: TrialKey, event: Event) -> None:
                del key, event

            with ActiveRun(run, plan, gateway, Models(plan).upstream, ignore, 1) as active:
                job = await Job.create(config)
                job.on_trial_ended(lambda event: _abandon(active, event))
                await job.run()
        finally:
            gateway.close()
        (trial,) = plan.trials
        attempt = run.final_attempt(trial.key)
        assert attempt
        (logs,) = run.path.glob("jobs/*/*/agent")
        key = os.environ["OPENAI_API_KEY"]
        return Played(agent, key, run, attempt, attempt.read().events, server.seen, logs)


async def _abandon(active: ActiveRun, event: Any) -> None:
    """As a run does with a trial that Harbor has not brought to its verification."""
    session = active.sessions.pop(event.result.id)
    if not session.ended:
        await session.abandon(event.result.exception_info.exception_message)


def _unbroken(text: str) -> str:
    """A terminal breaks long lines."""
    return "".join(text.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    "agent",
    [
        "claude-code",
        *(pytest.param(each, marks=EVERY_AGENT) for each in sorted(set(AGENTS) - {"claude-code", "thin"})),
    ],
)
async def test_a_real_agent_is_touched_spoken_to_answered_and_verified(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = Move(thought="The shares add up.", submit=True)
    trial = await play(tmp_path, monkeypatch, "Hosted", READS, ASKS, repairs(), end, agent=agent)
    assert (trial.ended["verdict"], trial.ended["termination"]) == ("resolved", "finished"), trial.events
    (proof,) = trial.proofs
    assert proof.edit
    assert proof.sent
    assert proof.carried
    (said,) = (body["text"] for body in trial.bodies(EventKind.MESSAGE_SENT))
    assert trial.request(proof.carried.first_request).places(said)
    assert trial.seen[-1].places(said)
    (question,), (answer,) = trial.bodies(EventKind.ASKED), trial.bodies(EventKind.ANSWERED)
    assert question["text"] == QUESTION
    own_words = answer["text"].splitlines()[-1]  # what comes before is the message once more
    assert any(_unbroken(own_words) in _unbroken(entry.text) for entry in trial.seen[-1].entries)
    assert sum(trial.ended["user_lines"].values()) > 0
    assert trial.notes("gateway_cut_off") == []


async def test_when_letters_are_lost_for_good_the_trial_ends_at_once_as_the_machines_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent would wait for its model for as long as the program inside lives without us, and try again then."""
    monkeypatch.setattr(mailbox, "_PAUSES", (0.01,))
    async with asyncio.timeout(mailbox._LEASE / 3):
        trial = await play(tmp_path, monkeypatch, "LosesLetters", READS)
    assert (trial.ended["verdict"], trial.ended["termination"]) == ("none", "infrastructure_error")
    (note,) = trial.notes("gateway_cut_off")
    assert note["by"] == "environment"
    assert "the way to the gateway is closed: " in note["reason"]
    assert "the provider does not answer" in note["reason"]
    (end,) = trial.notes("no_verdict")
    assert note["reason"] in end["reason"]


async def test_an_agent_that_kills_everything_has_cut_itself_off_which_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = await play(
        tmp_path, monkeypatch, "Hosted", READS, Move(thought="Away with it.", command="kill -9 -1")
    )
    assert (trial.ended["verdict"], trial.ended["termination"]) == ("unresolved", "protocol_failure")
    (note,) = trial.notes("gateway_cut_off")
    assert note["by"] == "agent"
    assert "closed from inside: the program that carries it was killed" in note["reason"]


@pytest.mark.parametrize(
    ("environment", "reason"),
    [
        ("WithoutPerl", "the image of ledger-rounding has no perl"),
        ("ListensItself", "the gateway's port 8123 cannot be had inside (Address already in use)"),
    ],
)
async def test_an_image_that_no_way_can_be_made_into_is_refused_before_the_agent_starts(
    environment: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = await play(tmp_path, monkeypatch, environment, READS)
    assert (trial.ended["verdict"], trial.ended["termination"]) == ("none", "invalid")
    (note,) = trial.notes("harness_failed")
    assert reason in note["reason"]
    assert trial.seen == []
