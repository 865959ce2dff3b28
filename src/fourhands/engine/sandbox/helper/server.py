"""The loop that forks one child a request. It reads no request itself, so a child knows only its own."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
from contextlib import suppress
from typing import NoReturn

from . import kernel
from .jobs import JOBS

__all__ = ["MAX_DESCRIPTORS", "serve"]

MAX_DESCRIPTORS = 8


def _handle(word: bytes, descriptors: list[int]) -> NoReturn:
    """Do one job in this process. The first descriptor is the reply socket, the second holds the request."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    reply = socket.socket(fileno=descriptors[0])
    try:
        with os.fdopen(descriptors[1], "rb") as request:
            request.seek(0)
            body = json.load(request)
        JOBS[word](reply, body, descriptors[2:])
    except OSError as error:
        with suppress(OSError):
            reply.send(json.dumps({"error": str(error)}).encode())
    os._exit(0)


def serve(descriptor: int) -> None:
    """Answer requests on ``descriptor`` until the other side is gone."""
    kernel.hide()
    kernel.join_new_keyring()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.chdir("/")
    gc.freeze()  # children that never collect share these pages
    with socket.socket(fileno=descriptor) as control:
        while True:
            word, descriptors, _, _ = socket.recv_fds(control, 16, MAX_DESCRIPTORS)
            if not word:
                return
            for received in descriptors:
                os.set_inheritable(received, False)
            if os.fork() == 0:
                control.close()
                _handle(word, descriptors)
            for received in descriptors:
                os.close(received)
