"""The same work on many items, by all processors, in order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import batched
from multiprocessing import get_context
from typing import Any, Final

__all__ = ["in_batches"]

_ALONE: Final = 300
"""Up to so many items, starting other processes costs more than it saves."""
_BATCH: Final = 100


def in_batches[Item, Result](
    work: Callable[[tuple[Item, ...]], Result],
    items: Sequence[Item],
    *,
    done: Callable[[int], None] = lambda _: None,
    batch: int = _BATCH,
    alone: int = _ALONE,
) -> Iterator[Result]:
    """What ``work`` makes of each batch of ``items``, in order.

    Args:
        work: a function of a module, for other processes import it; it gets the items of a batch.
        items: what to work on; with what it makes of them it goes from process to process.
        done: is told how many items are done, now and then.
        batch: how many items go together.
        alone: up to so many items are worked on in this process.
    """
    batches = list(batched(items, batch))
    count = 0

    def told(results: Iterator[Result]) -> Iterator[Result]:
        nonlocal count
        for worked, result in zip(batches, results, strict=True):
            count += len(worked)
            done(count)
            yield result

    processors = len(os.sched_getaffinity(0))
    if len(items) <= alone or processors == 1:
        yield from told(map(work, batches))
        return
    context: Any = get_context("spawn")  # polars has threads, which a fork would not survive
    with ProcessPoolExecutor(min(processors, len(batches)), mp_context=context) as pool:
        yield from told(pool.map(work, batches))
