"""A provider that plays a judge, in a thread of its own, in one of several manners."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

Answer = Callable[[list[str], str], str | web.Response]
"""Ids of the rubric and the text that is judged -> the reply's words, or a whole response."""
Reader = Callable[[str], tuple[list[str], str]]
"""What is asked -> the first two: see `shown`."""


def good(ids: list[str], text: str) -> str:
    """1 for all where there is anything, each with the first line that was written."""
    quotes = _written(text)[:1]
    return _reply([{"id": name, "score": 1 if quotes else 0, "quotes": quotes} for name in ids])


def constant(ids: list[str], text: str) -> str:
    """0.7 for all, quoting the first line, whatever it is."""
    return _reply([{"id": name, "score": 0.7, "quotes": _written(text)[:1]} for name in ids])


def invents(ids: list[str], text: str) -> str:
    """As `good`, but what shows the first point stands nowhere."""
    scores = json.loads(good(ids, text))["scores"]
    scores[0].update(score=1, quotes=["def this_stands_nowhere():"])
    return _reply(scores)


def chatters(ids: list[str], text: str) -> str:
    """No JSON at all."""
    return f"I looked at {len(text)} characters and {len(ids)} points. Nice work!"


def breaks_down(ids: list[str], text: str) -> web.Response:
    """A provider that is down."""
    del ids, text
    return web.json_response({"error": {"message": "out of order"}}, status=500)


def in_turn(*answers: Answer) -> Answer:
    """One after the other, once each."""
    left = iter(answers)

    def answer(ids: list[str], text: str) -> str | web.Response:
        return next(left)(ids, text)

    return answer


def _written(text: str) -> list[str]:
    if text == "(nothing)":
        return []
    if "@@" not in text:
        return [line for line in text.splitlines() if len(line) > 8]
    lines = text.partition("@@")[2].splitlines()
    return [line[1:] for line in lines if line.startswith("+") and len(line) > 8 and line[:3] != "+++"]


def _reply(scores: list[dict[str, Any]]) -> str:
    return json.dumps({"scores": scores})


class JudgeServer:
    """``asked`` are the messages of every request, ``keys`` what they were authorized with."""

    def __init__(self, answer: Answer, read: Reader) -> None:
        self.answer = answer
        self.read = read
        self.asked: list[list[dict[str, str]]] = []
        self.keys: list[str] = []
        self.address = ""

    async def handle(self, request: web.Request) -> web.Response:
        messages = (await request.json())["messages"]
        self.asked.append(messages)
        self.keys.append(request.headers.get("Authorization", ""))
        ids, text = self.read(messages[1]["content"])
        reply = await asyncio.to_thread(self.answer, ids, text)
        if isinstance(reply, web.Response):
            return reply
        message = {"role": "assistant", "content": reply}
        return web.json_response(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
            }
        )


def shown(content: str) -> tuple[list[str], str]:
    """The ids of the rubric in a request, and the text between the marks."""
    rubric, _, rest = content.partition("</rubric>")
    match = re.fullmatch(r"\s*<((?:plan|diff)-[0-9a-f]{12})>\n(.*)\n</\1>", rest, re.DOTALL)
    assert match, content
    return re.findall(r"^([\w-]+): ", rubric, re.MULTILINE), match[2]


@contextmanager
def judge_server(answer: Answer, read: Reader = shown) -> Iterator[JudgeServer]:
    """A server that answers so; it can be told to answer otherwise."""
    server = JudgeServer(answer, read)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def start() -> web.AppRunner:
        app = web.Application(client_max_size=1 << 24)
        app.router.add_post("/v1/chat/completions", server.handle)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        return runner

    runner = asyncio.run_coroutine_threadsafe(start(), loop).result()
    server.address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
