"""How a server of the benchmarks says that it is ready, and when it ends."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping

__all__ = ["stand"]


async def stand(ready: Mapping[str, object]) -> None:
    """Print ``ready`` as a line of JSON, then wait until standard input ends."""
    sys.stdout.write(json.dumps(ready) + "\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
