from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from subprocess import run
from typing import ClassVar

import pytest
import typer
from typer.testing import CliRunner

from fourhands.cli.lazy import LazyGroup, Member

FOURHANDS = Path(sys.executable).with_name("fourhands")


def greet(name: str) -> None:
    """Greet somebody. And say no more."""
    typer.echo(f"good day, {name}")


def unreadable(name: nowhere.Defined) -> None:  # type: ignore[name-defined] # noqa: F821
    """Have parameters that nobody can read."""
    del name


below = typer.Typer(help="What stands below.", no_args_is_help=True)
below.command(name="greet")(greet)


@below.callback()
def _group() -> None: ...


class Commands(LazyGroup):
    members: ClassVar[Mapping[str, Member]] = {"greet": greet, "unreadable": unreadable, "below": below}


app = typer.Typer(cls=Commands, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback()
def _options() -> None: ...


def test_the_help_lists_commands_and_groups_without_reading_their_parameters() -> None:
    done = CliRunner().invoke(app, ["--help"])
    assert done.exit_code == 0
    lines = [line.split(None, 1) for line in done.output.splitlines()]
    assert ["greet", "Greet somebody."] in lines
    assert ["unreadable", "Have parameters that nobody can read."] in lines
    assert ["below", "What stands below."] in lines


def test_parameters_are_read_when_the_command_is_used() -> None:
    assert CliRunner().invoke(app, ["greet", "you"]).output == "good day, you\n"
    assert CliRunner().invoke(app, ["below", "greet", "them"]).output == "good day, them\n"
    assert isinstance(CliRunner().invoke(app, ["unreadable", "you"]).exception, NameError)


def test_a_command_that_does_not_exist_is_an_error_that_suggests_one() -> None:
    done = CliRunner().invoke(app, ["gret"])
    assert done.exit_code == 2
    assert "No such command 'gret'" in done.output
    assert "'greet'" in done.output


@pytest.mark.parametrize("command", ["demo", "run", "show", "results", "ablate", "doctor", "tasks", "data"])
def test_every_command_tells_its_own_usage(command: str) -> None:
    done = run([FOURHANDS, command, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"Usage: fourhands {command} ")
