"""The bundled task whose tests run under Node, laid in a sandbox, for what must not fool its verdict."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fourhands.engine.sandbox import LocalSandbox
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.prepare import prepare
from fourhands.tasks.programs import lacking


def node_task() -> Task:
    """The task; the test is skipped, with the reason, where there is no Node."""
    task = load_task(bundled_tasks()["hours-overnight"])
    if said := lacking(task.programs, task.name):
        pytest.skip(said)
    return task


@asynccontextmanager
async def at_base(task: Task, scratch: Path, files: Mapping[str, str]) -> AsyncIterator[LocalSandbox]:
    """A sandbox with the task's base, unrepaired, and ``files`` over it."""
    async with LocalSandbox(await prepare(task.directory), scratch / "sandboxes") as sandbox:
        for name, text in files.items():
            script = 'mkdir -p "$(dirname "$0")" && cat > "$0"'
            done = await sandbox.run(["/bin/bash", "-c", script, name], stdin=text.encode())
            assert done.code == 0, done.stderr
        yield sandbox


async def prepend(sandbox: LocalSandbox, code: str) -> None:
    """Let ``code`` run when the module under test is imported, which goes on being importable."""
    source = (await sandbox.run(["cat", "src/hours.js"])).stdout.decode()
    done = await sandbox.run(["/bin/bash", "-c", "cat > src/hours.js"], stdin=f"{code}\n{source}".encode())
    assert done.code == 0, done.stderr
