"""A cgroup that limits the number of processes: for root, whom RLIMIT_NPROC does not bind."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["create", "remove"]

_ROOTS: Final = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))  # version 1, then 2
_PREFIX: Final = "sandbox-"
_ATTEMPTS = 50
_PAUSE = 0.01


def create(token: str, processes: int) -> Path | None:
    """Make the group of sandbox ``token``; ``None`` where this user may not, or there is no such controller."""
    for root in _ROOTS:
        group = root / f"{_PREFIX}{token}"
        with suppress(OSError):
            group.mkdir()
            try:
                (group / "pids.max").write_text(str(processes), encoding="ascii")
            except OSError:
                group.rmdir()
                raise
            return group
    return None


def remove(token: str) -> None:
    """Remove the group of sandbox ``token``, if there is one; its last processes may still be dying."""
    for root in _ROOTS:
        group = root / f"{_PREFIX}{token}"
        for _ in range(_ATTEMPTS):
            if not group.is_dir():
                break
            with suppress(OSError):
                group.rmdir()
                break
            time.sleep(_PAUSE)
