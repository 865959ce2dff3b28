"""From a plan to its report: what `run` and `demo` have in common."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import orjson
import typer

from fourhands.analysis.table import condition_table
from fourhands.cli.console import errors, output
from fourhands.cli.progress import Progress
from fourhands.cli.report import markdown_report, print_report
from fourhands.cli.rows import read_rows
from fourhands.edits.plan import plan_run
from fourhands.model.errors import InputError
from fourhands.model.trial import RECORDED, AgentSpec, Condition
from fourhands.tasks.find import find_tasks
from fourhands.tasks.folder import load_task
from fourhands.trajectories.run_folder import Plan, RunFolder, Settings, write_atomically

__all__ = ["finish", "prepare_run", "results_json", "run_folder"]


def prepare_run(
    folder: RunFolder,
    *,
    tasks: Sequence[str],
    agents: Sequence[str],
    models: Sequence[str],
    conditions: Sequence[str],
    repeats: int,
    settings: Settings,
) -> Plan:
    """Plan a run and write the plan, or see that the one in ``folder`` is the same.

    Raises:
        InputError: a name is unknown, or the folder holds another plan.
        MissingError: a live model's key is not set.
    """
    from fourhands.engine.agents.registry import AGENTS
    from fourhands.engine.models import Models

    for agent in agents:
        if agent not in AGENTS:
            raise InputError(f"unknown agent {agent!r}: choose from {', '.join(AGENTS)}")
    recordings = {
        Path(model).name: Path(model.removeprefix(RECORDED)).absolute()
        for model in models
        if model.startswith(RECORDED)
    }
    names = [RECORDED + Path(m).name if m.startswith(RECORDED) else m for m in models]
    try:
        parsed = [Condition.parse(label) for label in conditions]
    except ValueError as error:
        raise InputError(str(error)) from None
    plan = plan_run(
        tasks=[load_task(path) for path in find_tasks(tasks)],
        agents=[AgentSpec(agent, model) for agent in agents for model in names],
        conditions=parsed,
        repeats=repeats,
        settings=settings.model_copy(update={"recordings": recordings}),
    )
    if folder.plan_path.exists():
        there = folder.plan()
        if there.model_copy(update={"run_id": plan.run_id}) != plan:
            raise InputError(
                f"{folder.path} holds a run with another plan: choose another --out, or leave out --tasks to go "
                "on with that one"
            )
        return there
    Models(plan)  # what is wrong with a model is said before a plan is written that nobody can run
    folder.write_plan(plan)
    return plan


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
    models.see_that_it_answers()
    gateway = Gateway()
    gateway.start()

    async def work(progress: Progress) -> None:
        models.serve_at(await gateway.serve_players(models.server))
        await execute(folder, gateway, models.upstream, progress.see, concurrency)

    try:
        applicable = [t for t in plan.trials if plan.user(t.task, t.condition).not_applicable is None]
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
    """Write ``report.md``, print the table, and exit with 1 when a trial has no outcome that counts."""
    rows = read_rows(folder)
    write_atomically(folder.path / "report.md", markdown_report(folder, rows).encode())
    if json:
        output().file.write(results_json(folder, run=True) + "\n")
    else:
        print_report(folder, rows, output())
    if any(row.applicable and not row.is_scored for row in rows):
        raise typer.Exit(1)


def results_json(folder: RunFolder, *, run: bool = False) -> str:
    """The machine-readable results, schema 1; with ``run``, also which run they are of."""
    table = [row.as_json() for row in condition_table(read_rows(folder))]
    head = {"schema": 1, "run": str(folder.path)} if run else {"schema": 1}
    return orjson.dumps({**head, "rows": table}, option=orjson.OPT_INDENT_2).decode()
