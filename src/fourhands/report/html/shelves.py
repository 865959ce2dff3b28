"""Trials' stories, written by all processors onto shelves: files that a page loads one by one, or holds itself.

A shelf is named by all that its text follows from, so one that is there from an earlier report is as good as new.
"""

from __future__ import annotations

import base64
import hashlib
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import batched
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fourhands.report.code_digest import code_digest
from fourhands.report.pool import in_batches
from fourhands.report.record_stamp import record_stamp
from fourhands.trajectories.run_folder import Attempt

if TYPE_CHECKING:
    from fourhands.report.story import Contents

__all__ = ["PER_SHELF", "Shelf", "find_shelves", "packed_text", "write_shelves"]

PER_SHELF: Final = 20
"""Stories of a shelf, but for the last one: so many load at once without being noticed."""
_ALONE: Final = 3
"""Up to so many shelves, starting other processes costs more than it saves."""
_CODE: Final = ("analysis", "language", "model", "report", "touch", "trajectories", "workspace")


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where the stories of some attempts stand, in their order: in ``NAME.js`` of a folder."""

    name: str
    attempts: tuple[Path, ...]

    def path(self, folder: Path) -> Path:
        """The file."""
        return folder / f"{self.name}.js"


@dataclass(frozen=True, slots=True)
class _Work:
    shelf: Shelf
    folder: Path


def find_shelves(attempts: Sequence[Path]) -> tuple[Shelf, ...]:
    """The shelves on which the stories of these attempts belong, `PER_SHELF` on each."""
    return tuple(Shelf(_name(some), some) for some in batched(attempts, PER_SHELF))


def write_shelves(
    shelves: Sequence[Shelf], folder: Path, done: Callable[[int], None] = lambda _: None
) -> None:
    """Tell the stories, and write the shelves into ``folder``, which is there, each whole or not at all.

    Each file calls one function with the shelf's name and its text, compressed.

    Args:
        shelves: which.
        folder: where.
        done: is told of how many stories there is an end, now and then; a few too many on the last shelf.
    """
    work = [_Work(shelf, folder) for shelf in shelves]
    for _ in in_batches(_write, work, done=lambda count: done(count * PER_SHELF), batch=1, alone=_ALONE):
        pass


def packed_text(path: Path) -> str:
    """What a shelf holds: a JSON array of stories, by zlib, in base 64."""
    return path.read_text("ascii").split('"')[3]


def _write(batch: tuple[_Work, ...]) -> None:
    from fourhands.report.story import story_bytes, story_of  # noqa: PLC0415 - heavy, and only this needs it

    for work in batch:
        stories = (story_bytes(story_of(Attempt(path), shared=_contents())) for path in work.shelf.attempts)
        packed = base64.b64encode(zlib.compress(b"[" + b",".join(stories) + b"]", 1))
        call = b'fourhandsShelf("%b","%b")\n' % (work.shelf.name.encode(), packed)
        path = work.shelf.path(work.folder)
        half = path.with_name(f".{path.name}.{os.getpid()}")
        half.write_bytes(call)
        half.replace(path)  # a page that is open meets the whole shelf, or none


@cache
def _contents() -> Contents:
    """What the stories that one process tells have in common: the files of their tasks."""
    from fourhands.report.story import Contents  # noqa: PLC0415 - as above

    return Contents()


def _name(attempts: Sequence[Path]) -> str:
    told = hashlib.sha256(code_digest(*_CODE).encode())
    for attempt in attempts:
        told.update(
            f"{attempt.parent.name}/{attempt.name} {record_stamp(Attempt(attempt))}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
    return told.hexdigest()[:20]
