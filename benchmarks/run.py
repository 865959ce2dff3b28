"""Run benchmarks: ``benchmarks/run.py [NAME…] [--json FILE]``; without a name, all of them.

Figures are medians, and ratios to a peer measured in the same run. They depend on the machine and its load, both
of which the JSON file (schema 1) holds; nothing here passes or fails.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from measure import Outcome

__all__ = ["main"]

_BENCHMARKS: Final = (
    "help_time",
    "step_cost",
    "gateway_latency",
    "long_history",
    "trivial_trial",
    "throughput",
    "mailbox_latency",
    "coverage",
    "spread_coverage",
    "reading",
    "large_run",
    "trajectories",
    "mining",
    "talking_user",
    "planted_faults",
    "conversations",
)


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description="Measure what Fourhands costs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(_BENCHMARKS)}; default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here, too")
    options = parser.parse_args()
    if unknown := set(options.names) - set(_BENCHMARKS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}: choose from {', '.join(_BENCHMARKS)}")
    # Sandboxes' helpers are children, too: they would compile their modules anew each time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    report: dict[str, Any] = {
        "schema": 1,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpus": os.cpu_count(),
            "processor": platform.machine(),
            "kernel": platform.release(),
            "python": platform.python_version(),
        },
        "benchmarks": {name: _measured(name) for name in options.names or _BENCHMARKS},
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _measured(name: str) -> dict[str, Any]:
    print(f"== {name}", flush=True)
    load = os.getloadavg()[0]
    began = time.monotonic()
    outcome: Outcome = importlib.import_module(name).measure()
    loads = {"before": load, "after": os.getloadavg()[0]}
    for figure in outcome.figures:
        print(figure)
    for note in outcome.notes:
        print(f"  {note}")
    print(f"  load average {loads['before']:.1f} before, {loads['after']:.1f} after", flush=True)
    return {
        **outcome.as_json(),
        "seconds": round(time.monotonic() - began, 1),
        "load": loads,
    }


if __name__ == "__main__":
    main()
