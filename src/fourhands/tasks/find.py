"""Find tasks by what a person calls them: a bundled name, a real instance id, or a folder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fourhands.model.errors import InputError
from fourhands.tasks.folder import load_task
from fourhands.tasks.real import generate, real_tasks

__all__ = ["KnownTask", "bundled_tasks", "find_tasks", "list_known"]


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A task that has a name of its own."""

    name: str
    kind: Literal["bundled", "real"]
    title: str
    licence: str


def bundled_tasks() -> dict[str, Path]:
    """Folders of the bundled tasks by name: those in the installed package, else those of the checkout."""
    package = Path(__file__).resolve().parents[1]
    for root in (package / "bundled", package.parents[1] / "tasks"):
        found = {path.parent.name: path.parent for path in sorted(root.glob("*/task.toml"))}
        if found:
            return found
    return {}


def list_known() -> list[KnownTask]:
    """Every task that can be run by name, bundled ones first; nothing is fetched or built."""
    bundled = [load_task(folder) for folder in bundled_tasks().values()]
    return [
        *(KnownTask(task.name, "bundled", task.title, task.licence) for task in bundled),
        *(KnownTask(name, "real", task.title, task.licence) for name, task in real_tasks().items()),
    ]


def find_tasks(names: Iterable[str]) -> list[Path]:
    """The folders of ``names``, in order; a real task is generated if it is not there yet.

    A folder that holds ``task.toml`` is one task; one that holds such folders is all of them.

    Raises:
        InputError: a name is none of these; says which names there are.
        MissingError: a real task needs data that is not on this machine.
    """
    return [folder for name in names for folder in _find(name)]


def _find(name: str) -> list[Path]:
    bundled = bundled_tasks()
    if name in bundled:
        return [bundled[name]]
    if name in real_tasks():
        return [generate(name)]
    folder = Path(name).expanduser()
    if (folder / "task.toml").is_file():
        return [folder.absolute()]
    inner = [path.parent.absolute() for path in sorted(folder.glob("*/task.toml"))]
    if inner:
        return inner
    raise InputError(
        f"{name!r} is no task: give the path of a folder with task.toml, a bundled task "
        f"({', '.join(bundled) or 'none here'}) or a real one ({', '.join(real_tasks())})"
    )
