"""CPU time of ``fourhands --help``, beside an interpreter that does nothing, and one that imports typer alone."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from measure import Figure, Outcome, child_cpu, summary

__all__ = ["measure"]

_ROUNDS: Final = 25


def measure() -> Outcome:
    """Interleaved rounds; the first of each fills caches and does not count."""
    programs = {
        "help": [str(Path(sys.executable).with_name("fourhands")), "--help"],
        "pass": [sys.executable, "-c", "pass"],
        "typer": [sys.executable, "-c", "import typer"],
    }
    found: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(_ROUNDS + 1):
        for name, argv in programs.items():
            seconds, _ = child_cpu(argv)
            if number:
                found[name].append(seconds)
    ours, target = summary(found["help"]), "≤ 150 ms"
    figures = (
        Figure("fourhands --help, CPU", "ms", ours, summary(found["pass"]), "python -c pass", target),
        Figure("fourhands --help, CPU", "ms", ours, summary(found["typer"]), "python -c 'import typer'"),
    )
    return Outcome(figures, (f"medians of {_ROUNDS} interleaved rounds",))
