"""``fourhands compare`` on real runs: an agent that reconciles, and a version of it that lost the knack."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

FOURHANDS = Path(sys.executable).with_name("fourhands")
TASKS = "cache-inflight,version-ranges,ledger-rounding,recipe-fractions,sheet-ranges"


def fourhands(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [FOURHANDS, *arguments],
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for name in ("reconciles", "keeps"):
        done = fourhands(
            *("run", "--agent", "thin", "--tasks", TASKS, "--model", f"scripted/{name}"),
            *("--condition", "counter-edit", "--out", folder / name),
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "reconciles", folder / "keeps"


@pytest.mark.slow
def test_a_planted_regression_fails_and_names_the_tasks(runs: tuple[Path, Path], tmp_path: Path) -> None:
    done = fourhands("compare", *runs, "--junit", tmp_path / "junit.xml")
    assert done.returncode == 1
    assert "FAILED: regression" in done.stdout
    assert done.stdout.count("lost") == 5
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert root.get("failures") == "6", "the gate, and each task that was lost"


@pytest.mark.slow
def test_the_other_way_round_it_passes(runs: tuple[Path, Path]) -> None:
    done = fourhands("compare", *reversed(runs))
    assert done.returncode == 0, done.stdout
    assert "passed: regression" in done.stdout
    assert done.stdout.count("gained") == 5


@pytest.mark.slow
def test_gates_and_json_say_the_same(runs: tuple[Path, Path]) -> None:
    done = fourhands(
        "compare", *runs, "--format", "json", "--fail-if", "retention<0.9", "--fail-if", "steps_change>99"
    )
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    assert document["incomplete"] == []
    assert [gate["failed"] for gate in document["gates"]] == [True, False]
    assert [task["kind"] for task in document["tasks"]] == ["lost"] * 5
    (arm,) = document["arms"]
    assert arm["change"] == -1.0
    assert arm["p_worse"] == pytest.approx(1 / 32)


@pytest.mark.slow
def test_markdown_is_a_table_as_github_shows_it(runs: tuple[Path, Path]) -> None:
    done = fourhands("compare", *runs, "--format", "markdown")
    assert "| agent | condition |" in done.stdout
    assert "\n- FAILED: regression" in done.stdout


@pytest.mark.slow
def test_two_trials_of_a_task_stand_side_by_side_on_a_page(runs: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "story.html"
    done = fourhands("compare", *runs, "--story", "sheet-ranges", "--out", page)
    assert done.returncode == 0, done.stderr
    assert f"{page.as_uri()}#compare=" in done.stdout
    text = page.read_text()
    assert "sheet-ranges__thin-scripted-keeps" in text
    assert "<h1>sheet-ranges in reconciles and keeps</h1>" in text
    assert 'id="section-run"' in text
    assert not any(part in text for part in ('class="headline"', 'id="section-tables"', "<figure "))
    assert "vanilla was not run" not in text
    wrong = fourhands("compare", *runs, "--story", "sheet-range", "--out", page)
    assert wrong.returncode == 2
    assert "did you mean 'sheet-ranges'" in wrong.stderr


@pytest.mark.slow
def test_a_task_that_only_the_first_run_has_fails_the_gate_for_it(
    runs: tuple[Path, Path], tmp_path: Path
) -> None:
    fewer = tmp_path / "fewer"
    shutil.copytree(runs[0], fewer)
    plan = json.loads((fewer / "plan.json").read_text())
    plan["run_id"] += "-fewer"
    plan["trials"] = [trial for trial in plan["trials"] if trial["task"] != "sheet-ranges"]
    (fewer / "plan.json").write_text(json.dumps(plan))
    done = fourhands("compare", runs[0], fewer, "--fail-if", "incomplete>0", "--format", "json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    (missing,) = document["incomplete"]
    assert (missing["task"], missing["why"]) == ("sheet-ranges", "second run: not planned")
    shown = fourhands("compare", runs[0], fewer, "--format", "markdown").stdout
    assert "sheet-ranges (second run: not planned)" in shown
    assert "4 tasks cannot show a regression at 5 %: the smallest p they can give is 0.0625" in shown


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--story", "t", "--fail-if", "regression"], "--fail-if: can be given only without --story"),
        (["--story", "t", "--junit", "a.xml"], "--junit: can be given only without --story"),
        (["--story", "t", "--format", "json"], "--format: can be given only without --story"),
        (["--condition", "vanilla"], "--condition: can be given only with --story TASK"),
        (["--out", "page.html"], "--out: can be given only with --story TASK"),
        (["--junit", "."], "--junit .: is a folder: name a file"),
        (["--story", "t", "--out", "."], "--out .: is a folder: name a file"),
    ],
)
def test_an_option_that_would_not_be_heeded_is_refused(options: list[str], says: str, tmp_path: Path) -> None:
    done = fourhands("compare", tmp_path, tmp_path, *options)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"error: {says}"]


def test_a_job_of_harbor_has_no_stories(tmp_path: Path) -> None:
    trial = tmp_path / "job" / "t0"
    trial.mkdir(parents=True)
    config = {"job_name": "job", "jobs_dir": str(tmp_path), "agents": [], "datasets": [], "tasks": []}
    (trial.parent / "config.json").write_text(json.dumps(config))
    planned = {"trial_name": "t0", "task": {"path": "tasks/a"}, "agent": {"name": "oracle"}}
    (trial / "config.json").write_text(json.dumps(planned))
    result = {
        "config": planned,
        "task_name": "a",
        "trial_name": "t0",
        "agent_info": {"name": "oracle", "version": "1"},
        "verifier_result": {"rewards": {"reward": 1.0}},
    }
    (trial / "result.json").write_text(json.dumps(result))
    done = fourhands("compare", trial.parent, trial.parent, "--story", "a", "--out", tmp_path / "page.html")
    assert done.returncode == 2
    assert "job is a job of Harbor's, which has no stories" in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_what_is_no_run_or_no_gate_is_refused(tmp_path: Path) -> None:
    no_run = fourhands("compare", tmp_path, tmp_path)
    assert no_run.returncode == 2
    assert f"{tmp_path} is no run" in no_run.stderr
    no_gate = fourhands("compare", tmp_path, tmp_path, "--fail-if", "retnetion<0.9")
    assert no_gate.returncode == 2
    assert "did you mean 'retention'" in no_gate.stderr
