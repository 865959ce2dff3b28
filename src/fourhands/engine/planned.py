"""What a plan names, as it is on this machine now."""

from __future__ import annotations

from fourhands.model.errors import InputError
from fourhands.tasks.folder import Task, load_task
from fourhands.trajectories.run_folder import Plan, RunFolder

__all__ = ["unchanged_task"]


def unchanged_task(folder: RunFolder, plan: Plan, name: str, *, otherwise: str = "") -> Task:
    """A task of the plan, loaded; ``otherwise`` is what else there is to do about one that has changed.

    Raises:
        InputError: it is not what it was when the run was planned.
    """
    planned = plan.task(name)
    task = load_task(planned.path)
    if task.digest != planned.digest:
        raise InputError(
            f"{planned.path}: the task has changed since {folder.path} was planned: bring it back as it was"
            f"{otherwise}"
        )
    return task
