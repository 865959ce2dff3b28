"""An attempt on disk -> its record as a text for a reader, with its changes as diffs."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence

from fourhands.engine.session import base_objects
from fourhands.judge.audit.record_text import RECORD_BUDGET, Difference, RecordText, record_text
from fourhands.model.errors import FourhandsError
from fourhands.model.event import Event
from fourhands.tasks.folder import Task
from fourhands.tasks.repository import base_repository
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.run_folder import Attempt
from fourhands.workspace.reading import readable_diff
from fourhands.workspace.store import ObjectStore

__all__ = ["attempt_text", "blob_reader"]


def attempt_text(
    attempt: Attempt, task: Task, *, budget: int = RECORD_BUDGET, events: Sequence[Event] | None = None
) -> RecordText:
    """The record of an attempt, in at most ``budget`` characters.

    Args:
        attempt: that has ended.
        task: what it was an attempt at, unchanged.
        budget: see `record_text`.
        events: of the attempt, where they have been read already.

    Raises:
        FourhandsError: the task's repository cannot be made here.
    """
    return record_text(
        attempt.read().events if events is None else events,
        blob_reader(attempt.blobs),
        budget=budget,
        difference=_difference(attempt, task) if attempt.objects_path.is_dir() else None,
        instruction=task.instruction,
    )


def blob_reader(blobs: BlobStore) -> Callable[[str], bytes]:
    """What reads a blob by its hash: nothing, where it is gone or spoiled."""

    def read(digest: str) -> bytes:
        try:
            return blobs.get(digest)
        except (OSError, zlib.error):
            return b""

    return read


def _difference(attempt: Attempt, task: Task) -> Difference:
    objects, _ = base_objects(base_repository(task))
    store = ObjectStore(attempt.objects_path, base=objects)  # its base lies where this machine keeps it

    def difference(old: str, new: str) -> str:
        try:
            return readable_diff(store, old, new)
        except FourhandsError:
            return "(its objects are not there any more)"

    return difference
