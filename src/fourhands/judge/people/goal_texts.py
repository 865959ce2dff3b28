"""What a goal is read in: the plans and the states of the code of an attempt, without the names of who wrote them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fourhands.engine.session import base_objects
from fourhands.judge.audit.names import name_hider
from fourhands.judge.subjects import subjects
from fourhands.tasks.folder import Task
from fourhands.tasks.repository import base_repository
from fourhands.trajectories.run_folder import Attempt
from fourhands.workspace.store import ObjectStore

__all__ = ["goal_texts"]


def goal_texts(attempt: Attempt, task: Task) -> dict[str, str]:
    """The text of each checkpoint, by its name: of a plan its own, of code the difference from the base.

    Raises:
        InputError: a diff on record does not fit its tree.
        FourhandsError: the task's repository cannot be made here.
    """
    events = attempt.read().events
    objects, _ = base_objects(base_repository(task))
    ObjectStore(attempt.objects_path, base=objects)  # its base lies where this machine keeps it
    hide = name_hider(events)
    with tempfile.TemporaryDirectory() as scratch:
        store = ObjectStore(Path(scratch) / "objects.git", base=attempt.objects_path)
        return {each.state: hide(each.text) for each in subjects(events, attempt.blobs, store, "all")}
