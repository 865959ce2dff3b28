"""Verdicts by content: what has been verified once is never verified again, in any run."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fourhands.engine.verification import verify
from fourhands.model.outcome import Verdict
from fourhands.tasks.cache import cache_root, write_whole
from fourhands.tasks.folder import Task
from fourhands.tasks.testrun import verdict_key
from fourhands.workspace.store import ObjectStore

__all__ = ["KnownVerdict", "Verdicts"]


@dataclass(frozen=True, slots=True)
class KnownVerdict:
    """A verdict, its key, how long the tests took when they ran, and whether that was before.

    ``timed_out``: they were stopped, so an unresolved verdict may be this machine's doing.
    """

    key: str
    verdict: Verdict
    seconds: float
    cached: bool
    timed_out: bool = False


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    verdict: Verdict
    seconds: float


class Verdicts:
    """Verifies states of tasks; equal ones that are asked for at the same time are verified once."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def of(self, task: Task, store: ObjectStore, base_tree: str, tree: str) -> KnownVerdict:
        """The verdict on ``tree``. Tests that ran out of time are not remembered: the machine may be to blame.

        Raises:
            FourhandsError: the environment cannot be prepared, or the sandbox failed.
        """
        key = verdict_key(tree, task)
        path = cache_root() / "verdicts" / f"{key}.json"
        async with self._locks[key]:
            if entry := _read(path):
                return KnownVerdict(key, entry.verdict, entry.seconds, cached=True)
            found = await verify(task, store, base_tree, tree)
            entry = _Entry(verdict=found.verdict, seconds=round(found.report.seconds, 2))
            timed_out = found.report.timed_out
            if not timed_out:
                write_whole(path, entry.model_dump_json(by_alias=True).encode())
            return KnownVerdict(key, entry.verdict, entry.seconds, cached=False, timed_out=timed_out)


def _read(path: Path) -> _Entry | None:
    try:
        return _Entry.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):  # one that is spoiled is made anew
        return None
