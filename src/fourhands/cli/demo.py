"""``fourhands demo``: the main job on real code, in some minutes, without Docker or a key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["demo"]

REAL = ("psf__requests-6028", "sympy__sympy-21847")
BUNDLED = ("ledger-rounding", "config-layers")
MODELS = ("scripted/keeps", "scripted/reconciles")
CONDITIONS = ("vanilla", "counter-edit")


def demo(
    out: Annotated[Path | None, typer.Option(help="Folder of the run; default: runs/demo-DATE-TIME.")] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the results as JSON, with the run's folder.")
    ] = False,
) -> None:
    """Compare an agent left alone with the same agent whose user edits the code under its hands.

    Two real bugs of real libraries (from the package index; bundled tasks when it cannot be reached), the real
    mini-swe-agent, and two scripted models in place of a live one: eight trials.

    Example: fourhands demo
    """
    from datetime import UTC, datetime

    from fourhands.cli.ablate import ablate_folder
    from fourhands.cli.console import errors
    from fourhands.cli.experiment import Experiment
    from fourhands.cli.session import finish, prepare_run, run_folder
    from fourhands.model.errors import MissingError
    from fourhands.tasks.data import ensure_rows
    from fourhands.tasks.find import find_tasks
    from fourhands.trajectories.run_folder import RunFolder

    def say(text: str) -> None:
        errors().print(text, markup=False, soft_wrap=True)

    tasks: tuple[str, ...] = REAL
    try:
        say(f"Real tasks {' and '.join(REAL)}: built from the package index, if they are not yet …")
        ensure_rows()
        find_tasks(REAL)
    except MissingError as error:
        say(f"The real tasks cannot be built here: {error}")
        say(f"Going on with the bundled tasks {' and '.join(BUNDLED)} instead.")
        tasks = BUNDLED
    now = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    folder = RunFolder(out or Path("runs") / f"demo-{now}")
    with folder.locked():
        plan = prepare_run(folder, Experiment(tasks=tasks, model=MODELS, condition=CONDITIONS))
        say(f"Running {len(plan.trials)} trials; no live model: scripted ones stand in for it.")
        run_folder(folder, concurrency=2)
        say("Taking the user's edit out of each failed trial's final state, and verifying what is left:")
        ablate_folder(folder, concurrency=2)
    finish(folder, json=json)
