"""What every benchmark needs: CPU time of processes, children that run as a user's would, figures and their form."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

__all__ = [
    "Figure",
    "Outcome",
    "child_cpu",
    "child_environment",
    "peak_memory",
    "process_cpu",
    "resident_memory",
    "restart_peak",
    "serving",
    "summary",
    "tail",
]

_TICK: Final = os.sysconf("SC_CLK_TCK")
_HERE: Final = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of ours, and a peer's for the same work on the same machine in the same run.

    ``target`` is what the design promises of ``ours`` or of the ratio, in words; nothing is asserted.
    """

    name: str
    unit: str
    ours: float
    peer: float | None = None
    peer_name: str = ""
    target: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours as a multiple of the peer's."""
        return self.ours / self.peer if self.peer else None

    def __str__(self) -> str:
        text = f"{self.name}: ours {self.ours:.3g} {self.unit}"
        if self.peer is not None:
            text += f", {self.peer_name} {self.peer:.3g} {self.unit}"
        if self.ratio is not None:
            text += f", ratio {self.ratio:.3g}"
        return text + (f" (target: {self.target})" if self.target else "")

    def as_json(self) -> dict[str, Any]:
        """With the ratio."""
        return {**asdict(self), "ratio": self.ratio}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The figures of one benchmark, and what a reader must know of how they came about."""

    figures: tuple[Figure, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As the file holds it."""
        return {"figures": [figure.as_json() for figure in self.figures], "notes": list(self.notes)}


def child_environment() -> dict[str, str]:
    """Ours without what would keep a child's imports from being cached: a user has them cached."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def child_cpu(argv: Sequence[str], *, stdin: bytes = b"", cwd: Path | None = None) -> tuple[float, bytes]:
    """Run a program to its end; its CPU seconds (with those of its own children) and its standard output.

    Raises:
        RuntimeError: it ended with another status than 0.
    """
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd, env=child_environment()
    ) as child:
        assert child.stdin
        assert child.stdout
        child.stdin.write(stdin)
        child.stdin.close()
        output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{argv[0]} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, output


def process_cpu(pid: int) -> float:
    """CPU seconds of a running process, all its threads, without its children."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def resident_memory(pid: int) -> float:
    """MB of a running process that lie in memory now."""
    return _memory(pid, "VmRSS")


def peak_memory(pid: int) -> float:
    """The most MB of a running process that lay in memory, since its start or `restart_peak`."""
    return _memory(pid, "VmHWM")


def restart_peak(pid: int) -> None:
    """Let `peak_memory` begin anew."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")


def _memory(pid: int, name: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return int(kilobytes) * 1024 / 1e6


@contextmanager
def serving(program: str, *arguments: str) -> Iterator[tuple[int, Any]]:
    """Run ``servers/PROGRAM.py`` until the end of the block; its process id and the JSON of its first line.

    Raises:
        RuntimeError: it ended before it was ready.
    """
    command = [sys.executable, str(_HERE / "servers" / f"{program}.py"), *arguments]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=child_environment()
    ) as server:
        assert server.stdin
        assert server.stdout
        try:
            ready = server.stdout.readline()
            if not ready:
                raise RuntimeError(f"servers/{program}.py ended before it was ready; its message is above")
            yield server.pid, json.loads(ready)
        finally:
            server.stdin.close()  # which is how a server is told to end


def summary(seconds: Sequence[float]) -> float:
    """The median, in milliseconds."""
    return median(seconds) * 1000


def tail(seconds: Sequence[float]) -> float:
    """The 99th percentile, in milliseconds."""
    return quantiles(seconds, n=100, method="inclusive")[98] * 1000
