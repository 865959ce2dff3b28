"""Repositories of any size to measure on, and sandboxes that only take snapshots of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from fourhands.model.sandbox import WORKDIR, ExecResult
from measure import child_cpu

__all__ = ["MeasuredWalk", "StillTree", "grow"]

_IN_FOLDER: Final = 25
_LINES: Final = 60


def grow(root: Path, files: int) -> None:
    """Fill ``root`` with ``files`` modules of some 60 lines, 25 to a folder and 20 folders to a package."""
    for number in range(files):
        folder = number // _IN_FOLDER
        path = root / f"package_{folder // 20}" / f"part_{folder % 20}" / f"module_{number}.py"
        if number % _IN_FOLDER == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"value_{number}_{line} = {line}\n" for line in range(_LINES)))


class StillTree:
    """A sandbox in which nothing ever changes, and which finds that out for nothing: no walk is made."""

    workdir = WORKDIR
    python = "/usr/bin/python3"

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        limit: int = 1 << 30,
    ) -> ExecResult:
        """Nothing differs."""
        del argv, cwd, env, stdin, timeout, limit
        return ExecResult(0, b"", b"", 0, 0)

    async def kill_all(self) -> None:
        """Nothing runs."""


class MeasuredWalk(StillTree):
    """A folder of the host as a sandbox: the same walk as everywhere, its cost kept apart.

    It holds up its event loop while the walk runs, so that nothing else is counted as the walk's. ``own`` are CPU
    seconds that starting the walk cost this process, ``child`` those of the walk itself. While ``still``, it is
    a `StillTree`.
    """

    def __init__(self, root: Path, python: str) -> None:
        self.workdir = str(root)
        self.python = python
        self.still = False
        self.own = 0.0
        self.child = 0.0

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        limit: int = 1 << 30,
    ) -> ExecResult:
        """Run it here, without a sandbox."""
        if self.still:
            return await super().run(argv)
        del cwd, env, timeout, limit
        began = time.process_time()
        seconds, output = child_cpu(argv, stdin=stdin)
        self.child += seconds
        self.own += time.process_time() - began
        return ExecResult(0, output, b"", len(output), 0)
