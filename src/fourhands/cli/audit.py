"""``fourhands audit``."""

from __future__ import annotations

import typer

from fourhands.cli.audit_agreement import agreement
from fourhands.cli.audit_judge import judge
from fourhands.cli.audit_sheet import sheet

__all__ = ["app"]

app = typer.Typer(
    help="Have a judge model, and people, say why trials failed; measure how far they agree.",
    no_args_is_help=True,
)
app.command()(judge)
app.command()(sheet)
app.command()(agreement)
