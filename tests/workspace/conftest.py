from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fourhands.model.sandbox import ExecResult
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import REGULAR, Entry, MutableTree


@dataclass(frozen=True)
class HostSandbox:
    """Runs real processes of the host in a folder: all that the workspace asks of a sandbox."""

    root: Path

    @property
    def workdir(self) -> str:
        return str(self.root)

    @property
    def python(self) -> str:
        return sys.executable

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        limit: int = 1 << 30,
    ) -> ExecResult:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=cwd or self.root,
            env=os.environ | dict(env or {}),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )
        out, err = await asyncio.wait_for(process.communicate(stdin), timeout)
        code = process.returncode or 0
        return ExecResult(code, out[:limit], err[:limit], len(out), len(err))

    async def kill_all(self) -> None:
        """Nothing is left running."""


@pytest.fixture
def sandbox(tmp_path: Path) -> HostSandbox:
    (tmp_path / "work").mkdir()
    return HostSandbox(tmp_path / "work")


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return ObjectStore(tmp_path / "store")


@pytest.fixture(scope="session")
def long_store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    """One store for all examples of a property."""
    return ObjectStore(tmp_path_factory.mktemp("objects") / "store")


TreeMaker = Callable[..., str]


@pytest.fixture(scope="session")
def tree_of() -> TreeMaker:
    """``tree_of(store, {"path": b"content"})`` stores a tree of regular files."""

    def make(store: ObjectStore, files: Mapping[str, bytes]) -> str:
        entries = {
            os.fsencode(path): Entry(REGULAR, name)
            for (path, _), name in zip(files.items(), store.put_blobs(files.values()), strict=True)
        }
        return store.write_tree(MutableTree(entries))

    return make
