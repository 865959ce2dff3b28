"""Leaves things inside that a search must find, and that the trial beside this one must not: marks and listeners.

Usage: plant.py MARK PORT. MARK comes in hexadecimal, so that the command line does not hold what is planted.
"""

# ruff: noqa: T201 - what it prints is what the test reads
from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
import time
import zlib
from pathlib import Path

MARK = bytes.fromhex(sys.argv[1])
PORT = int(sys.argv[2])
ADD_KEY = {"x86_64": 248, "aarch64": 217}[os.uname().machine]
SESSION_KEYRING = -3

for place in (
    "/tmp",
    "/dev/shm",
    "/var/tmp",
    "/home/agent",
    "/logs/agent",
    "/tests",
    "/solution",
    "/testbed",
):
    try:
        Path(place, "planted").write_bytes(MARK)
        Path(place, "planted.zlib").write_bytes(zlib.compress(MARK))
        Path(place, MARK.decode()).touch()
    except OSError:
        print("not writable:", place)
hashed = ["git", "-C", "/testbed", "hash-object", "-w", "--stdin"]
subprocess.run(hashed, input=b"in git: " + MARK, check=True, stdout=subprocess.DEVNULL)
ctypes.CDLL(None).syscall(ADD_KEY, b"user", MARK, MARK, len(MARK), SESSION_KEYRING)

if os.fork() == 0:
    os.setsid()
    os.environ["PLANTED"] = MARK.decode()
    for stream in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    tcp = socket.create_server(("127.0.0.1", PORT))
    every = socket.create_server(("0.0.0.0", PORT + 10))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(b"\0" + MARK)
    abstract.listen()
    os.execvpe("sleep", ["sleep", "600"], os.environ) if os.fork() == 0 else time.sleep(600)
print("planted")
