"""``fourhands compare`` on real runs: an agent that reconciles, and a version of it that lost the knack."""

from __future__ import annotations

import json
import os
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
    assert "sheet-ranges__thin-scripted-keeps" in page.read_text()
    wrong = fourhands("compare", *runs, "--story", "sheet-range", "--out", page)
    assert wrong.returncode == 2
    assert "did you mean 'sheet-ranges'" in wrong.stderr


def test_what_is_no_run_or_no_gate_is_refused(tmp_path: Path) -> None:
    no_run = fourhands("compare", tmp_path, tmp_path)
    assert no_run.returncode == 2
    assert f"{tmp_path} is no run" in no_run.stderr
    no_gate = fourhands("compare", tmp_path, tmp_path, "--fail-if", "retnetion<0.9")
    assert no_gate.returncode == 2
    assert "did you mean 'retention'" in no_gate.stderr
