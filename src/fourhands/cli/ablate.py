"""``fourhands ablate``: which failures did the user's edit cause?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fourhands.analysis.ablation import AblatedTrial, AblationRow
    from fourhands.engine.ablation import Ablated
    from fourhands.model.ablation import Ablation
    from fourhands.trajectories.run_folder import RunFolder

__all__ = ["ablate", "ablate_folder"]

_HEADERS = ("condition", "failed", "by removal", "by replacement", "also broken", "cannot compose")


def ablate(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    jobs: Annotated[int, typer.Option(min=1, help="Trials at once.")] = 2,
    json: Annotated[bool, typer.Option("--json", help="Print as JSON, schema 1.")] = False,
) -> None:
    """Take the user's edit out of each failed trial's final state, and verify what is left.

    Needs no model. What has been verified once is not verified again.

    Example: fourhands ablate runs/a
    """
    from fourhands.cli.console import output
    from fourhands.cli.session import write_report
    from fourhands.model.errors import InputError
    from fourhands.trajectories.run_folder import RunFolder

    folder = RunFolder(run)
    if not folder.plan_path.exists():
        raise InputError(f"{run} is no run: it has no plan.json")
    with folder.locked():
        trials = ablate_folder(folder, concurrency=jobs)
        write_report(folder)
    if json:
        output().file.write(_as_json(folder, trials) + "\n")
    else:
        _print(trials)


def ablate_folder(folder: RunFolder, *, concurrency: int) -> list[AblatedTrial]:
    """Ablate what is not ablated yet, with progress on standard error; all of the population, as planned.

    Raises:
        FourhandsError: something cannot be set up on this machine, or is not what it was when the run ran.
    """
    import asyncio

    from fourhands.analysis.ablation import AblatedTrial
    from fourhands.cli.console import errors
    from fourhands.engine.ablation import ablate_run

    def say(done: int, total: int, ablated: Ablated) -> None:
        how = "cached" if ablated.kept else _how(ablated.ablation)
        line = f"[{done}/{total}] {ablated.key}: {_conclusion(ablated.ablation)}, {how}"
        errors().print(line, markup=False, soft_wrap=True)

    try:
        found = asyncio.run(ablate_run(folder, concurrency=concurrency, watch=say))
    except KeyboardInterrupt:
        errors().print(
            f"Interrupted. Go on with: fourhands ablate {folder.path}", markup=False, soft_wrap=True
        )
        raise typer.Exit(130) from None
    return [AblatedTrial(each.key, applies=True, ablation=each.ablation) for each in found]


def _how(ablation: Ablation) -> str:
    ran = [probe.seconds for probe in ablation.probes if probe.source == "verifier"]
    return f"{len(ran)} verified in {sum(s or 0 for s in ran):.0f} s" if ran else "cached"


def _conclusion(ablation: Ablation) -> str:
    return f"{ablation.conclusion} by {ablation.by}" if ablation.by else ablation.conclusion


def _as_json(folder: RunFolder, trials: Sequence[AblatedTrial]) -> str:
    import json

    from fourhands.analysis.ablation import ablation_table
    from fourhands.trajectories.ablations import ablation_json

    document = {
        "schema": 1,
        "run": str(folder.path),
        "rows": [row.as_json() for row in ablation_table(trials)],
        "trials": [
            {"trial": trial.key.slug, **ablation_json(trial.ablation)} for trial in trials if trial.ablation
        ],
    }
    return json.dumps(document, indent=2)


def _print(trials: Sequence[AblatedTrial]) -> None:
    from fourhands.analysis.ablation import ablation_table
    from fourhands.cli.console import output
    from fourhands.cli.report import plain_table

    if not trials:
        output().print("Nothing to ablate: no scored trial failed after an edit was delivered.")
        return
    rows = ablation_table(trials)
    for agent in dict.fromkeys(f"{row.agent} · {row.model}" for row in rows):
        lines = [_cells(row) for row in rows if f"{row.agent} · {row.model}" == agent]
        output().print(plain_table(agent, _HEADERS, lines))
    for trial in trials:
        if trial.ablation:
            standing = sum(trial.ablation.user_lines.values())
            stood = f"{standing} lines of the user at the end"
            text = f"  {trial.key.slug}: {_conclusion(trial.ablation)}: {trial.ablation.detail}; {stood}"
            output().print(text, markup=False, soft_wrap=True)


def _cells(row: AblationRow) -> list[str]:
    counts = (
        row.failed_touched,
        row.by_removal,
        row.by_replacement,
        row.also_broken_without,
        row.cannot_compose,
    )
    return [row.condition, *map(str, counts)]
