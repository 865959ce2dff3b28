"""From a task folder to what a sandbox needs of this machine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from fourhands.model.sandbox import SandboxSpec
from fourhands.tasks.environment import python_environment
from fourhands.tasks.folder import load_task
from fourhands.tasks.programs import needed_programs, program_path
from fourhands.tasks.repository import base_repository

__all__ = ["prepare"]


async def prepare(task_dir: Path) -> SandboxSpec:
    """Build, or find in the cache, the repository and the environment of the task in ``task_dir``.

    Any number of tasks and processes may call this at once.

    Raises:
        MissingError: something of it could not be fetched.
        InputError: the task folder is wrong.
    """
    task = await asyncio.to_thread(load_task, task_dir)
    repository, environment = await asyncio.gather(
        asyncio.to_thread(base_repository, task),
        asyncio.to_thread(python_environment, task.requirements, task.interpreter),
    )
    programs = await asyncio.to_thread(needed_programs, task.programs, task.name)
    path = program_path(programs, environment.path)
    return SandboxSpec(
        repository=repository,
        prefixes=(*environment.prefixes, *(program.file for program in programs)),
        env={"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", **task.env, "PATH": path},
    )
