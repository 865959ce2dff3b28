"""Two trials of one task, of two runs, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import quote

import polars as pl

from fourhands.analysis.study import Study
from fourhands.model.condition import ConditionName
from fourhands.model.errors import InputError
from fourhands.report.html.trial_data import run_names
from fourhands.report.html.writer import StoriesAlone, write_html_report
from fourhands.report.loading import load_study

__all__ = ["write_side_by_side"]


def write_side_by_side(runs: Sequence[Path], task: str, condition: str | None, out: Path) -> str:
    """Write the page with all trials of ``task`` in two runs; the address at which two are side by side.

    Args:
        runs: their folders.
        task: its name.
        condition: a label; without it the first that both runs have and that is not `vanilla`.
        out: the page.

    Raises:
        InputError: a run has no such trial, which says what there is; or it is a job of Harbor's, without stories.
    """
    study = load_study(runs)
    for info in study.runs:
        if info.kind != "run":
            raise InputError(
                f"--story: {info.path} is a job of Harbor's, which has no stories: give runs of Fourhands"
            )
    if len(study.runs) < len(runs):
        raise InputError(f"{runs[1]} is a copy of {runs[0]}: its stories are the same")
    trials = study.tables.trials.filter(pl.col("attempt") > 0)
    _see_that_there_is(task, trials)
    trials = trials.filter(pl.col("task") == task)
    label = condition or _first_of_both(study, trials)
    chosen = trials.filter(pl.col("condition") == label)
    found = [chosen.filter(pl.col("run") == info.run) for info in study.runs]
    for info, rows in zip(study.runs, found, strict=True):
        if rows.is_empty():
            there = sorted(set(trials.filter(pl.col("run") == info.run)["condition"]))
            raise InputError(
                f"{info.path} has no trial of {task} under {label}; there are {', '.join(there) or 'none'}"
            )
    # Numbered as in its own run: beside each other they are no further repeats.
    own_repeats = pl.col("trial").str.extract(r"__r(\d+)$").cast(pl.Int64).alias("repeat")
    shown = pl.concat(found).with_columns(own_repeats)
    only = replace(study, tables=replace(study.tables, trials=shown))
    pair = ",".join(quote(name, safe="") for name in _alike(*found))
    start = f"compare={pair}"
    title = f"{task} in {' and '.join(run_names(study).values())}"
    write_html_report(only, out, stories_alone=StoriesAlone(title, whole=study, start=start))
    return f"{out.absolute().as_uri()}#{start}"


def _alike(first: pl.DataFrame, second: pl.DataFrame) -> tuple[str, str]:
    """A trial of each: the first two of the same agent and model, else the first of each."""
    theirs = second.select("agent", "model", pl.struct("run", "trial").alias("other"))
    both = first.join(theirs, on=["agent", "model"], how="inner", maintain_order="left")
    one, other = (both if both.height else first).row(0, named=True), second.row(0, named=True)
    other = one.get("other", other)
    return f"{one['run']}/{one['trial']}", f"{other['run']}/{other['trial']}"


def _see_that_there_is(task: str, trials: pl.DataFrame) -> None:
    tasks = trials["task"].unique().sort().to_list()
    if task not in tasks:
        near = get_close_matches(task, tasks, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(tasks) or 'none'}"
        raise InputError(f"story: no trial of {task!r} has been run; {hint}")


def _first_of_both(study: Study, trials: pl.DataFrame) -> str:
    labels = [trials.filter(pl.col("run") == info.run)["condition"].unique().to_list() for info in study.runs]
    ordered = trials["condition"].unique(maintain_order=True)
    both = [label for label in ordered if all(label in each for each in labels)]
    return next((label for label in both if label != ConditionName.VANILLA), both[0] if both else "vanilla")
