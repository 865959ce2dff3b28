"""Results and report of 10,000 trials with 200 events each, beside reading and parsing the same records with json.

The first time everything is read; the second time what was kept of the first is still good. Wall time, CPU time of
all processes, the largest process's memory, and the sizes of what is written.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from measure import Figure, Outcome, child_environment
from synthetic_run import write_run

__all__ = ["measure"]

_TRIALS: Final = 10_000
_EVENTS: Final = 200
_TARGET: Final = "≤ 10 s"
_PEER: Final = "json.loads of each line"
_COMMAND: Final = str(Path(sys.executable).with_name("fourhands"))


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of a program: seconds, CPU seconds with all its children's, MB of the largest of them."""

    wall: float
    cpu: float
    memory: float


def measure() -> Outcome:
    """Writes the run into a temporary folder: about 2.5 GB, most of it small files."""
    folder = Path(tempfile.mkdtemp(prefix="large-run-"))
    try:
        run = folder / "run"
        began = time.monotonic()
        write_run(run, trials=_TRIALS, events=_EVENTS)
        written = time.monotonic() - began
        peer = _run([sys.executable, __file__, str(run)])
        figures: list[Figure] = []
        place = folder / "report.html"
        for again in ("", ", again"):
            cost = _run([_COMMAND, "results", str(run), "--format", "json"])
            figures += _figures(f"results{again}", cost, peer)
        for again in ("", ", again"):
            began = time.time()
            cost = _run([_COMMAND, "report", str(run), "--out", str(place)])
            readable = place.stat().st_mtime - began  # stories follow the page
            figures += [Figure(f"report{again}, page can be read", "s", readable, peer.wall, _PEER, _TARGET)]
            figures += _figures(f"report{again}, all stories told", cost, peer)
        page, _ = _size([place])
        stories, files = _size((folder / "report_stories").glob("*.js"))
        figures += [Figure("report.html", "MB", page / 1e6), Figure("stories beside it", "MB", stories / 1e6)]
        records = _size(run.glob("trials/*/attempt-1/events.jsonl"))
        notes = (
            f"{records[1]:,} records of {records[0] / 1e6:,.0f} MB, written in {written:.0f} s",
            f"the peer reads and parses in one process: {peer.wall:.1f} s",
            f"{files} files of stories; {os.cpu_count()} processors",
        )
        return Outcome(tuple(figures), notes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _figures(name: str, cost: _Cost, peer: _Cost) -> list[Figure]:
    return [
        Figure(f"{name}, wall", "s", cost.wall, peer.wall, _PEER),
        Figure(f"{name}, CPU", "s", cost.cpu, peer.cpu, _PEER),
        Figure(f"{name}, largest process", "MB", cost.memory),
    ]


def _run(argv: Sequence[str]) -> _Cost:
    began = time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, env=child_environment()) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{argv[0]} ended with {child.returncode}")
    return _Cost(time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def _size(paths: Iterable[Path]) -> tuple[int, int]:
    """Bytes and number of these files."""
    sizes = [path.stat().st_size for path in paths]
    return sum(sizes), len(sizes)


def _parse(run: Path) -> None:
    """The peer: every record read and parsed, and nothing made of it."""
    for path in run.glob("trials/*/attempt-1/events.jsonl"):
        for line in path.read_bytes().splitlines():
            json.loads(line)


if __name__ == "__main__":
    _parse(Path(sys.argv[1]))
