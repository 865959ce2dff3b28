"""Sends requests to the gateway that no agent would, byte for byte, and prints JSON: request -> [status, answer].

Reads JSON from standard input: a list of requests as text, in which TOKEN stands for the trial's own token.
"""

# ruff: noqa: T201 - what it prints is what the test reads
from __future__ import annotations

import contextlib
import json
import os
import socket
import sys


def answer(request: bytes) -> tuple[int, str]:
    """Status (0 for none) and body."""
    received = b""
    with socket.create_connection(("127.0.0.1", 8123), timeout=20) as connection:
        connection.sendall(request)
        with contextlib.suppress(TimeoutError, ConnectionError):
            while chunk := connection.recv(65536):
                received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    words = head.split()
    return int(words[1]) if len(words) > 1 else 0, body.decode(errors="replace")[:120]


token = os.environ["OPENAI_API_KEY"].encode()
requests = json.load(sys.stdin)
print(json.dumps([answer(request.encode("latin-1").replace(b"TOKEN", token)) for request in requests]))
