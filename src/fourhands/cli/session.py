"""From a plan to its report: what `run` and `demo` have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import orjson
import typer

from fourhands.analysis.aftermath import Aftermath, aftermath_table
from fourhands.analysis.table import condition_table, median_steps
from fourhands.analysis.trials import TrialRow
from fourhands.cli.ablate import ablate_folder
from fourhands.cli.console import errors, output
from fourhands.cli.experiment import Experiment, as_yaml
from fourhands.cli.progress import Progress
from fourhands.cli.report import markdown_report, print_report
from fourhands.cli.rows import read_rows, read_trials
from fourhands.edits.plan import plan_run
from fourhands.model.errors import InputError
from fourhands.model.trial import RECORDED, AgentSpec
from fourhands.tasks.find import find_tasks
from fourhands.tasks.folder import load_task
from fourhands.trajectories.run_folder import Plan, RunFolder, write_atomically

__all__ = ["finish", "prepare_run", "results_json", "resume", "run_folder", "start"]


def start(experiment: Experiment, *, dry_run: bool = False, json: bool = False) -> None:
    """Plan an experiment, run it or what is left of it, and report.

    Raises:
        InputError: something in it is wrong, or its folder holds another run.
        MissingError: something that it needs is not there yet.
    """
    from fourhands.engine.environments import see_that_the_gateway_is_reached

    if dry_run:
        plan = plan_experiment(experiment)
        errors().print(as_yaml(experiment), markup=False, soft_wrap=True)
        _print_plan(plan)
        _print_harbor(plan, experiment)
        return
    if experiment.out is None:
        raise InputError("no folder for the run: say where it goes with --out")
    see_that_the_gateway_is_reached(experiment.env)
    folder = RunFolder(experiment.out)
    with folder.locked():
        prepare_run(folder, experiment)
        errors().print(as_yaml(experiment), markup=False, soft_wrap=True)
        run_folder(folder, concurrency=experiment.jobs)
        if experiment.ablate:
            ablate_folder(folder, concurrency=experiment.jobs)
    finish(folder, json=json)


def resume(out: Path, *, jobs: int, ablate: bool, json: bool) -> None:
    """Go on with the run in a folder, and report.

    Raises:
        InputError: there is none.
    """
    folder = RunFolder(out)
    if not folder.plan_path.exists():  # before a lock makes the folder
        raise InputError(
            f"{out} is no run yet: say what to run with --tasks, or with an experiment's YAML file"
        )
    with folder.locked():
        run_folder(folder, concurrency=jobs)
        if ablate:
            ablate_folder(folder, concurrency=jobs)
    finish(folder, json=json)


def plan_experiment(experiment: Experiment) -> Plan:
    """Everything an experiment will do.

    Raises:
        InputError: a name is unknown, or a model or a task is wrong.
        MissingError: a live model's key is not set, or a task is not on this machine.
    """
    from fourhands.engine.agents.registry import AGENTS
    from fourhands.engine.environments import see_that_harbor_has, see_that_the_network_is_held_back
    from fourhands.engine.models import Models
    from fourhands.engine.speakers import live_speaker

    for agent in experiment.agent:
        if agent not in AGENTS:
            raise InputError(f"unknown agent {agent!r}: choose from {', '.join(AGENTS)}")
    see_that_harbor_has(experiment.env)
    recordings = {
        Path(model).name: Path(model.removeprefix(RECORDED)).absolute()
        for model in experiment.model
        if model.startswith(RECORDED)
    }
    names = [RECORDED + Path(m).name if m.startswith(RECORDED) else m for m in experiment.model]
    if any(condition.message == "live" for condition in experiment.conditions):
        live_speaker(experiment.settings, task="", read_blob=lambda _: b"")  # said now what is wrong with it
    errors().print("Planning; what tasks are made of is built on first use …", markup=False)
    tasks = [load_task(path) for path in find_tasks(experiment.tasks)]
    see_that_the_network_is_held_back(experiment.env, [task.directory for task in tasks])
    plan = plan_run(
        tasks=tasks,
        agents=[AgentSpec(agent, model) for agent in experiment.agent for model in names],
        conditions=experiment.conditions,
        repeats=experiment.repeats,
        settings=experiment.settings.model_copy(update={"recordings": recordings}),
        progress_steps=_progress_steps(experiment, [task.name for task in tasks]),
    )
    Models(plan)  # what is wrong with a model is said before a plan is written that nobody can run
    return plan


def prepare_run(folder: RunFolder, experiment: Experiment) -> Plan:
    """Plan an experiment and write its plan, or see that the one in ``folder`` is the same.

    Raises:
        InputError: as `plan_experiment`, or the folder holds another plan.
        MissingError: as `plan_experiment`.
    """
    plan = plan_experiment(experiment)
    if folder.plan_path.exists():
        there = folder.plan()
        if there.model_copy(update={"run_id": plan.run_id}) != plan:
            raise InputError(
                f"{folder.path} holds a run with another plan: choose another --out, or leave out all but --out to "
                "go on with that one"
            )
        return there
    folder.write_experiment(as_yaml(experiment))
    folder.write_plan(plan)
    return plan


def _progress_steps(experiment: Experiment, tasks: Sequence[str]) -> dict[str, int]:
    given = experiment.progress_steps
    if given is None:
        return {}
    if isinstance(given, int):
        return dict.fromkeys(tasks, given)
    if isinstance(given, dict):
        if missing := [task for task in tasks if task not in given]:
            raise InputError(
                f"progress_steps: no steps for {missing[0]}: give every task its own, or one number"
            )
        return {task: given[task] for task in tasks}
    found = median_steps(read_rows(RunFolder(given)))
    if missing := [task for task in tasks if task not in found]:
        raise InputError(
            f"progress_steps: {given} has no scored vanilla trial of {missing[0]} to take steps from"
        )
    return {task: found[task] for task in tasks}


def _print_plan(plan: Plan) -> None:
    """How many trials a plan has of each condition, and which cannot be run."""
    for condition in dict.fromkeys(trial.condition for trial in plan.trials):
        trials = [trial for trial in plan.trials if trial.condition == condition]
        reasons = {trial.task: reason for trial in trials if (reason := plan.not_applicable(trial))}
        output().print(f"{condition}: {len(trials)} trials", markup=False, soft_wrap=True)
        for reason in reasons.values():
            output().print(f"  not applicable: {reason}", markup=False, soft_wrap=True)
    output().print(f"{len(plan.trials)} trials in all; nothing was run.", markup=False)


def _print_harbor(plan: Plan, experiment: Experiment) -> None:
    """How Harbor is configured, where its own environments are used."""
    from fourhands.engine.environments import LOCAL
    from fourhands.engine.jobs import harbor_configs

    if experiment.env == LOCAL:
        return
    jobs_path = RunFolder(experiment.out or Path("runs", "NAME")).jobs_path
    configs = harbor_configs(plan, jobs_path, experiment.jobs)
    output().print(f"Harbor's configuration of its {len(configs)} jobs:", markup=False)
    jobs = [config.model_dump(mode="json", exclude_defaults=True) for config in configs]
    output().file.write(orjson.dumps(jobs, option=orjson.OPT_INDENT_2).decode() + "\n")


def run_folder(folder: RunFolder, *, concurrency: int) -> None:
    """Run all of the plan that has not ended, with progress on standard error.

    Raises:
        FourhandsError: something cannot be set up on this machine.
    """
    from fourhands.engine.jobs import execute, is_settled
    from fourhands.engine.models import Models
    from fourhands.gateway.server import Gateway

    plan = folder.plan()
    models = Models(plan)
    models.see_that_they_answer()
    gateway = Gateway()
    gateway.start()

    async def work(progress: Progress) -> None:
        models.serve_at(await gateway.serve_players(models.server))
        await execute(folder, gateway, models.upstream, progress.see, concurrency)

    try:
        applicable = [trial for trial in plan.trials if plan.not_applicable(trial) is None]
        done = sum(is_settled(folder, trial) for trial in applicable)
        with Progress(len(applicable), done, errors()) as progress:
            asyncio.run(work(progress))
    except KeyboardInterrupt:
        errors().print(
            f"Interrupted. Go on with: fourhands run --out {folder.path}", markup=False, soft_wrap=True
        )
        raise typer.Exit(130) from None
    finally:
        gateway.close()


def finish(folder: RunFolder, *, json: bool) -> None:
    """Write ``report.md``, print the tables, and exit with 1 when a trial has no outcome that counts."""
    trials = read_trials(folder)
    write_atomically(folder.path / "report.md", markdown_report(folder, trials).encode())
    if json:
        output().file.write(results_json(trials, run=folder.path) + "\n")
    else:
        print_report(folder, trials, output())
    if any(row.applicable and not row.is_scored for row, _ in trials):
        raise typer.Exit(1)


def results_json(trials: Sequence[tuple[TrialRow, Aftermath]], *, run: Path | None = None) -> str:
    """The machine-readable results, schema 2; with ``run``, also which run they are of."""
    document = {
        "schema": 2,
        **({"run": str(run)} if run else {}),
        "rows": [row.as_json() for row in condition_table(row for row, _ in trials)],
        "aftermath": [row.as_json() for row in aftermath_table(after for _, after in trials)],
        "interventions": [each for _, after in trials for each in after.as_json()],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()
