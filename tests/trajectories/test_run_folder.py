from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.model.condition import Condition
from fourhands.model.errors import InputError
from fourhands.model.event import Actor, EventKind
from fourhands.model.intervention import Intervention, Trigger, TriggerEvent
from fourhands.model.text import LineRange, Region
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.trajectories.events import EventLog
from fourhands.trajectories.run_folder import Plan, PlannedIntervention, RunFolder, Settings

from .bodies import ENDED

KEY = TrialKey("task", AgentSpec("mini-swe-agent", "scripted/keeps"), Condition.parse("counter-edit[k=5]"), 2)


def _attempt(folder: RunFolder, *, ended: bool) -> None:
    attempt = folder.new_attempt(KEY)
    log = EventLog(attempt.events_path, lambda _: None)
    log.append(Actor.HARNESS, EventKind.NOTE, {"note": "a"})
    if ended:
        log.append(Actor.HARNESS, EventKind.TRIAL_ENDED, ENDED)
    log.close()


def test_the_attempt_that_counts_is_the_last_that_ended(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert folder.final_attempt(KEY) is None
    for ended in (False, True, False):
        _attempt(folder, ended=ended)
    final = folder.final_attempt(KEY)
    assert final is not None
    assert final.number == 2
    assert [attempt.number for attempt in folder.attempts(KEY)] == [1, 2, 3]


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    plan = Plan(run_id="r", settings=Settings(), tasks=(), users=(), trials=())
    folder = RunFolder(tmp_path / "run")
    folder.write_plan(plan)
    assert folder.plan() == plan
    assert b'"schema": 2' in folder.plan_path.read_bytes()


def test_a_broken_plan_names_file_and_field(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with pytest.raises(InputError, match=r"no plan\.json"):
        folder.plan()
    folder.plan_path.write_text('{"schema": 1, "run_id": "r", "tasks": [], "users": [], "trials": []}')
    with pytest.raises(InputError, match=r"plan\.json[\s\S]*settings"):
        folder.plan()


def test_an_intervention_survives_its_file() -> None:
    trigger = Trigger(TriggerEvent.READ_OR_EDIT, (Region("a.py", LineRange(3, 9)),))
    whole = Intervention("counter-edit-1", trigger, "diff é\n".encode(), "I changed it.")
    assert PlannedIntervention.of(whole).intervention() == whole


def test_two_processes_cannot_run_one_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with folder.locked(), pytest.raises(InputError, match="another process"), folder.locked():
        pass


def test_keys_that_differ_have_folders_that_differ() -> None:
    other = TrialKey(
        "task", AgentSpec("mini-swe-agent", "scripted/keeps"), Condition.parse("counter-edit"), 2
    )
    assert KEY.slug != other.slug
    assert KEY.slug == "task__mini-swe-agent-scripted-keeps__counter-edit-k=5__r2"
