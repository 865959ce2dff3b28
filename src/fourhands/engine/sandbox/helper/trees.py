"""Ending a tree of processes, seen from the host."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

__all__ = ["Host", "kill_below"]

_PAUSE = 0.002  # seconds between two looks at a tree whose members are dying


class Host:
    """The host's ``/proc``, held open: it stays readable after this process has changed its root."""

    def __init__(self) -> None:
        self._proc = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)

    def _parent_and_state(self, pid: str) -> tuple[int, bytes] | None:
        try:
            stat = os.open(f"{pid}/stat", os.O_RDONLY, dir_fd=self._proc)
        except OSError:
            return None
        try:
            state, parent = os.read(stat, 4096).rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            return None
        finally:
            os.close(stat)
        return int(parent), state

    def descendants(self, root: int) -> set[int]:
        """Living processes below ``root``."""
        children: dict[int, list[tuple[int, bytes]]] = {}
        for name in os.listdir(self._proc):  # noqa: PTH208 - a descriptor, not a path
            if name.isdigit() and (seen := self._parent_and_state(name)):
                children.setdefault(seen[0], []).append((int(name), seen[1]))
        found: set[int] = set()
        queue = [root]
        while queue:
            below = children.get(queue.pop(), [])
            queue += [pid for pid, _ in below]
            found |= {pid for pid, state in below if state not in b"ZX"}
        return found


def _send(pids: set[int], number: int) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def kill_below(host: Host, root: int) -> None:
    """Freeze, then kill, everything below ``root``: what is frozen cannot fork, so the loops end."""
    while host.descendants(root):
        frozen: set[int] = set()
        while new := host.descendants(root) - frozen:
            _send(new, signal.SIGSTOP)
            frozen |= new
        _send(frozen, signal.SIGKILL)
        time.sleep(_PAUSE)
