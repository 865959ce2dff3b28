"""Knocks at every door of the network that is there, and names what lies behind it. Prints JSON.

Usage: knock.py PORT, at which plant.py made this trial listen: its own doors are left out.
"""

# ruff: noqa: T201 - what it prints is what the test reads
from __future__ import annotations

import errno
import json
import socket
import sys
from pathlib import Path

OUTSIDE = ("10.0.0.1", "169.254.169.254", "192.0.2.1", "1.1.1.1")


def answers(host: str, port: int, timeout: float = 1.0) -> bool:
    """Whether somebody listens; a socket that the kernel connected to itself is nobody."""
    with socket.socket() as tried:
        tried.settimeout(timeout)
        return tried.connect_ex((host, port)) == 0 and tried.getsockname() != tried.getpeername()


def reach(host: str, port: int) -> str:
    """What the kernel says of a way out."""
    with socket.socket() as tried:
        tried.settimeout(1)
        return errno.errorcode.get(tried.connect_ex((host, port)), "connected")


own = int(sys.argv[1])
ports = [port for port in range(1, 65536) if answers("127.0.0.1", port)]
devices = Path("/proc/self/net/dev").read_text().splitlines()
sockets = Path("/proc/self/net/unix").read_text().splitlines()
print(
    json.dumps(
        {
            "ports": [port for port in ports if port not in {own, own + 10}],
            "own": own in ports,
            "interfaces": sorted(line.split(":")[0].strip() for line in devices if ":" in line),
            "sockets": [line.split()[-1] for line in sockets if "@" in line],
            "outside": [reach(host, 80) for host in OUTSIDE],
            "markers": sorted(path.name for path in Path("/tmp").glob("kw7zq*")),
        }
    )
)
