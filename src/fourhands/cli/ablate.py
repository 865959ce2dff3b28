"""``fourhands ablate``: which failures did the user's edit cause?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fourhands.analysis.findings.arms import Trial
    from fourhands.analysis.findings.causal import CausalRow
    from fourhands.analysis.study import Study
    from fourhands.engine.ablation import Ablated
    from fourhands.model.ablation import Ablation
    from fourhands.trajectories.run_folder import RunFolder

__all__ = ["ablate", "ablate_folder"]

_HEADERS = ("condition", "failed", "by removal", "by replacement", "also broken", "cannot compose")
_NUMERIC = (False, *[True] * 5)


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
        study, _ = write_report(folder)
    if json:
        output().file.write(_as_json(folder, study, trials) + "\n")
    else:
        _print(study, trials)


def ablate_folder(folder: RunFolder, *, concurrency: int) -> Sequence[Ablated]:
    """Ablate what is not ablated yet, with progress on standard error; all of the population, as planned.

    Raises:
        FourhandsError: something cannot be set up on this machine, or is not what it was when the run ran.
    """
    import asyncio

    from fourhands.cli.console import errors
    from fourhands.cli.rubric_judge import rubric_judge_of
    from fourhands.engine.ablation import ablate_run

    judge = rubric_judge_of(folder, folder.plan().settings)

    def say(done: int, total: int, ablated: Ablated) -> None:
        how = "cached" if ablated.kept else _how(ablated.ablation)
        line = f"[{done}/{total}] {ablated.key}: {_conclusion(ablated.ablation)}, {how}"
        errors().print(line, markup=False, soft_wrap=True)

    try:
        return asyncio.run(ablate_run(folder, concurrency=concurrency, watch=say, rubric_judge=judge))
    except KeyboardInterrupt:
        errors().print(
            f"Interrupted. Go on with: fourhands ablate {folder.path}", markup=False, soft_wrap=True
        )
        raise typer.Exit(130) from None


def _how(ablation: Ablation) -> str:
    ran = [probe.seconds for probe in ablation.probes if probe.source == "verifier"]
    return f"{len(ran)} verified in {sum(s or 0 for s in ran):.0f} s" if ran else "cached"


def _conclusion(ablation: Ablation) -> str:
    return f"{ablation.conclusion} by {ablation.by}" if ablation.by else ablation.conclusion


def _as_json(folder: RunFolder, study: Study, trials: Sequence[Ablated]) -> str:
    import json

    from fourhands.analysis.findings.arms import trials_of
    from fourhands.analysis.findings.causal import causal_table
    from fourhands.trajectories.ablations import ablation_json

    rows = {trial.trial: trial for trial in trials_of(study)}
    document = {
        "schema": 1,
        "run": str(folder.path),
        "rows": [_row_json(row) for row in causal_table(study)],
        "trials": [
            {
                "trial": trial.key.slug,
                "failure_type": rows[trial.key.slug].failure_type,
                "failure_type_by": rows[trial.key.slug].failure_type_by,
                **ablation_json(trial.ablation),
            }
            for trial in trials
        ],
    }
    return json.dumps(document, indent=2)


def _row_json(row: CausalRow) -> dict[str, str | int]:
    found = row.touched
    return {
        "agent": row.agent,
        "model": row.model,
        "condition": row.condition,
        "failed_touched": found.failed,
        "edit_caused": found.edit_caused,
        "by_removal": found.by_removal,
        "by_replacement": found.by_replacement,
        "also_broken_without": found.also_broken_without,
        "cannot_compose": found.cannot_compose,
        "not_yet": found.not_yet,
        "stood": found.stood,
        "timed_out": found.timed_out,
    }


def _print(study: Study, trials: Sequence[Ablated]) -> None:
    from fourhands.analysis.findings.arms import trials_of
    from fourhands.analysis.findings.causal import causal_table
    from fourhands.cli.console import output
    from fourhands.report.rendering.terminal import plain_table

    if not trials:
        output().print("Nothing to ablate: no scored trial failed after an edit was delivered.")
        return
    rows = causal_table(study)
    for agent in dict.fromkeys(f"{row.agent} · {row.model}" for row in rows):
        lines = [_cells(row) for row in rows if f"{row.agent} · {row.model}" == agent]
        output().print(agent, style="bold", markup=False)
        output().print(plain_table(_HEADERS, _NUMERIC, lines))
    of_study = {trial.trial: trial for trial in trials_of(study)}
    for trial in trials:
        standing = sum(trial.ablation.user_lines.values())
        stood = f"{standing} lines of the user at the end"
        text = f"  {trial.key.slug}: {_conclusion(trial.ablation)}: {trial.ablation.detail}; {stood}"
        output().print(text, markup=False, soft_wrap=True)
        output().print(f"    {_probes(trial.ablation)}", markup=False, soft_wrap=True)
        if trial.key.condition.conflicts:  # of any other edit there is no type
            type_ = _type(of_study[trial.key.slug])
            output().print(f"    {type_}", markup=False, soft_wrap=True)


def _probes(ablation: Ablation) -> str:
    """The states, in the order in which they were verified."""
    from fourhands.report.story.verdict import probe_name

    return "; ".join(
        f"{probe_name(each)}: {'not composed' if each.tree is None else each.verdict}"
        for each in ablation.probes
    )


def _type(trial: Trial) -> str:
    """The type of the failure, by what it was found, and why."""
    import json

    found = json.loads(trial.failure_typing) if trial.failure_typing else {"why": "the record cannot be read"}
    if trial.failure_type is None:
        return f"type: open: {found['why']}"
    return f"type: {trial.failure_type} (by {trial.failure_type_by}): {found['why']}"


def _cells(row: CausalRow) -> list[str]:
    found = row.touched
    counts = (
        found.failed,
        found.by_removal,
        found.by_replacement,
        found.also_broken_without,
        found.cannot_compose,
    )
    return [row.condition, *map(str, counts)]
