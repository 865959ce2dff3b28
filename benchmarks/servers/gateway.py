"""Our gateway in a process of its own, with a seat and a conversation for each of many trials.

``gateway.py UPSTREAM SEATS sandbox|still FOLDER``: in a ``still`` workspace no snapshots are taken.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from standing import stand

sys.path.append(str(Path(__file__).parents[1]))

from fourhands.engine.sandbox import LocalSandbox
from fourhands.gateway.server import Gateway, Seat
from fourhands.gateway.upstream import Upstream
from fourhands.model.sandbox import Sandbox, SandboxSpec
from scene import base_of, open_conversation
from trees import StillTree, grow

_FILES = 50
_TOKEN = "token"


async def main() -> None:
    upstream, seats, workspace, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3], Path(sys.argv[4])
    repository, base = folder / "repository", folder / "base.git"
    grow(repository, _FILES)
    tree = base_of(repository, base)
    gateway = Gateway()
    gateway.start()
    urls = []
    async with AsyncExitStack() as stack:
        for number in range(seats):
            sandbox: Sandbox = StillTree()
            if workspace == "sandbox":
                local = LocalSandbox(SandboxSpec(repository), folder / "sandboxes")
                sandbox = await stack.enter_async_context(local)
            opening = open_conversation(folder / f"trial-{number}", base=base, tree=tree, sandbox=sandbox)
            conversation = await gateway.call(opening)
            listener = socket.create_server(("127.0.0.1", 0))
            await gateway.seat(Seat(_TOKEN, conversation, Upstream(upstream, "m", "key")), listener)
            urls.append(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        await stand({"urls": urls, "token": _TOKEN})
    await asyncio.to_thread(gateway.close)


asyncio.run(main())
