"""``fourhands run``: agents on tasks under conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fourhands.model.trial import DEFAULT_STEP_LIMIT

__all__ = ["run"]


def run(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder of the run; an unfinished run there is gone on with.")],
    tasks: Annotated[
        str | None,
        typer.Option(help="Task names or folders, with commas between; see `fourhands tasks list`."),
    ] = None,
    agent: Annotated[str, typer.Option(help="Agents, with commas between.")] = "mini-swe-agent",
    model: Annotated[
        str,
        typer.Option(
            help="Models, with commas between: a provider's name for one (with --base-url), scripted/keeps, "
            "scripted/reverts, scripted/reconciles, or recorded/FILE for a recorded trajectory."
        ),
    ] = "scripted/reconciles",
    condition: Annotated[
        str, typer.Option(help="vanilla, counter-edit, co-edit; [k=N] sets K: counter-edit[k=5].")
    ] = "vanilla,counter-edit",
    repeats: Annotated[int, typer.Option(min=1, help="How often each trial is run.")] = 1,
    base_url: Annotated[
        str | None, typer.Option(help="Where a live model is reached, any OpenAI-compatible address (…/v1).")
    ] = None,
    api_key_env: Annotated[
        str, typer.Option(help="Environment variable that holds the provider's key.")
    ] = "OPENAI_API_KEY",
    step_limit: Annotated[int, typer.Option(min=1, help="Accepted replies of the model a trial.")] = (
        DEFAULT_STEP_LIMIT
    ),
    jobs: Annotated[
        int, typer.Option(min=1, help="Trials at once, of those of one agent under one condition.")
    ] = 2,
    json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Run agents on tasks under conditions, and compare.

    Example: fourhands run --tasks ledger-rounding --model scripted/keeps --out runs/a
    """
    from fourhands.cli.session import finish, prepare_run, run_folder
    from fourhands.model.errors import InputError
    from fourhands.trajectories.run_folder import RunFolder, Settings

    folder = RunFolder(out)
    with folder.locked():
        if tasks is not None:
            prepare_run(
                folder,
                tasks=_list(tasks),
                agents=_list(agent),
                models=_list(model),
                conditions=_list(condition),
                repeats=repeats,
                settings=Settings(step_limit=step_limit, base_url=base_url, api_key_env=api_key_env),
            )
        elif not folder.plan_path.exists():
            raise InputError(f"{out} is no run yet: say which tasks to run with --tasks")
        elif given := _given(context) - {"out", "jobs", "json"}:
            options = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(given))
            raise InputError(
                f"{options}: what {out} runs is in its plan already; leave out, or give all with --tasks"
            )
        run_folder(folder, concurrency=jobs)
    finish(folder, json=json)


def _given(context: typer.Context) -> set[str]:
    """Names of the options that stand on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def _list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
