"""One event loop, on a thread of its own, that does the waiting for all sandboxes.

Sandboxes are used from several loops at once (Harbor's and the gateway's), and pipes outlive the command they
were made for. So what waits lives here, and callers wait for it from wherever they are.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, Final

__all__ = ["complete"]

_LOCK: Final = threading.Lock()
_STATE: dict[str, asyncio.AbstractEventLoop] = {}


def _shut_down(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def _loop() -> asyncio.AbstractEventLoop:
    with _LOCK:
        loop = _STATE.get("loop")
        if loop is None:
            loop = _STATE["loop"] = asyncio.new_event_loop()
            thread = threading.Thread(target=loop.run_forever, name="sandboxes", daemon=True)
            thread.start()
            atexit.register(_shut_down, loop, thread)
        return loop


async def complete[T](work: Coroutine[Any, Any, T]) -> T:
    """Await ``work`` on the sandboxes' loop, from any loop.

    A cancellation of the caller is handed to ``work`` and returns only when ``work`` has ended: a command whose
    waiter was cancelled is dead by then. A second one no longer waits.
    """
    loop = _loop()
    outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
    tasks: list[asyncio.Task[T]] = []

    def finish(task: asyncio.Task[T]) -> None:
        if task.cancelled():
            outcome.cancel()
        elif error := task.exception():
            outcome.set_exception(error)
        else:
            outcome.set_result(task.result())

    def begin() -> None:
        task = loop.create_task(work)
        tasks.append(task)
        task.add_done_callback(finish)

    def cancel() -> None:
        tasks[0].cancel()

    loop.call_soon_threadsafe(begin)
    waiter = asyncio.wrap_future(outcome)
    try:
        await asyncio.wait([waiter])
    except asyncio.CancelledError:
        loop.call_soon_threadsafe(cancel)
        await asyncio.wait([waiter])
        if not waiter.cancelled():
            waiter.exception()
        raise
    return waiter.result()
