"""``fourhands show`` as a user types it: the same story for people and for programs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from rich.console import Console

from fourhands.cli.story import tell
from fourhands.report.text import visible

from ..engine.thin_runs import run_trials  # noqa: TID252 - tests are no package to name
from ..report.story.scene import Log  # noqa: TID252

FOURHANDS = Path(sys.executable).with_name("fourhands")


def show(*arguments: str | Path) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run([FOURHANDS, "show", *arguments], env=environment, capture_output=True, check=False)


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trial whose agent keeps the user's edit, and fails for it."""
    arguments = ("--model", "scripted/keeps", "--condition", "counter-edit", "--ablate")
    folder = run_trials(tmp_path_factory.mktemp("show"), ["ledger-rounding"], *arguments)
    (found,) = (folder.path / "trials").iterdir()
    return found


@pytest.mark.slow
def test_show_tells_both_hands_the_diffs_by_author_and_the_verdict(trial: Path) -> None:
    done = show(trial)
    assert done.returncode == 0, done.stderr
    told = done.stdout.decode()
    for part in (
        "step 1   agent    ",
        "         agent    bash $ ",
        "← what the user watches",
        "         user     trigger: read of src/tally/allocation.py",
        "          u +    minors = ",
        "         user     “I made a change",
        "         verifier unresolved: ",
        "failed: ",
        "unresolved × finished",
        "Causal ablation",
        "the user's edit caused the failure (by removal)",
        "Delivery of the user's interventions",
        "The user's lines",
        "line 1: kept (src/tally/allocation.py)",
    ):
        assert part in told, part


@pytest.mark.slow
def test_as_json_the_story_is_one_document(trial: Path) -> None:
    done = show(trial, "--json")
    told = orjson.loads(done.stdout)
    assert (told["schema"], told["trial"], told["verdict"]) == (2, trial.name, "unresolved")
    assert any(line[:2] == ["+", "user"] for line in _diff_lines(told))
    few = orjson.loads(show(trial, "--json", "--output-lines", "1").stdout)
    outputs = [entry["output"] for entry in few["entries"] if entry["output"]]
    assert all(output["head"] == "" for output in outputs if output["left_out"])


def _diff_lines(told: dict[str, Any]) -> list[list[Any]]:
    return [
        line
        for entry in told["entries"]
        for diff in entry["diffs"]
        for hunk in diff["hunks"]
        for line in hunk["lines"]
    ]


@pytest.mark.slow
def test_output_lines_say_how_much_of_each_output_is_shown(trial: Path) -> None:
    none, many = (show(trial, "--output-lines", count).stdout.decode() for count in ("0", "500"))
    assert "left out …" in none
    assert not [line for line in none.splitlines() if "│" in line and "left out" not in line]
    assert "left out …" not in many


def test_a_hostile_story_leaves_the_terminal_alone() -> None:
    hostile = "[red]\x1b[2J\x1b]0;t\x07\u202e\ud83d</script>"
    log = Log()
    log.start()
    log.events[0].body["agent"] = hostile
    log.reply(hostile)
    log.act(hostile, {"command": "\x1b[2J"}, "c1")
    log.result(hostile.encode("utf-8", "surrogatepass"), "c1")
    log.change("agent", None, b"\x1b[2J\n", [[1, 0, 1, 1]], path=hostile)
    log.add("harness", "note", {"note": "harness_failed", "reason": hostile})
    console = Console(force_terminal=False, width=80)
    with console.capture() as captured:
        for line in tell(log.story()):
            console.print(line, soft_wrap=True)
    told = captured.get()
    assert visible(told) == told
    assert "[red]\\x1b[2J" in told
