"""Files that are too large, or too many: bounded memory, bounded time, and nothing lost but what is said to be."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.errors import SandboxError
from fourhands.model.sandbox import ExecResult, SandboxSpec
from fourhands.workspace.inside.walk import AT_ONCE, SIZE_CAP
from fourhands.workspace.layout import lay_tree
from fourhands.workspace.snapshot import Snapshotter
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import REGULAR, Entry, MutableTree

from .scene import Base

LEAN: Final = """
import json, os, resource, sys
for name, limit in json.loads(sys.argv[1]).items():
    resource.setrlimit(getattr(resource, name), (limit, limit))
os.execv(sys.argv[2], sys.argv[2:])
"""


class Lean:
    """The sandbox, but every program in it has so much and no more, and no more than ``answer`` bytes to say."""

    def __init__(self, sandbox: LocalSandbox, limits: Mapping[str, int], answer: int = 1 << 30) -> None:
        self._sandbox, self._limits, self._answer = sandbox, json.dumps(limits), answer
        self.workdir, self.python = sandbox.workdir, sandbox.python

    async def run(self, argv: Sequence[str], **options: Any) -> ExecResult:
        lean = [self.python, "-I", "-S", "-c", LEAN, self._limits, *argv]
        return await self._sandbox.run(lean, **options, limit=self._answer)

    async def kill_all(self) -> None:
        await self._sandbox.kill_all()


@pytest.fixture
async def sandbox(base: Base, tmp_path: Path) -> AsyncIterator[LocalSandbox]:
    async with LocalSandbox(SandboxSpec(base.repository), tmp_path / "sandboxes") as started:
        yield started


async def act(sandbox: LocalSandbox, script: str) -> None:
    done = await sandbox.run(["bash", "-ec", script])
    assert done.code == 0, done.stderr


async def test_a_file_of_3_gigabytes_is_told_by_its_size_and_ends_and_never_read_through(
    base: Base, store: ObjectStore, sandbox: LocalSandbox, tmp_path: Path
) -> None:
    snapshotter = Snapshotter(Lean(sandbox, {"RLIMIT_AS": 1 << 28, "RLIMIT_CPU": 2}), store)
    await snapshotter.start(base.tree)
    await act(sandbox, "truncate -s 3G huge")
    found = await snapshotter.take()
    (change,) = found.changes
    assert change.new_blob
    said = store.get_blob(change.new_blob)
    assert said.startswith(b"fourhands placeholder: size 3221225472 sha256 ")
    await act(sandbox, "echo x >> huge")
    (change,) = (await snapshotter.take()).changes
    assert change.new_blob
    assert store.get_blob(change.new_blob) != said

    async with LocalSandbox(SandboxSpec(base.repository), tmp_path / "sandboxes") as fresh:
        await lay_tree(fresh, store, base.tree, found.tree)
        assert (await fresh.run(["cat", "huge"])).stdout == said


async def test_a_huge_file_of_the_base_may_be_there_but_not_be_changed(tmp_path: Path) -> None:
    repository = tmp_path / "r"
    repository.mkdir()
    with (repository / "huge").open("wb") as stream:
        stream.truncate(SIZE_CAP + 1)
    store = ObjectStore(tmp_path / "objects.git")
    tree = store.import_directory(repository)
    async with LocalSandbox(SandboxSpec(repository), tmp_path / "sandboxes") as sandbox:
        snapshotter = Snapshotter(sandbox, store)
        await snapshotter.start(tree)
        await act(sandbox, "echo x > small")
        beside = await snapshotter.take()
        await act(sandbox, "echo x >> huge")
        changed = await snapshotter.take()
    async with LocalSandbox(SandboxSpec(repository), tmp_path / "sandboxes") as fresh:
        await lay_tree(fresh, store, tree, beside.tree)
        assert (await fresh.run(["stat", "-c", "%s", "huge"])).stdout == f"{SIZE_CAP + 1}\n".encode()
        with pytest.raises(SandboxError, match="does not hold the base commit: huge differ"):
            await lay_tree(fresh, store, beside.tree, changed.tree)


async def test_more_than_memory_should_hold_comes_in_several_answers(
    base: Base, store: ObjectStore, sandbox: LocalSandbox
) -> None:
    """Each is shorter than the two limits together, so a file that one has no room for is in the next."""
    snapshotter = Snapshotter(Lean(sandbox, {}, answer=AT_ONCE + SIZE_CAP + 10_000), store)
    await snapshotter.start(base.tree)
    await act(
        sandbox, "for i in 1 2 3 4 5; do head -c 45000000 /dev/zero > f$i; echo $i >> f$i; done; rm run.sh"
    )
    found = await snapshotter.take()
    assert {change.path for change in found.changes} == {"f1", "f2", "f3", "f4", "f5", "run.sh"}
    for change in found.changes[:5]:
        assert change.new_blob
        assert store.get_blob(change.new_blob) == bytes(45_000_000) + f"{change.path[1]}\n".encode()
    assert (await snapshotter.take()).changes == ()


@pytest.mark.slow
async def test_among_a_hundred_thousand_files_those_that_change_are_told(tmp_path: Path) -> None:
    repository, store = tmp_path / "r", ObjectStore(tmp_path / "objects.git")
    empty = Entry(REGULAR, store.put_blob(b""))
    files = {f"d{folder}/{file}.txt": empty for folder in range(100) for file in range(1000)}
    for folder in range(100):
        (repository / f"d{folder}").mkdir(parents=True)
    for name in files:
        (repository / name).touch()
    tree = store.write_tree(MutableTree({name.encode(): entry for name, entry in files.items()}))
    async with LocalSandbox(SandboxSpec(repository), tmp_path / "sandboxes") as sandbox:
        snapshotter = Snapshotter(sandbox, store)
        assert (await snapshotter.start(tree)).changes == ()
        await act(sandbox, "echo x > d7/7.txt; rm d8/8.txt; echo new > d9/new.txt")
        found = await snapshotter.take()
    assert [change.path for change in found.changes] == ["d7/7.txt", "d8/8.txt", "d9/new.txt"]


async def test_more_new_files_than_a_program_may_open_are_laid(
    base: Base, store: ObjectStore, sandbox: LocalSandbox, tmp_path: Path
) -> None:
    snapshotter = Snapshotter(sandbox, store)
    await snapshotter.start(base.tree)
    await act(sandbox, "for i in {1..300}; do mkdir -p new/$i; echo $i > new/$i/f; echo x > new/$i/g; done")
    found = await snapshotter.take()
    async with LocalSandbox(SandboxSpec(base.repository), tmp_path / "sandboxes") as fresh:
        await lay_tree(Lean(fresh, {"RLIMIT_NOFILE": 64}), store, base.tree, found.tree)
        assert (await fresh.run(["bash", "-c", "ls new/*/* | wc -l; cat new/300/f"])).stdout == b"600\n300\n"
