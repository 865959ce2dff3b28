"""What several tables need of the same trials is computed once, for as long as the trials are there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from weakref import ref

from fourhands.analysis.study import Study
from fourhands.analysis.tidy import Tables

__all__ = ["kept"]


def kept[T](compute: Callable[[Study], T]) -> Callable[[Study], T]:
    """Keep what ``compute`` makes of a study's tables while these live: it must depend on nothing else.

    Frames cannot be hashed, so a study's tables are known by their identity.
    """
    found: dict[int, tuple[ref[Tables], T]] = {}

    @wraps(compute)
    def of(study: Study) -> T:
        key = id(study.tables)
        known = found.get(key)
        if known is None or known[0]() is not study.tables:
            known = ref(study.tables, lambda _: found.pop(key, None)), compute(study)
            found[key] = known
        return known[1]

    return of
