"""``fourhands data``: what real tasks need and the package does not ship."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

app = typer.Typer(help="Get the data that real tasks need.", no_args_is_help=True)


@app.command()
def pull(
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", help="A folder with swe-bench/verified.jsonl and swe-touch/*.jsonl instead of the net."
        ),
    ] = None,
) -> None:
    """Put SWE-bench Verified rows and the released SWE-Touch records into the cache.

    Example: fourhands data pull --from ~/data
    """
    from fourhands.cli.console import errors, output
    from fourhands.tasks.data import pull as pull_data

    pulled = pull_data(source, progress=lambda what: errors().print(f"pulling {what}", markup=False))
    output().print(f"{pulled.rows} rows and {pulled.records} records are in the cache")


@app.callback()
def _group() -> None:
    """Keep ``pull`` a subcommand though it is the only one."""
