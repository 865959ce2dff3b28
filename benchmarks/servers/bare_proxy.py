"""The least that a proxy in Python does: a request read whole and sent on, the answer passed back as it comes.

``bare_proxy.py UPSTREAM``. It looks at nothing and records nothing. Ends with its standard input.
"""

from __future__ import annotations

import asyncio
import sys

from aiohttp import ClientSession, TCPConnector, web
from standing import stand


async def main() -> None:
    upstream = sys.argv[1]
    async with ClientSession(connector=TCPConnector(limit=0), auto_decompress=False) as client:

        async def pass_on(request: web.BaseRequest) -> web.StreamResponse:
            url = upstream + request.path.removeprefix("/v1")
            async with client.post(url, data=await request.content.read()) as answer:
                response = web.StreamResponse(headers={"content-type": answer.headers["content-type"]})
                await response.prepare(request)
                async for chunk in answer.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
                return response

        runner = web.ServerRunner(web.Server(pass_on, access_log=None))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        await stand({"url": f"http://127.0.0.1:{runner.addresses[0][1]}/v1"})
        await runner.cleanup()


asyncio.run(main())
