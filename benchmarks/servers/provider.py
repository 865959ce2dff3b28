"""A model that streams: the same reply to every request, in pieces, at a steady pace. Ends with its standard input.

``provider.py PIECES MILLISECONDS``: so many pieces of text, with so much time between two.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count

import orjson
from aiohttp import web
from frames import FRAMES
from standing import stand


async def main() -> None:
    words = [f"word {number} " for number in range(int(sys.argv[1]))]
    pause = float(sys.argv[2]) / 1000
    calls = count(1)

    async def answer(request: web.Request) -> web.StreamResponse:
        body = orjson.loads(await request.read())
        frames = FRAMES[request.match_info["api"]](next(calls), words, body)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(frames.opening)
        for piece in frames.pieces:
            await response.write(piece)
            await asyncio.sleep(pause)
        await response.write(frames.ending)
        return response

    app = web.Application(client_max_size=1 << 28)
    app.router.add_post("/v1/{api:.+}", answer)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await stand({"url": f"http://127.0.0.1:{runner.addresses[0][1]}/v1"})
    await runner.cleanup()


asyncio.run(main())
