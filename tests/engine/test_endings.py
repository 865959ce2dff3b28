"""How trials end: the second axis of an outcome, with the real agent on copies of a bundled task."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fourhands.cli.experiment import Experiment
from fourhands.cli.session import prepare_run
from fourhands.model.event import EventKind
from fourhands.tasks.find import bundled_tasks
from fourhands.trajectories.run_folder import Attempt, RunFolder

pytestmark = pytest.mark.slow


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """A copy of a bundled task that a test may spoil."""
    return shutil.copytree(bundled_tasks()["ledger-rounding"], tmp_path / "ledger-rounding")


def _run(task: Path, condition: str) -> tuple[int, Attempt]:
    arguments = ["--tasks", task, "--model", "scripted/keeps", "--condition", condition]
    return _go_on(RunFolder(task.parent / "run"), *arguments)


def _go_on(folder: RunFolder, *arguments: str | Path) -> tuple[int, Attempt]:
    done = subprocess.run(
        [Path(sys.executable).with_name("fourhands"), "run", *arguments, "--out", folder.path],
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    (trial,) = folder.plan().trials
    attempt = folder.final_attempt(trial.key)
    assert attempt, done.stderr
    return done.returncode, attempt


def _ended(attempt: Attempt) -> tuple[str, str]:
    assert attempt.ended
    return attempt.ended.body["verdict"], attempt.ended.body["termination"]


def test_an_agent_out_of_time_is_stopped_and_its_state_verified(task: Path) -> None:
    config = task / "task.toml"
    config.write_text(config.read_text().replace("timeout_sec = 900", "timeout_sec = 45"))
    playbook = task / "user" / "playbook.toml"
    playbook.write_text(
        'schema = 1\n[[moves]]\nthought = "wait"\ncommand = "echo mine > new.txt; sleep 29"\n'
        + 4 * '[[moves]]\nthought = "and again"\ncommand = "sleep 29"\n'
        + '[[moves]]\nthought = "late"\ncommand = "echo late > late.txt"\n'
        + '[[moves]]\nthought = "done"\nsubmit = true\n[temperaments.keeps]\n'
    )
    code, attempt = _run(task, "vanilla")
    assert (code, _ended(attempt)) == (0, ("unresolved", "agent_timeout"))
    changed = [e.body for e in attempt.read().events if e.kind is EventKind.WORKSPACE_CHANGED]
    assert [file["path"] for body in changed for file in body["files"]] == ["new.txt"]


def test_a_set_up_of_ours_that_fails_is_invalid_and_never_a_loss(task: Path) -> None:
    """A plan whose edit went bad after it was planned: what was planned is seen to fit, so only this is left."""
    folder = RunFolder(task.parent / "run")
    prepare_run(
        folder, Experiment(tasks=(str(task),), model=("scripted/keeps",), condition=("counter-edit",))
    )
    raw = json.loads(folder.plan_path.read_text())
    for intervention in raw["users"][0]["interventions"]:
        lines = intervention["patch"].split("\n")
        lines[lines.index(next(line for line in lines if line.startswith(" ")))] = (
            " a line that the base lacks"
        )
        intervention["patch"] = "\n".join(lines)
    folder.plan_path.write_text(json.dumps(raw))
    code, attempt = _go_on(folder)
    assert (code, _ended(attempt)) == (1, ("none", "invalid"))
    notes = [e.body for e in attempt.read().events if e.kind is EventKind.NOTE]
    assert any("does not apply to the base" in note.get("reason", "") for note in notes)


def test_an_agent_that_never_gets_to_its_model_is_our_failure(task: Path) -> None:
    """A dot in a variable's name is nothing that mini-swe-agent's settings can take: it does not start."""
    config = task / "task.toml"
    text = config.read_text()
    config.write_text(text.replace("[metadata.fourhands.env]", '[metadata.fourhands.env]\n"A.B" = "1"'))
    code, attempt = _run(task, "vanilla")
    assert (code, _ended(attempt)) == (1, ("unresolved", "invalid"))  # verified all the same, and not scored


def test_a_variable_that_looks_like_a_number_reaches_the_tasks_commands(task: Path) -> None:
    config = task / "task.toml"
    text = config.read_text()
    config.write_text(
        text.replace("[metadata.fourhands.env]", '[metadata.fourhands.env]\nPYTHONHASHSEED = "0"')
    )
    (task / "user" / "playbook.toml").write_text(
        'schema = 1\n[[moves]]\nthought = "look"\ncommand = "echo seed=$PYTHONHASHSEED"\n'
        '[[moves]]\nthought = "done"\nsubmit = true\n[temperaments.keeps]\n'
    )
    _, attempt = _run(task, "vanilla")
    outputs = [e.body["output"] for e in attempt.read().events if e.kind is EventKind.ACTION_RESULT]
    assert attempt.blobs.get(outputs[0]) == b"seed=0\n"
