"""Record the results of ``node:test`` by file and names: ``test/a.test.js > suite > test``.

Each file runs in a process of its own, as under ``node --test``. There a child tells its results on its standard
output, where whatever the code under test prints can look like one; here every child has a reporter of ours
(``node_reporter.mjs``) with a key of the child's own, on a channel of its own. The run's key stays in this process,
and a child can speak for no other file than its own.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

NEEDS = ("subprocess",)

REPORTER = ""
"""The text of ``node_reporter.mjs``: the launcher puts it here."""


def signed_records(data: bytes, key: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Records with their numbers, each once; a line that is not signed with ``key`` is nothing."""
    seen = set()
    for line in data.split(b"\n"):
        try:
            outer = json.loads(line)
            number, payload, mac = outer["number"], outer["payload"], outer["mac"]
            wanted = hmac.new(key.encode(), f"{number}:{payload}".encode(), hashlib.sha256).hexdigest()
            if not hmac.compare_digest(wanted.encode(), mac.encode()) or number in seen:
                continue
            record = json.loads(payload)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
        seen.add(number)
        yield number, record


def run_file(file: str) -> tuple[int, bytes, str]:
    """Run one test file; its exit status, what it left on its channel, and the key that signs it."""
    key = secrets.token_hex(32)
    reporter = f"data:text/javascript;base64,{base64.b64encode(REPORTER.encode()).decode()}"
    options = ["--import", reporter, "--test-reporter", reporter, "--test-reporter-destination", "stderr"]
    channel = os.memfd_create("results")
    try:
        done = subprocess.run(
            ["node", *options, file],
            input=json.dumps({"key": key, "channel": channel}).encode(),
            stdout=2,
            pass_fds=[channel],
            check=False,
        )
        return done.returncode, os.pread(channel, os.fstat(channel).st_size, 0), key
    finally:
        os.close(channel)


def run(arguments: list[str], emit: Callable[[dict[str, Any]], None], _worst: object) -> int:
    """Run the test files ``arguments``, one after the other; the worst exit status.

    Raises:
        RuntimeError: a file's process ended before its tests did, so that results are missing.
    """
    codes, broken = [0], []
    for file in arguments:
        code, told, key = run_file(file)
        codes.append(abs(code))
        records = dict(signed_records(told, key))
        for record in records.values():
            if "names" in record:
                emit({"id": " > ".join([file, *record["names"]]), "status": record["status"]})
        last = len(records) - 1
        # In order and without a gap: else a result was taken out of the channel.
        if list(records) != list(range(len(records))) or not records or "finished" not in records[last]:
            broken.append(file)
    if broken:
        raise RuntimeError(f"these ended before their tests did: {', '.join(broken)}")
    return max(codes)
