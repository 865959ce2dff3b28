"""End processes inside. ``argv``: what is to be done, then a token or a JSON list of ``[pid, start time]``.

``census`` prints such a list of all that live. ``all LIST`` kills every process but those of the list, the first one
and this program with its parents. ``one TOKEN`` asks the ``run`` program with that token to end what it started. Ends
with 0 when they are gone, with 1 when one does not die.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 10.0
"""Seconds within which a killed process must be gone."""
CLEAN_LOOKS = 2


def alive() -> dict[int, tuple[int, int]]:
    """Parent and start time by process, of all that are no zombies."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (place / "stat").read_bytes().rpartition(b")")[2].split()
            if fields[0] not in {b"Z", b"X"}:
                found[int(place.name)] = int(fields[1]), int(fields[19])
    return found


def own_line(known: dict[int, tuple[int, int]]) -> set[int]:
    """This process, its parents, and the first process."""
    line, pid = {1, os.getpid()}, os.getpid()
    while pid in known and (pid := known[pid][0]) not in line:
        line.add(pid)
    return line


def kill_all(spared: set[tuple[int, int]]) -> bool:
    """Whether all died; stopped first, so that none can start another meanwhile."""
    end = time.monotonic() + PATIENCE
    clean = 0
    while time.monotonic() < end:
        known = alive()
        line = own_line(known)
        doomed = [pid for pid, (_, start) in known.items() if pid not in line and (pid, start) not in spared]
        # A look is no instant: what forked and ended behind it is seen by the next.
        clean = 0 if doomed else clean + 1
        if clean == CLEAN_LOOKS:
            return True
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in doomed:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        time.sleep(0.01)
    return False


def end_one(token: str) -> bool:
    """Whether the ``run`` program with that token is gone; it ends what it started first."""
    end = time.monotonic() + PATIENCE
    while found := carriers(token.encode()):
        if time.monotonic() > end:
            return False
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
        time.sleep(0.01)
    return True


def carriers(token: bytes) -> list[int]:
    """Processes that have ``token`` as an argument of its own, without this one."""
    found = []
    for pid in alive():
        with suppress(OSError):
            if pid != os.getpid() and token in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found


def main() -> int:
    """The program: see the module's docstring."""
    if sys.argv[1] == "census":
        sys.stdout.write(json.dumps([[pid, start] for pid, (_, start) in alive().items()]))
        return 0
    if sys.argv[1] == "all":
        return 0 if kill_all({(pid, start) for pid, start in json.loads(sys.argv[2])}) else 1
    return 0 if end_one(sys.argv[2]) else 1


if __name__ == "__main__":
    sys.exit(main())
