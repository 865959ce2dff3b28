"""A model that streams: the same reply to every request, in chunks, at a steady pace. Ends with its standard input.

``provider.py CHUNKS MILLISECONDS``: so many pieces of text, with so much time between two.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count

import orjson
from aiohttp import web
from standing import stand

_FRAME = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
_COMMAND = orjson.dumps({"command": "sed -n '1,40p' package_0/part_0/module_3.py"}).decode()


async def main() -> None:
    chunks, pause = int(sys.argv[1]), float(sys.argv[2]) / 1000
    calls = count(1)

    async def complete(request: web.Request) -> web.StreamResponse:
        body = orjson.loads(await request.read())
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)

        async def say(delta: dict[str, object], finish: str | None = None) -> None:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            await response.write(b"data: " + orjson.dumps({**_FRAME, "choices": [choice]}) + b"\n\n")

        await say({"role": "assistant", "content": ""})
        for number in range(chunks):
            await say({"content": f"word {number} "})
            await asyncio.sleep(pause)
        function = {"name": "bash", "arguments": _COMMAND}
        call = {"index": 0, "id": f"call_{next(calls)}", "type": "function", "function": function}
        await say({"tool_calls": [call]})
        await say({}, "tool_calls")
        if (body.get("stream_options") or {}).get("include_usage"):
            usage = {"prompt_tokens": 1000, "completion_tokens": chunks, "total_tokens": 1000 + chunks}
            await response.write(
                b"data: " + orjson.dumps({**_FRAME, "choices": [], "usage": usage}) + b"\n\n"
            )
        await response.write(b"data: [DONE]\n\n")
        return response

    app = web.Application(client_max_size=1 << 28)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await stand({"url": f"http://127.0.0.1:{runner.addresses[0][1]}/v1"})
    await runner.cleanup()


asyncio.run(main())
