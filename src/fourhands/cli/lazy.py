"""Commands whose parameters are read when they are used: reading those of all costs as much as half of typer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, override

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

__all__ = ["LazyGroup", "Member"]

Member = Callable[..., None] | typer.Typer
"""A command, described by its docstring, or a group of commands, described by its ``help``."""


class LazyGroup(TyperGroup):
    """A group of ``members``: its own help needs their names and descriptions only. Use it as ``cls`` of a Typer."""

    members: ClassVar[Mapping[str, Member]]

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, member in self.members.items():
            self.add_command(TyperCommand(name, help=_help(member)))

    @override
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, ready to run."""
        member = self.members.get(cmd_name)
        return None if member is None else _command(cmd_name, member)

    @override
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands from their outlines."""
        TyperGroup(name=self.name, commands=dict(self.commands)).format_commands(ctx, formatter)


def _help(member: Member) -> str | None:
    return member.info.help if isinstance(member, typer.Typer) else member.__doc__


def _command(name: str, member: Member) -> Any:
    around = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(member, typer.Typer):
        around.add_typer(member, name=name)
    else:
        around.command(name=name)(member)
    around.callback()(lambda: None)  # else typer makes a program of one command out of it
    return get_group(around).commands[name]
