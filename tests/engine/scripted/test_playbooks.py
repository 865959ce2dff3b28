"""Playbooks as tasks get them, and what they say of a model's name that is wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fourhands.edits.plan import plan_run
from fourhands.engine.models import Models
from fourhands.engine.scripted.playbooks import TEMPERAMENTS, playbook_of, reference_of
from fourhands.engine.scripted.reference import steps
from fourhands.gateway.playbook import load_playbook
from fourhands.model.condition import Condition
from fourhands.model.errors import InputError
from fourhands.model.text import LineRange, Region
from fourhands.model.touch import touches_region
from fourhands.model.trial import AgentSpec
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import Task, load_task
from fourhands.touch.shell import shell_touches
from fourhands.trajectories.run_folder import Settings

NAMES = ("calendar-monthly", "config-layers", "ledger-rounding")


def _task(name: str, tmp_path: Path, *, with_playbook: bool) -> Task:
    folder = shutil.copytree(bundled_tasks()[name], tmp_path / name)
    if not with_playbook:
        (folder / "user" / "playbook.toml").unlink()
    return load_task(folder)


@pytest.mark.parametrize("with_playbook", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_every_task_has_every_temperament(name: str, tmp_path: Path, with_playbook: bool) -> None:
    playbook = playbook_of(_task(name, tmp_path, with_playbook=with_playbook))
    assert set(TEMPERAMENTS) == set(playbook.temperaments)


@pytest.mark.parametrize("name", NAMES)
def test_a_hand_written_playbook_stays_as_it_is(name: str, tmp_path: Path) -> None:
    task = _task(name, tmp_path, with_playbook=True)
    assert task.playbook
    written, played = load_playbook(task.playbook), playbook_of(task)
    assert played.moves == written.moves
    assert {each: played.temperaments[each] for each in written.temperaments} == written.temperaments
    assert played.temperaments["asks"].on_message[1:] == written.temperaments["keeps"].on_message


@pytest.mark.parametrize("name", NAMES)
def test_a_playbook_that_was_made_reads_where_it_edits_and_edits_in_steps(name: str, tmp_path: Path) -> None:
    task = _task(name, tmp_path, with_playbook=False)
    reference = reference_of(task)
    commands = [move.command for move in playbook_of(task).moves if move.command]
    read = [touch for command in commands for touch in shell_touches(command)]
    for file in reference.files:
        for hunk in file.hunks:
            assert file.old
            region = Region(file.old, LineRange(hunk.old[0], hunk.old[0] + hunk.old[1] - 1))
            assert any(touches_region(touch, region) for touch in read)
    parts = steps(reference)
    assert len([command for command in commands if "merge-file --ours" in command]) == len(parts)
    assert not any("python" in command for command in commands)


@pytest.mark.parametrize(
    ("model", "what"),
    [
        ("scripted/sulks", "scripted/gives-up"),
        ("scripted/keeps[p=1]", "scripted/gives-up"),
        ("scripted/stochastic[p=7]", "from 0 to 1"),
        ("gpt", "scripted/overwrites"),
    ],
)
def test_a_models_name_that_is_wrong_is_told_the_right_ones(model: str, what: str, tmp_path: Path) -> None:
    plan = plan_run(
        tasks=[_task("ledger-rounding", tmp_path, with_playbook=True)],
        agents=[AgentSpec("thin", model)],
        conditions=[Condition.parse("vanilla")],
        repeats=1,
        settings=Settings(),
    )
    with pytest.raises(InputError, match=what):
        Models(plan)
