"""``fourhands cassette``: a run's recorded replies as one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fourhands.cli.console import output

__all__ = ["cassette"]


def cassette(
    run: Annotated[Path, typer.Argument(help="A run's folder.")],
    out: Annotated[Path, typer.Option(help="The file to write, such as cassettes/claude-code.jsonl.")],
) -> None:
    """Write what the models of a run replied as one file, fit for a repository.

    It holds no secret, and what must differ from one day to the next is taken out. To replay it, name the tasks,
    agents, models and conditions of the run: fourhands run --upstream replay:FILE …

    Example: fourhands cassette runs/a --out cassettes/a.jsonl
    """
    from fourhands.trajectories.cassette import write_cassette

    count = write_cassette(run, out)
    output().print(
        f"{out}: {count} exchanges, {out.stat().st_size / 1000:,.0f} kB", markup=False, soft_wrap=True
    )
