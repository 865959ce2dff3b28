"""`fourhands ablate` as a user types it: the blind keeper, in a real trial."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOURHANDS = Path(sys.executable).with_name("fourhands")


def fourhands(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "120"}
    return subprocess.run(
        [FOURHANDS, *arguments], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_blind_keeper_fails_because_of_the_users_edit_and_the_second_time_nothing_runs(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    arguments = ("--model", "scripted/keeps", "--condition", "vanilla,counter-edit", "--out", run)
    ran = fourhands("run", "--tasks", "ledger-rounding", *arguments)
    assert ran.returncode == 0, ran.stderr
    done = fourhands("ablate", run, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    (row,) = document["rows"]
    assert (row["condition"], row["failed_touched"]) == ("counter-edit", 1)
    assert (row["edit_caused"], row["by_removal"]) == (1, 1)
    (trial,) = document["trials"]
    (file,) = run.glob(f"trials/{trial['trial']}/attempt-*/ablation.json")
    assert json.loads(file.read_bytes())["conclusion"] == "edit_caused"
    assert sum(trial["user_lines"].values()) > 0
    again = fourhands("ablate", run)
    assert "edit_caused by removal, cached" in again.stderr
    assert "taking the edit out solves it" in again.stdout
    assert "without edit: resolved" in again.stdout
    assert "type: retained conflict (by execution): without the user's edit" in again.stdout
    assert (trial["failure_type"], trial["failure_type_by"]) == ("retained conflict", "execution")


def test_a_folder_that_is_no_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", tmp_path):
        done = fourhands("ablate", folder)
        assert done.returncode == 2
        assert "plan.json" in done.stderr
    assert not list(tmp_path.iterdir())


def test_its_help_has_an_example() -> None:
    assert "Example: fourhands ablate" in fourhands("ablate", "--help").stdout
