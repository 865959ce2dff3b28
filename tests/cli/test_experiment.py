"""Experiments: read from YAML and options, refused with the remedy, and printed back in full."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from fourhands.cli.experiment import Experiment, as_yaml, load_experiment
from fourhands.cli.session import prepare_run, start
from fourhands.model.errors import InputError
from fourhands.presets import preset, presets
from fourhands.tasks.find import bundled_tasks
from fourhands.trajectories.run_folder import RunFolder

FOURHANDS = Path(sys.executable).with_name("fourhands")
SWEEP = """\
tasks: ledger-rounding
model: [scripted/keeps, "scripted/stochastic[p=0.8,seed=7]"]
condition:
  - vanilla
  - {name: counter-edit, k: [1, 3, 5], trigger: [record, progress]}
  - edit-only[k=1]
progress_steps: {ledger-rounding: 12}
repeats: 2
"""


def _written(folder: Path, text: str) -> Path:
    path = folder / "experiment.yaml"
    path.write_text(text)
    return path


def test_a_list_of_a_parameter_is_a_sweep(tmp_path: Path) -> None:
    experiment = load_experiment(_written(tmp_path, SWEEP), {})
    assert experiment.tasks == ("ledger-rounding",)
    assert experiment.condition == (
        "vanilla",
        "counter-edit[k=1]",
        "counter-edit[k=1,trigger=progress]",
        "counter-edit",
        "counter-edit[trigger=progress]",
        "counter-edit[k=5]",
        "counter-edit[k=5,trigger=progress]",
        "edit-only[k=1]",
    )


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    given = {"repeats": 5, "condition": ["vanilla"], "out": Path("runs/x")}
    experiment = load_experiment(_written(tmp_path, SWEEP), given)
    assert (experiment.repeats, experiment.condition) == (5, ("vanilla",))


_SHOWN = {"vanilla": set(), "single-turn": set(), "interactive": {"simulator", "persona", "coverage"}}


@pytest.mark.parametrize("text", [SWEEP, "tasks: [a, b]\n", *map(preset, presets())])
def test_it_is_printed_back_in_full_and_reads_back_the_same(tmp_path: Path, text: str) -> None:
    experiment = load_experiment(_written(tmp_path, text), {})
    printed = as_yaml(experiment)
    assert load_experiment(_written(tmp_path, printed), {}) == experiment
    keys = {field.alias or name for name, field in Experiment.model_fields.items()}
    assert set(yaml.safe_load(printed)) == keys
    for condition in yaml.safe_load(printed)["condition"]:
        assert _SHOWN.get(condition["name"], {"trigger", "moment"}) <= set(condition)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tasks: a\nrepeat: 3\n", r"experiment\.yaml: unknown key 'repeat': did you mean 'repeats'\?"),
        ("tasks: a\nzzz: 3\n", r"unknown key 'zzz': there are schema, tasks, agent"),
        ("tasks: a\nrepeats: 0\n", r"experiment\.yaml: repeats: .*greater than or equal to 1"),
        ("repeats: 1\n", r"no tasks: say which with the key `tasks`, or with --tasks"),
        ("tasks: a\ncondition: [nothing]\n", r"condition: unknown condition 'nothing': choose from vanilla"),
        ("tasks: a\ncondition: [{k: 3}]\n", r"condition: .* is no condition: write a label"),
        ("tasks: a\ncondition: [{name: counter-edit, kk: 3}]\n", r"unknown parameter 'kk'"),
        ("tasks: a\nschema: 2\n", r"schema: Input should be 1"),
        ("- a\n", r"experiment\.yaml: an experiment is a mapping"),
        ("tasks: [a\n", r"experiment\.yaml is not YAML: .*line"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_key(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError, match=f"(?s){says}"):
        load_experiment(_written(tmp_path, text), {})


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml: there is no such file"):
        load_experiment(tmp_path / "nowhere.yaml", {})


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100"}
    return subprocess.run(
        [FOURHANDS, *arguments], env=environment, capture_output=True, text=True, check=False
    )


def test_a_dry_run_prints_the_experiment_and_its_trials_and_leaves_nothing(tmp_path: Path) -> None:
    done = _run(
        "run", _written(tmp_path, SWEEP), "--model", "scripted/keeps", "--dry-run", "--out", tmp_path / "run"
    )
    assert done.returncode == 0, done.stderr
    assert "# counter-edit[k=5,trigger=progress]: 2 trials" in done.stdout
    assert "# 16 trials in all; nothing was run." in done.stdout
    kept = _written(tmp_path, done.stdout)  # what is printed is a file to run
    assert load_experiment(kept, {}).model == ("scripted/keeps",)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--condition", "counter-edit[message=live]"], "give --user-model and --user-base-url"),
        (["--env", "dockr"], "unknown environment 'dockr': choose from local, docker"),
        (["--condition", "counter-edit[trigger=record,k=0]"], "it must be a whole number, 1 or more"),
        (["--agent", "nobody"], "unknown agent 'nobody': choose from "),
        (
            ["--agent", "thin", "--reasoning-effort", "high"],
            "reasoning_effort 'high': thin does not take it: it takes none; leave it out",
        ),
        (
            ["--agent", "claude-code", "--reasoning-effort", "heavy"],
            "reasoning_effort 'heavy': claude-code does not take it: choose from low, ",
        ),
    ],
)
def test_what_cannot_be_run_is_said_before_anything_is_written(
    tmp_path: Path, arguments: list[str], says: str
) -> None:
    done = _run("run", "--tasks", "ledger-rounding", "--out", tmp_path / "run", *arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("paper", "told", "tasks"),
    [
        ("swe-touch", ("T2", "T3", "T4", "T5", "T10", "F3", "F4", "F5", "T7"), 21),
        ("swe-interact", ("T1", "A.1", "F3", "F4a", "F4b", "F5", "F6", "A.2"), 8),
    ],
)
def test_a_papers_experiment_comes_with_what_differs_from_it(
    paper: str, told: Sequence[str], tasks: int, tmp_path: Path
) -> None:
    done = _run("reproduce", paper)
    assert done.returncode == 0
    assert "What differs from the paper" in done.stdout
    for row in told:
        assert row in done.stdout
    asked = load_experiment(_written(tmp_path, done.stdout), {})
    assert len(asked.tasks) == len(set(asked.tasks)) == tasks


def test_of_a_paper_that_is_not_there_those_that_are_are_named() -> None:
    unknown = _run("reproduce", "swe-talk")
    assert unknown.returncode == 2
    assert "choose from swe-interact, swe-touch" in unknown.stderr


def test_what_a_run_was_asked_for_holds_when_it_is_gone_on_with(tmp_path: Path) -> None:
    asked = load_experiment(
        _written(tmp_path, "tasks: ledger-rounding\nmodel: scripted/keeps\nagent: thin\n"), {}
    )
    folder = RunFolder(tmp_path / "run")
    prepare_run(folder, asked.model_copy(update={"ablate": True}))
    looked = _run("run", "--out", folder.path, "--dry-run")
    assert looked.returncode == 0, looked.stderr
    assert "ablate: true" in looked.stdout
    assert not (folder.path / "trials").exists()  # a dry run runs nothing, here too
    done = _run("run", "--out", folder.path)
    assert done.returncode == 0, done.stderr
    assert "edit_caused by removal" in done.stderr
    assert "| 1+0 of 1 |" in (folder.path / "report.md").read_text()


def test_the_start_says_what_cannot_be_run_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "ledger-rounding"
    shutil.copytree(bundled_tasks()["ledger-rounding"], bare, ignore=shutil.ignore_patterns("user"))
    text = f"tasks: {bare}\nagent: thin\nmodel: scripted/keeps\ncondition: co-edit\nout: {tmp_path / 'run'}\n"
    with pytest.raises(typer.Exit) as ended:
        start(load_experiment(_written(tmp_path, text), {}))
    assert ended.value.exit_code == 1  # nothing could run
    told = "not applicable: ledger-rounding under co-edit: the task has no record of edits\n"
    assert told in capsys.readouterr().err


def test_asking_is_planned_for_every_trial_of_the_run(tmp_path: Path) -> None:
    asked = load_experiment(_written(tmp_path, "tasks: ledger-rounding\nagent: thin\nasking: true\n"), {})
    assert prepare_run(RunFolder(tmp_path / "run"), asked).settings.asking
    silent = load_experiment(_written(tmp_path, "tasks: ledger-rounding\nagent: thin\n"), {})
    assert not silent.settings.asking
    with pytest.raises(InputError, match="holds a run with another plan"):
        prepare_run(RunFolder(tmp_path / "run"), silent)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (" sign = -1 if", " sigh = -1 if", "counter-edit-1: the edit's patch does not apply to the base"),
        (
            '"path": "src/tally/allocation.py"',
            '"path": "src/nope.py"',
            "regions are not in the base: src/nope.py",
        ),
    ],
)
def test_a_record_that_does_not_fit_its_task_is_refused_before_anything_runs(
    tmp_path: Path, before: str, after: str, says: str
) -> None:
    task = tmp_path / "mytask"
    shutil.copytree(bundled_tasks()["ledger-rounding"], task)
    record = task / "user" / "record.json"
    text = json.dumps(json.loads(record.read_text()))
    assert before in text
    record.write_text(text.replace(before, after))
    done = _run("run", "--tasks", task, "--model", "scripted/keeps", "--out", tmp_path / "run")
    assert done.returncode == 2, done.stdout
    assert says in done.stderr
    assert "record.json" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_file_is_no_place_for_a_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = _run("run", "--tasks", "ledger-rounding", "--model", "scripted/keeps", "--out", tmp_path / "file")
    assert done.returncode == 2
    assert "is a file, or lies below one" in done.stderr


def talking(**values: Any) -> tuple[str, ...]:
    given = {"tasks": ["a"], "user_base_url": "http://127.0.0.1:1/v1", **values}
    return load_experiment(None, given).condition


def test_conditions_that_talk_are_crossed_with_who_plays_the_user_and_others_are_not() -> None:
    assert talking(
        condition=["single-turn", "interactive", "four-hands[k=1]"],
        simulator=["grounded", "m1"],
        persona=["neutral"],
    ) == (
        "single-turn",
        "interactive[persona=neutral]",
        "interactive[simulator=m1,persona=neutral]",
        "four-hands[k=1,persona=neutral]",
        "four-hands[k=1,simulator=m1,persona=neutral]",
    )


@pytest.mark.parametrize(
    "own", ["interactive[persona=nitpicker]", {"name": "interactive", "persona": "nitpicker"}]
)
def test_a_condition_keeps_what_it_says_itself_also_where_that_is_the_default(own: Any) -> None:
    assert talking(condition=[own], persona=["neutral"], coverage="at-will") == (
        "interactive[coverage=at-will]",
    )


def test_all_by_prompt_is_not_crossed_with_a_user_that_has_no_model() -> None:
    assert talking(
        condition=["interactive"], simulator=["grounded", "m1"], disclosure=["ledger", "prompt"]
    ) == (
        "interactive",
        "interactive[simulator=m1]",
        "interactive[simulator=m1,disclosure=prompt]",
    )


def test_an_experiment_with_crossed_conditions_reads_back_as_the_same(tmp_path: Path) -> None:
    given = {"tasks": ["a"], "condition": ["interactive"], "persona": ["vague", "neutral"], "coverage": None}
    experiment = load_experiment(None, given)
    path = tmp_path / "experiment.yaml"
    path.write_text(as_yaml(experiment))
    assert load_experiment(path, {}) == experiment


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"condition": ["vanilla"], "persona": ["neutral"]}, "add interactive or four-hands"),
        ({"condition": ["interactive"], "persona": []}, "persona: say which"),
        ({"condition": ["interactive"], "disclosure": ["prompt"]}, "simulator=MODEL"),
        ({"condition": ["interactive"], "simulator": ["m[1]"]}, "has no '['"),
        ({"condition": [{"name": "interactive", "persona": "x,coverage=at-will"}]}, "has no ','"),
        (
            {"condition": ["interactive"], "simulator": ["m1"], "user_base_url": None},
            "simulator=m1: say where the user's models are reached, with --user-base-url",
        ),
    ],
)
def test_what_does_not_go_together_is_said(values: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        talking(**values)
