"""``fourhands``: what can be typed, and how it ends.

Exit codes: 0 all went well; 1 something could not be measured (a trial without a verdict, a task that fails its
check); 2 the command line or a file given is wrong; 3 something must be fetched or installed first; 4 the
sandbox cannot run here; 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, ClassVar

import typer

from fourhands.cli.ablate import ablate
from fourhands.cli.agents import app as agents_app
from fourhands.cli.audit import app as audit_app
from fourhands.cli.cassette import cassette
from fourhands.cli.compare import compare
from fourhands.cli.console import errors
from fourhands.cli.conversations import app as conversations_app
from fourhands.cli.data import app as data_app
from fourhands.cli.demo import demo
from fourhands.cli.doctor import doctor
from fourhands.cli.edits import app as edits_app
from fourhands.cli.html_report import report
from fourhands.cli.lazy import LazyGroup, Member
from fourhands.cli.power import power
from fourhands.cli.records import app as records_app
from fourhands.cli.regions import app as regions_app
from fourhands.cli.reproduce import reproduce
from fourhands.cli.results import results
from fourhands.cli.run import run
from fourhands.cli.show import show
from fourhands.cli.tasks import app as tasks_app
from fourhands.cli.trajectories import app as trajectories_app
from fourhands.model.errors import FourhandsError, InputError, MissingError, SandboxError

__all__ = ["app", "main"]


class _Commands(LazyGroup):
    members: ClassVar[Mapping[str, Member]] = {
        "demo": demo,
        "run": run,
        "show": show,
        "results": results,
        "report": report,
        "power": power,
        "compare": compare,
        "ablate": ablate,
        "cassette": cassette,
        "reproduce": reproduce,
        "doctor": doctor,
        "agents": agents_app,
        "tasks": tasks_app,
        "trajectories": trajectories_app,
        "regions": regions_app,
        "edits": edits_app,
        "records": records_app,
        "conversations": conversations_app,
        "audit": audit_app,
        "data": data_app,
    }


app = typer.Typer(
    name="fourhands",
    cls=_Commands,
    epilog="Start with: fourhands demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes around the help would cost more than all other imports together
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"fourhands {version('fourhands')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version, and exit.")
    ] = False,
) -> None:
    """Measure how coding agents work when a person shares their workspace."""
    del version  # its callback has done all


_EXIT_CODES = ((MissingError, 3), (SandboxError, 4), (InputError, 2))


def main() -> None:
    """Run the command line; an error a user can act on is one message, not a traceback."""
    try:
        app()
    except FourhandsError as error:
        errors().print(f"error: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(_exit_code(error))


def _exit_code(error: FourhandsError) -> int:
    return next((code for kind, code in _EXIT_CODES if isinstance(error, kind)), 1)
