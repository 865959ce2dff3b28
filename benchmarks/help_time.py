"""CPU time of ``fourhands --help``, beside an interpreter that does nothing."""

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
    }
    found: dict[str, list[float]] = {name: [] for name in programs}
    for number in range(_ROUNDS + 1):
        for name, argv in programs.items():
            seconds, _ = child_cpu(argv)
            if number:
                found[name].append(seconds)
    figure = Figure(
        "fourhands --help, CPU",
        "ms",
        summary(found["help"]),
        summary(found["pass"]),
        "python -c pass",
        "≤ 150 ms",
    )
    return Outcome((figure,), (f"medians of {_ROUNDS} interleaved rounds",))
