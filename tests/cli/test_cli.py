"""The command line as a user types it: real processes, the real agent, bundled tasks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

FOURHANDS = Path(sys.executable).with_name("fourhands")


def fourhands(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "100", **env}
    return subprocess.run(
        [FOURHANDS, *arguments], env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two bundled tasks, one that gives in to the user and one that works it out, under all conditions."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = fourhands(
        "run",
        *("--tasks", "ledger-rounding,config-layers", "--model", "scripted/keeps,scripted/reconciles"),
        *("--condition", "vanilla,counter-edit,co-edit", "--out", folder),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def _rows(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    done = fourhands("results", folder, "--format", "json")
    assert done.returncode == 0, done.stderr
    tables = json.loads(done.stdout)["tables"]
    delivery = {(row["model"], row["condition"]): row for row in tables["delivery"]}
    return {
        key: delivery[key] | row for row in tables["conditions"] for key in [(row["model"], row["condition"])]
    }


@pytest.mark.slow
def test_the_temperaments_end_as_their_playbooks_say(run: Path) -> None:
    rows = _rows(run)
    assert {key: row["resolved"] for key, row in rows.items() if key[1] != "counter-edit"} == {
        ("scripted/keeps", "vanilla"): 2,
        ("scripted/keeps", "co-edit"): 2,
        ("scripted/reconciles", "vanilla"): 2,
        ("scripted/reconciles", "co-edit"): 2,
    }
    assert rows["scripted/keeps", "counter-edit"]["delta"] < 0
    assert rows["scripted/reconciles", "counter-edit"]["delta"] == 0
    touched = rows["scripted/keeps", "counter-edit"]
    assert (touched["trials"], touched["scored"], touched["pairs"]) == (2, 2, 2)
    assert touched["delivered"] >= 1
    assert rows["scripted/keeps", "vanilla"]["would_have_triggered"] == 2
    assert rows["scripted/keeps", "vanilla"]["triggered"] == 0


@pytest.mark.slow
def test_a_finished_run_is_not_run_again_and_another_plan_is_refused(run: Path) -> None:
    again = fourhands("run", "--out", run)
    assert again.returncode == 0
    assert "mini-swe-agent:scripted" not in again.stderr
    ignored = fourhands("run", "--out", run, "--repeats", "5")
    assert ignored.returncode == 2
    assert "--repeats" in ignored.stderr
    other = fourhands("run", "--tasks", "ledger-rounding", "--out", run)
    assert other.returncode == 2
    assert "another plan" in other.stderr


@pytest.mark.slow
def test_show_tells_who_did_what_with_diffs(run: Path) -> None:
    (trial,) = run.glob("trials/ledger-rounding__*keeps__counter-edit__r1")
    story = fourhands("show", trial)
    assert story.returncode == 0
    for part in (
        "step 1",
        "user     “I made a change",
        "+    minors",
        "verifier unresolved",
        "unresolved × finished",
    ):
        assert part in story.stdout, part
    assert fourhands("show", run).returncode == 2
    assert trial.name in fourhands("show", run).stderr


@pytest.mark.slow
def test_the_report_is_the_table_in_markdown(run: Path) -> None:
    report = (run / "report.md").read_text()
    assert "## mini-swe-agent · scripted/keeps" in report
    assert "| counter-edit | 2 |" in report
    assert "not a model" in report


@pytest.mark.slow
def test_a_step_limit_ends_a_trial_and_its_state_is_verified(tmp_path: Path) -> None:
    done = fourhands(
        "run",
        *("--tasks", "ledger-rounding", "--model", "scripted/keeps", "--condition", "vanilla"),
        *("--step-limit", "3", "--out", tmp_path / "run"),
    )
    assert done.returncode == 0, done.stderr
    assert "unresolved (step_limit), 3 steps" in done.stdout


@pytest.mark.slow
def test_tasks_check_proves_a_bundled_task() -> None:
    done = fourhands("tasks", "check", "ledger-rounding", "--json")
    checks = {check["state"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0, done.stderr
    assert [checks[state]["found"] for state in ("base", "reference")] == ["unresolved", "resolved"]
    assert checks["Counter-Edit, then reference"]["found"] == "unresolved"
    assert all(check["holds"] for check in checks.values())


def test_help_shows_an_example_for_every_command() -> None:
    for command in (
        ["demo"],
        ["run"],
        ["show"],
        ["results"],
        ["doctor"],
        ["tasks", "list"],
        ["tasks", "check"],
    ):
        done = fourhands(*command, "--help")
        assert done.returncode == 0
        assert "Example: fourhands" in done.stdout, command


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("run", "--tasks", "nonsense", "--out", "X"), 2, "ledger-rounding"),
        (("run", "--out", "X"), 2, "--tasks"),
        (("run", "--tasks", "ledger-rounding", "--condition", "co-edits", "--out", "X"), 2, "co-edit"),
        (("run", "--tasks", "ledger-rounding", "--agent", "nobody", "--out", "X"), 2, "mini-swe-agent"),
        (("run", "--tasks", "ledger-rounding", "--model", "gpt-x", "--out", "X"), 2, "--base-url"),
        (
            ("run", "--tasks", "ledger-rounding", "--model", "scripted/sulks", "--out", "X"),
            2,
            "scripted/keeps",
        ),
        (
            ("run", "--tasks", "ledger-rounding", "--model", "recorded/none.json", "--out", "X"),
            2,
            "none.json",
        ),
        (("run", "--tasks", "ledger-rounding,ledger-rounding", "--out", "X"), 2, "stands for two"),
        (
            ("run", "--tasks", "ledger-rounding", "--condition", "co-edit[k=2]", "--out", "X"),
            2,
            "no use for k",
        ),
        (("results", "X"), 2, "there is no such folder"),
        (("show", "X"), 2, "trials/KEY"),
        (("data", "pull", "--from", "X"), 3, "verified.jsonl"),
    ],
)
def test_a_wrong_command_line_says_what_would_be_right(
    arguments: tuple[str, ...], code: int, says: str, tmp_path: Path
) -> None:
    done = fourhands(*(str(tmp_path / "x") if a == "X" else a for a in arguments))
    assert done.returncode == code, done.stderr
    assert says in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


def test_a_provider_that_cannot_be_reached_is_said_at_once(tmp_path: Path) -> None:
    arguments = ["--tasks", "ledger-rounding", "--model", "gpt-x", "--base-url", "http://127.0.0.1:9/v1"]
    done = fourhands("run", *arguments, "--api-key-env", "SOME_KEY", "--out", tmp_path / "x", SOME_KEY="k")
    assert done.returncode == 2
    assert "http://127.0.0.1:9/v1 cannot be reached" in done.stderr


@pytest.mark.slow
def test_an_interrupt_says_how_to_go_on_and_leaves_no_outcome(tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = [
        "--tasks",
        "ledger-rounding",
        "--model",
        "scripted/keeps",
        "--condition",
        "vanilla",
        "--out",
        out,
    ]
    process = subprocess.Popen(
        [FOURHANDS, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not list(out.glob("trials/*/attempt-1/blobs")):  # the agent has had its first answer
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"fourhands run --out {out}" in said.replace("\n", "")
    (events,) = out.glob("trials/*/attempt-1/events.jsonl")
    assert b"trial_ended" not in events.read_bytes()
    assert fourhands("run", "--out", out).returncode == 0
    assert list(out.glob("trials/*/attempt-2/events.jsonl"))


def test_a_live_model_without_its_key_names_the_variable(tmp_path: Path) -> None:
    arguments = ["--tasks", "ledger-rounding", "--model", "gpt-x", "--base-url", "http://127.0.0.1:9/v1"]
    done = fourhands("run", *arguments, "--api-key-env", "NO_SUCH_KEY", "--out", tmp_path / "x")
    assert done.returncode == 3
    assert "export NO_SUCH_KEY" in done.stderr


def test_doctor_finds_this_machine_fit() -> None:
    done = fourhands("doctor", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert {finding["what"] for finding in findings} >= {"Python", "git", "cache", "sandbox"}
    assert done.returncode == 0, findings


def test_tasks_are_listed_with_their_kind() -> None:
    tasks = json.loads(fourhands("tasks", "list", "--json").stdout)["tasks"]
    kinds = {task["name"]: task["kind"] for task in tasks}
    assert kinds["ledger-rounding"] == "bundled"
    assert kinds["django__django-10914"] == "real"
