"""``fourhands results``: the table of a run, again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["results"]


def results(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    prices: Annotated[
        str | None,
        typer.Option(help="Price table: current, paper, or a file; default: the run's own."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 2.")] = False,
) -> None:
    """Show the results of a run; needs no model and no sandbox.

    Example: fourhands results runs/a --json
    """
    from fourhands.cli.console import output
    from fourhands.cli.prices import prices_of
    from fourhands.cli.report import print_report
    from fourhands.cli.rows import read_trials
    from fourhands.cli.session import results_json
    from fourhands.trajectories.run_folder import RunFolder

    folder = RunFolder(run)
    table = prices_of(folder, prices)
    trials = read_trials(folder, table)
    if json:
        output().file.write(results_json(trials, table) + "\n")
    else:
        print_report(folder, trials, table, output())
