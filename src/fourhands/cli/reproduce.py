"""``fourhands reproduce``: the experiment of a paper, as a file to run."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["reproduce"]


def reproduce(
    paper: Annotated[str, typer.Argument(help="swe-touch or swe-interact.")],
) -> None:
    """Print the experiment of a paper as YAML, headed by the list of what differs from the paper.

    Example: fourhands reproduce swe-touch > swe-touch.yaml, then fourhands run swe-touch.yaml --model …
    """
    from fourhands.cli.console import output
    from fourhands.presets import preset

    output().file.write(preset(paper))
