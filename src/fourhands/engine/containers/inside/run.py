"""Run a program with bytes in and out where only text passes, and end all it started when it is out of time.

``argv``: a token, then the request: Base64, or ``@`` and the path of a file that holds it (and is removed). A request
is ``u32`` length, JSON (``argv``, ``cwd``, ``env``, ``timeout``, ``limit``; texts carry bytes by surrogate escapes),
then standard input; all deflated. The answer has the same form (``code``, ``timed_out``, ``sizes``, ``split``, then
both streams) and stands on standard output between two tokens: ``=`` and Base64, or ``@`` when it is long and
waits in ``/tmp/.TOKEN``. SIGTERM ends the program and all it started, without an answer.
"""

from __future__ import annotations

import base64
import ctypes
import json
import os
import selectors
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

GRACE = 0.1  # seconds a command's pipes may stay open after it: a daemon may hold them for ever
CHUNK = 1 << 16
CLEAN_LOOKS = 2
LONGEST_SAID = 1 << 18
SUBREAPER = 36
OUT_OF_TIME = 124
NOT_FOUND = 127
NOT_EXECUTABLE = 126
SIGNALLED = 128


class Stream:
    """One pipe of the program: the first ``limit`` bytes, and how many there were."""

    def __init__(self, limit: int) -> None:
        """Open the pipe."""
        self.read_end, self.write_end = os.pipe()
        self.limit = limit
        self.kept = bytearray()
        self.size = 0

    def read(self) -> bool:
        """Take what is there; whether more may come."""
        data = os.read(self.read_end, CHUNK)
        self.size += len(data)
        self.kept += data[: max(0, self.limit - len(self.kept))]
        return bool(data)


class Run:
    """A program under way."""

    def __init__(self, streams: list[Stream]) -> None:
        """Nothing is started yet."""
        self.streams = streams
        self.selector = selectors.DefaultSelector()
        self.must_end = False
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, request: dict[str, Any], stdin: bytes) -> None:
        """Start the program. Raises OSError when it cannot be."""
        wake_up, woken = os.pipe()
        for end in (wake_up, woken):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self.end)
        self.selector.register(wake_up, selectors.EVENT_READ, lambda: bool(os.read(wake_up, CHUNK)))
        with tempfile.TemporaryFile() as source:
            source.write(stdin)
            source.seek(0)
            self.process = subprocess.Popen(
                [os.fsencode(part) for part in request["argv"]],
                stdin=source,
                stdout=self.streams[0].write_end,
                stderr=self.streams[1].write_end,
                cwd=os.fsencode(request["cwd"]),
                env={**environment(), **{os.fsencode(k): os.fsencode(v) for k, v in request["env"].items()}},
                start_new_session=True,
            )

    def end(self, *_: object) -> None:
        """Let all that was started be killed."""
        self.must_end = True

    def watch(self, timeout: float | None) -> tuple[int, bool]:
        """Wait for the exit code and whether the program was out of time; then a moment for its pipes."""
        assert self.process
        for stream in self.streams:
            os.close(stream.write_end)
            self.selector.register(stream.read_end, selectors.EVENT_READ, stream.read)
        deadline = None if timeout is None else time.monotonic() + timeout
        timed_out = False
        while self.process.poll() is None:
            if deadline is not None and time.monotonic() >= deadline:
                timed_out = True
            if timed_out or self.must_end:
                end_descendants()
                break
            self.read_until(deadline)
        grace = time.monotonic() + GRACE
        while self.open_ends() and time.monotonic() < grace:
            self.read_until(grace)
        code = self.process.wait()
        if self.must_end:
            sys.exit(SIGNALLED + signal.SIGTERM)
        return (OUT_OF_TIME if timed_out else code if code >= 0 else SIGNALLED - code), timed_out

    def read_until(self, deadline: float | None) -> None:
        """Take what pipes hold, or wait for something to happen."""
        wait = None if deadline is None else max(0.0, deadline - time.monotonic())
        for key, _ in self.selector.select(wait):
            if not key.data():
                self.selector.unregister(key.fd)

    def open_ends(self) -> list[int]:
        """Read ends that a process still holds the other end of."""
        ends = {stream.read_end for stream in self.streams}
        return [fd for fd in self.selector.get_map() if fd in ends]

    def leave_a_drain(self) -> None:
        """Let a process of its own read on what daemons write, so that none is killed or stopped by its pipe."""
        if not self.open_ends() or os.fork():
            return
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nowhere, descriptor)
        for stream in self.streams:
            stream.limit = 0
        while self.open_ends():
            self.read_until(None)
        os._exit(0)


def environment() -> dict[bytes, bytes]:
    """The environment as it was given, before the interpreter added to it."""
    given = Path("/proc/self/environ").read_bytes()
    return {name: value for name, _, value in (pair.partition(b"=") for pair in given.split(b"\0") if pair)}


def parents() -> dict[int, int]:
    """Parent by process, of all that are alive."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent = (place / "stat").read_bytes().rpartition(b")")[2].split()[:2]
            if state not in {b"Z", b"X"}:
                found[int(place.name)] = int(parent)
    return found


def descendants() -> set[int]:
    """All that this process started, directly or not: who loses its parent becomes its child."""
    known, found = parents(), {os.getpid()}
    while more := {pid for pid, parent in known.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def end_descendants() -> None:
    """Kill them all; stopped first, so that none can start another meanwhile."""
    clean = 0
    while clean < CLEAN_LOOKS:
        below = descendants()
        # A look is no instant: what forked and ended behind it is seen by the next.
        clean = 0 if below else clean + 1
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in below:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)
        time.sleep(0.005)


def read_request(text: str) -> tuple[dict[str, Any], bytes]:
    """The request and standard input."""
    if text.startswith("@"):
        place = Path(text[1:])
        packed = place.read_bytes()
        with suppress(OSError):  # another user's
            place.unlink()
    else:
        packed = base64.b64decode(text)
    data = zlib.decompress(packed)
    (size,) = struct.unpack_from(">I", data)
    return json.loads(data[4 : 4 + size]), data[4 + size :]


def say(token: str, answer: dict[str, Any], streams: list[Stream]) -> None:
    """Print the answer, or where it waits."""
    told = json.dumps(answer).encode()
    kept = b"".join(bytes(stream.kept) for stream in streams)
    packed = zlib.compress(struct.pack(">I", len(told)) + told + kept, 1)
    if len(packed) > LONGEST_SAID:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(f"/tmp/.{token}", flags, 0o600), "wb") as stream:  # noqa: S108 - exclusive
            stream.write(packed)
        said = "@"
    else:
        said = "=" + base64.b64encode(packed).decode()
    sys.stdout.write(f"{token}{said}{token}\n")
    sys.stdout.flush()


def main() -> None:
    """The program: see the module's docstring."""
    token = sys.argv[1]
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    request, stdin = read_request(sys.argv[2])
    streams = [Stream(request["limit"]) for _ in range(2)]
    run = Run(streams)
    try:
        run.start(request, stdin)
    except OSError as error:
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        timed_out = False
        streams[1].kept += os.fsencode(f"{os.fsdecode(error.filename or b'')}: {error.strerror}\n")
        streams[1].size = len(streams[1].kept)
    else:
        code, timed_out = run.watch(request["timeout"])
    answer = {
        "code": code,
        "timed_out": timed_out,
        "sizes": [stream.size for stream in streams],
        "split": len(streams[0].kept),
    }
    say(token, answer, streams)
    run.leave_a_drain()


if __name__ == "__main__":
    main()
