"""Costs and budgets as a user meets them: real processes, a real agent loop, a price table for the stand-in."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fourhands.model.event import EventKind
from fourhands.trajectories.events import read_events

FOURHANDS = Path(sys.executable).with_name("fourhands")
TABLE = """\
schema = 1
name = "stand-ins"
[[model]]
name = "scripted/keeps"
input = 1
cache_read = 0.5
cache_write = 2
output = 10
source = "made up"
date = 2026-11-30
note = "a stand-in costs nothing"
"""
TASKS = ("--tasks", "ledger-rounding,config-layers", "--agent", "thin", "--model", "scripted/keeps")


def fourhands(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run(
        [FOURHANDS, *arguments], env=environment, capture_output=True, text=True, check=False
    )


def results(folder: Path, *arguments: str | Path) -> dict[str, Any]:
    done = fourhands("results", folder, "--format", "json", *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("prices") / "stand-ins.toml"
    path.write_text(TABLE)
    return path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, table: Path) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    done = fourhands("run", *TASKS, "--condition", "vanilla", "--prices", table, "--out", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def _replies(folder: Path) -> dict[str, list[Decimal]]:
    """By task what each reply cost, by the table above."""
    replies: dict[str, list[Decimal]] = {}
    for path in sorted(folder.glob("trials/*/attempt-*/events.jsonl")):
        for event in read_events(path).events:
            if event.kind is EventKind.MODEL_CALLED:
                used = event.body["usage"]
                millionths = used["input"] + Decimal("0.5") * used["cache_read"] + 2 * used["cache_write"]
                cost = (millionths + 10 * used["output"]) / 1_000_000
                replies.setdefault(path.parts[-3].split("__")[0], []).append(cost)
    return replies


def _spent(folder: Path) -> Decimal:
    return sum((cost for costs in _replies(folder).values() for cost in costs), Decimal(0))


@pytest.mark.slow
def test_a_run_costs_what_its_tokens_cost_by_its_own_table(run: Path, table: Path) -> None:
    table.unlink()  # the run keeps its own copy
    document = results(run)
    (row,) = document["tables"]["conditions"]
    total = float(_spent(run))
    assert total > 0
    assert row["cost_total"] == row["cost_total_at_least"] == pytest.approx(total, rel=1e-12)
    assert row["cost"] == pytest.approx(total / 2, rel=1e-12)
    assert sum(trial["threads"]["main"]["cost"] for trial in document["trials"]) == pytest.approx(total)
    assert document["prices"]["models"]["scripted/keeps"]["source"] == "made up"
    table.write_text(TABLE)


@pytest.mark.slow
def test_the_table_and_the_report_tell_costs_and_where_the_prices_are_from(run: Path) -> None:
    shown = fourhands("results", run).stdout
    assert "tokens   cost" in shown, "it fits into 80 columns"
    for text in (shown, (run / "report.md").read_text()):
        assert "cost: by stand-ins (scripted/keeps 2026-11-30); $0.0" in text
        assert "scripted/keeps: a stand-in costs nothing." in text


@pytest.mark.slow
def test_another_table_tells_it_otherwise_and_without_a_price_it_is_unknown(run: Path, table: Path) -> None:
    dear = table.with_name("dear.toml")
    dear.write_text(
        re.sub(r"(?<= = )[0-9.]+(?=\n(cache|output|source))", lambda m: f"{2 * float(m[0])}", TABLE)
    )
    assert results(run, "--prices", dear)["tables"]["conditions"][0]["cost"] == pytest.approx(
        2 * results(run)["tables"]["conditions"][0]["cost"]
    )
    (unknown,) = results(run, "--prices", "paper")["tables"]["conditions"]
    assert (unknown["cost"], unknown["cost_at_least"]) == (None, 0.0)
    assert "unknown" in fourhands("results", run, "--prices", "paper").stdout


@pytest.mark.slow
def test_a_budget_ends_trials_verified_leaves_the_rest_and_is_gone_on_with_by_a_larger_one(
    tmp_path: Path, run: Path, table: Path
) -> None:
    whole = _replies(run)
    first, second = whole["ledger-rounding"], whole["config-layers"]
    limit = float(sum(first) + sum(second[:3]) - Decimal("0.000001"))
    out = tmp_path / "run"
    limited = fourhands(
        *("run", *TASKS, "--condition", "vanilla,counter-edit", "--prices", table),
        *("--budget", str(limit), "--jobs", "1", "--out", out),
    )
    assert limited.returncode == 1, limited.stdout + limited.stderr
    assert f"The budget of ${limit} is reached: $0.0" in limited.stderr
    assert "most of them not started: 2" in limited.stderr
    assert f"--out {out} --budget MORE" in limited.stderr
    assert f"ledger-rounding__thin-scripted-keeps__vanilla__r1: resolved (finished), {len(first)} steps" in (
        limited.stdout
    )
    assert "config-layers__thin-scripted-keeps__vanilla__r1: unresolved (budget), 3 steps" in limited.stdout
    assert _replies(out) == {"ledger-rounding": first, "config-layers": second[:3]}
    assert len(list(out.glob("trials/*"))) == 2, "a trial without money leaves no trace"
    assert results(out)["tables"]["conditions"][0]["scored"] == 2, "what the budget ended was verified"
    assert "1 of 4 trials ended with the run's money" in (out / "report.md").read_text()

    again = fourhands("run", "--out", out)
    assert again.returncode == 1, "the old budget is still spent"
    assert len(list(out.glob("trials/*/attempt-*"))) == 2

    more = fourhands("run", "--out", out, "--budget", "1")
    assert more.returncode == 0, more.stdout + more.stderr
    assert "The budget of" not in more.stderr
    assert len(list(out.glob("trials/*/attempt-1"))) == 4
    assert not list(out.glob("trials/*/attempt-2")), "what had ended stays"


@pytest.mark.slow
def test_a_trial_that_waits_in_the_same_job_is_not_started_and_leaves_no_attempt(
    tmp_path: Path, run: Path, table: Path
) -> None:
    out = tmp_path / "run"
    limit = str(sum(_replies(run)["ledger-rounding"][:2]))
    done = fourhands(
        *("run", *TASKS, "--condition", "vanilla", "--prices", table),
        *("--budget", limit, "--jobs", "1", "--out", out),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "ledger-rounding__thin-scripted-keeps__vanilla__r1: unresolved (budget), 2 steps" in done.stdout
    assert "config-layers__thin-scripted-keeps__vanilla__r1: not run" in done.stdout
    assert "most of them not started: 1" in done.stderr
    assert len(list(out.glob("trials/*"))) == 1


@pytest.mark.slow
def test_trials_at_once_share_the_budget(tmp_path: Path, run: Path, table: Path) -> None:
    whole = _replies(run)
    limit = sum((sum(costs[:3]) for costs in whole.values()), Decimal(0))
    out = tmp_path / "run"
    done = fourhands(
        *("run", *TASKS, "--condition", "vanilla", "--prices", table),
        *("--budget", str(limit), "--jobs", "2", "--out", out),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("(budget), ") == 2
    assert "most of them not started" not in done.stderr
    dearest = max(cost for costs in whole.values() for cost in costs)
    assert limit <= _spent(out) < limit + 2 * dearest, "one reply a trial at most goes beyond it"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--budget", "5"), "--budget: the price table 'prices-current' has no price for 'scripted/keeps'"),
        (("--budget", "-1"), "budget: Input should be greater than 0"),
        (("--prices", "cheap"), "prices: no price table 'cheap': name a file, or one of current, paper"),
        (("--prices", "BAD"), "bad.toml: model 'scripted/keeps', output: Field required"),
    ],
)
def test_what_cannot_be_priced_is_refused_before_anything_runs(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(TABLE.replace("output = 10\n", ""))
    given = [str(bad) if each == "BAD" else each for each in arguments]
    done = fourhands("run", *TASKS, *given, "--out", tmp_path / "run")
    assert done.returncode == 2, done.stdout + done.stderr
    assert says in done.stderr.replace("\n", " ")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_table_that_cannot_keep_the_budget_does_not_replace_the_runs_own(run: Path) -> None:
    before = (run / "prices.toml").read_bytes()
    done = fourhands("run", "--out", run, "--budget", "5", "--prices", "paper")
    assert done.returncode == 2
    assert "'prices-paper' has no price for 'scripted/keeps'" in done.stderr.replace("\n", " ")
    assert (run / "prices.toml").read_bytes() == before
