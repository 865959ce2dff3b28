"""``fourhands results``: the table of a run, again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["results"]


def results(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 2.")] = False,
) -> None:
    """Show the results of a run; needs no model and no sandbox.

    Example: fourhands results runs/a --json
    """
    from fourhands.cli.console import output
    from fourhands.cli.report import print_report
    from fourhands.cli.rows import read_trials
    from fourhands.cli.session import results_json
    from fourhands.trajectories.run_folder import RunFolder

    folder = RunFolder(run)
    trials = read_trials(folder)
    if json:
        output().file.write(results_json(trials) + "\n")
    else:
        print_report(folder, trials, output())
