"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["errors", "output"]


@cache
def output() -> Console:
    """For results."""
    from rich.console import Console

    # Without emoji: "judge:a: …" is text, and no sign in a box.
    return Console(highlight=False, soft_wrap=False, emoji=False)


@cache
def errors() -> Console:
    """For progress, notes and errors."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)
