"""An MCP server on standard input and output that passes requests on to the one behind a URL. Runs inside.

The standard library only, Python 3.9 or later. Where and as whom stands in ASK_THE_USER_URL and
ASK_THE_USER_TOKEN, or in two lines of the file ``.ask-the-user`` beside this one: agents clean the environment of
the servers that they start. The server behind the URL keeps no state: only requests concern it.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PARSE_ERROR = -32700
NO_ANSWER = -32000
OK = 200


class Relay:
    """Each request has a connection and a thread of its own: a user may think while another question is asked."""

    def __init__(self, url: str, token: str) -> None:
        """Nothing is sent yet."""
        self._host = urlsplit(url).netloc
        self._headers = {
            "authorization": f"Bearer {token}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
        }
        self._open: dict[Any, http.client.HTTPConnection] = {}
        self._writing = threading.Lock()

    def take(self, line: bytes) -> None:
        """Take in one message of the client's."""
        try:
            message = json.loads(line)
        except ValueError:
            self._refuse(None, PARSE_ERROR, "not JSON")
            return
        if not isinstance(message, dict):
            self._refuse(None, PARSE_ERROR, "not one message")
        elif message.get("method") == "notifications/cancelled":
            self._hang_up(message.get("params", {}).get("requestId"))
        elif "method" in message and "id" in message:
            # Without a time-out: a user may take an hour.
            self._open[message["id"]] = http.client.HTTPConnection(self._host)
            threading.Thread(target=self._exchange, args=(message["id"], line), daemon=True).start()

    def _exchange(self, number: Any, line: bytes) -> None:
        connection = self._open[number]
        problem = "the answer was cut off"
        answered = False
        try:
            connection.request("POST", "/mcp", line, self._headers)
            response = connection.getresponse()
            if response.status != OK:
                problem = f"{response.status} {response.read().decode(errors='replace')}"
            else:
                for message in _messages(response):
                    answered = answered or message.get("id") == number
                    self._note_version(message)
                    self._write(message)
        except (OSError, ValueError, http.client.HTTPException) as error:
            problem = repr(error)
        finally:
            connection.close()
        # One that is no longer open was cancelled: then nothing may be said any more.
        if self._open.pop(number, None) and not answered:
            self._refuse(number, NO_ANSWER, f"nobody answers: {problem}")

    def _note_version(self, message: dict[str, Any]) -> None:
        """What was agreed on with `initialize` is named in every later request."""
        result = message.get("result")
        if isinstance(result, dict) and "protocolVersion" in result:
            self._headers = {**self._headers, "mcp-protocol-version": str(result["protocolVersion"])}

    def _hang_up(self, number: Any) -> None:
        connection = self._open.pop(number, None)
        if connection is not None and connection.sock is not None:
            with suppress(OSError):  # its end may have come by itself
                connection.sock.shutdown(socket.SHUT_RDWR)

    def _refuse(self, number: Any, code: int, why: str) -> None:
        self._write({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": why}})

    def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        with self._writing, suppress(BrokenPipeError):  # a client that is gone closes our input, too
            while data:
                data = data[os.write(1, data) :]


def _messages(response: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """What a response says, whole or as a stream of events."""
    if "text/event-stream" not in response.headers.get("content-type", ""):
        yield json.loads(response.read())
        return
    data = b""
    for raw in response:
        line = raw.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            data += line[len(b"data:") :]
        elif not line and data:
            yield json.loads(data)
            data = b""


def settings() -> list[str]:
    """URL and token."""
    named = [os.environ.get("ASK_THE_USER_URL", ""), os.environ.get("ASK_THE_USER_TOKEN", "")]
    return named if all(named) else Path(__file__).with_name(".ask-the-user").read_text().splitlines()


if __name__ == "__main__":
    RELAY = Relay(*settings())
    for LINE in sys.stdin.buffer:
        if LINE.strip():
            RELAY.take(LINE)
