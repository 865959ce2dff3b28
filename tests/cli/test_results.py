"""``fourhands results`` as a user types it, on a real run: every format, one table or all, files or printed."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from markdown_it import MarkdownIt

from fourhands.analysis.schema import TABLES
from fourhands.report.loading import load_events, load_study

FOURHANDS = Path(sys.executable).with_name("fourhands")

pytestmark = pytest.mark.slow


def _fourhands(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run(
        [FOURHANDS, *arguments], env=environment, capture_output=True, text=True, check=False
    )


def _results(*arguments: str | Path) -> str:
    done = _fourhands("results", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A run with `thin`, and what it printed."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = _fourhands(
        *("run", "--agent", "thin", "--tasks", "ledger-rounding,sheet-ranges"),
        *("--model", "scripted/keeps,scripted/reconciles", "--condition", "vanilla,counter-edit"),
        *("--ablate", "--out", folder),
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


@pytest.fixture(scope="module")
def run(ran: tuple[Path, str]) -> Path:
    return ran[0]


def test_it_prints_what_the_run_printed_at_its_end(ran: tuple[Path, str]) -> None:
    run, printed = ran
    assert _results(run) == printed


def test_the_headline_is_first_and_the_tables_fit_into_80_columns(run: Path) -> None:
    headline, _, rest = _results(run).partition("\n\n")
    tables, _, notes = rest.partition(
        "scripted/keeps: 0 of 2 resolved under counter-edit, 2 of 2 left alone."
    )
    assert "2 tasks" in headline, "that so few tell little is said first"
    assert tables.startswith("thin · scripted/keeps\n")
    assert max(map(len, tables.splitlines())) <= 80
    assert " -100" not in tables
    assert "−100.0" in tables
    assert "2+0 of 2" in tables
    assert "not a model" in notes
    assert f"Run: {run}\n" in notes
    assert f"fourhands show {run}/trials/" in notes


def test_the_document_has_all_of_it(run: Path) -> None:
    document = json.loads(_results(run, "--format", "json"))
    assert document["schema"] == 3
    assert [each["path"] for each in document["runs"]] == [str(run)]
    rows = {(row["model"], row["condition"]): row for row in document["tables"]["conditions"]}
    touched = rows["scripted/keeps", "counter-edit"]
    assert (touched["resolved"], touched["scored"], touched["delta"]) == (0, 2, -1.0)
    assert rows["scripted/reconciles", "counter-edit"]["delta"] == 0
    (causal,) = document["tables"]["causal"]
    assert (causal["failed_touched"], causal["by_removal"]) == (2, 2)
    assert len(document["trials"]) == 8
    assert all(each["proof"]["planned"] for each in document["interventions"])
    assert document["prices"]["models"]["scripted/keeps"] is None


def test_one_table_in_each_format(run: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(_results(run, "--table", "conditions", "--format", "csv"))))
    assert rows == [
        {name: "" if value is None else str(value) for name, value in row.items()}
        for row in json.loads(_results(run, "--table", "conditions", "--format", "json"))
    ]
    tokens = (
        MarkdownIt("commonmark")
        .enable("table")
        .parse(_results(run, "--table", "conditions", "--format", "markdown"))
    )
    assert sum(token.type == "tr_open" for token in tokens) == len(rows) + 1
    latex = _results(run, "--table", "conditions", "--format", "latex")
    assert latex.count(r" \\") == len(rows) + 1
    assert r"\label{tab:conditions}" in latex
    shown = _results(run, "--table", "conditions")
    assert max(map(len, shown.splitlines())) <= 80
    assert "−100.0" in shown


def test_markdown_without_a_table_is_the_runs_report(run: Path) -> None:
    assert _results(run, "--format", "markdown") == (run / "report.md").read_text("utf-8")


def test_latex_without_a_table_is_all_of_them(run: Path) -> None:
    printed = _results(run, "--format", "latex")
    assert printed.count(r"\begin{table}") == printed.count(r"\end{table}") > 5


def test_parquet_reads_back_as_the_tables_are(run: Path, tmp_path: Path) -> None:
    done = _fourhands("results", run, "--format", "parquet", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    tables = load_study([run]).tables
    expected = {
        "trials": tables.trials,
        "interventions": tables.interventions,
        "lines": tables.lines,
        "events": load_events([run]),
    }
    assert expected.keys() == TABLES.keys()
    for name, frame in expected.items():
        assert frame.height
        assert pl.read_parquet(tmp_path / f"{name}.parquet").equals(frame)
        assert str(tmp_path / f"{name}.parquet") in done.stderr.splitlines()
    assert pl.read_parquet(tmp_path / "tables" / "conditions.parquet")["condition"].to_list() == [
        *("vanilla", "counter-edit") * 2
    ]


def test_csv_files_hold_each_trial_and_event(run: Path, tmp_path: Path) -> None:
    assert _fourhands("results", run, "--format", "csv", "--out", tmp_path).returncode == 0
    with (tmp_path / "trials.csv").open(newline="") as file:
        trials = list(csv.DictReader(file))
    assert {trial["resolved"] for trial in trials} == {"true", "false"}
    assert json.loads(trials[0]["would_trigger"]) == ["counter-edit"]
    with (tmp_path / "events.csv").open(newline="") as file:
        assert sum(1 for _ in csv.DictReader(file)) == load_events([run]).height


def test_a_run_that_is_given_twice_counts_once(run: Path) -> None:
    assert len(json.loads(_results(run, run, "--format", "json"))["trials"]) == 8


def test_a_folder_whose_name_is_no_utf_8_is_told(run: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"r\xe9n\x1b[2J")
    shutil.copytree(run, odd, symlinks=True)
    assert f"Run: {tmp_path}/r\\udce9n\\x1b[2J\n" in _results(odd)
    assert [each["path"] for each in json.loads(_results(odd, "--format", "json"))["runs"]] == [str(odd)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--table", "condition"), "--table: no table 'condition': did you mean conditions"),
        (("--table", "pass-k"), "these runs have nothing to show in the table 'pass-k'"),
        (("--format", "parquet"), "--format parquet: say with --out"),
        (("--format", "csv"), "--format csv: say which with --table"),
        (("--out", "x"), "--out: what a terminal shows is no file"),
        (("--format", "xml"), "'xml' is not one of"),
    ],
)
def test_what_cannot_be_told_is_refused_with_the_remedy(
    run: Path, arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [FOURHANDS, "results", run, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stdout
    assert says in " ".join(done.stderr.split())
    assert not list(tmp_path.iterdir())
