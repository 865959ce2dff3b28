"""The state of the work tree at a moment, and exactly what changed since the moment before."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from fourhands.model.errors import SandboxError
from fourhands.model.sandbox import Sandbox
from fourhands.workspace.changes import FileChange
from fourhands.workspace.inside import command
from fourhands.workspace.inside.walk import RACY, SETTLED, TRUST, Content, Gone, Kept, Later
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import Entry, MutableTree, TreeClashError

__all__ = ["Snapshot", "Snapshotter"]

_STDERR_SHOWN = 400


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``tree`` is git's name of the whole state, in the store; ``changes`` are those since the one before."""

    tree: str
    changes: tuple[FileChange, ...]


class Snapshotter:
    """Takes snapshots of a sandbox's work tree into ``store``; what counts as a file: ``inside/walk.py``.

    One program run inside compares every file's size, times, inode and mode with those of the snapshot before
    and sends only what differs, so often that no answer is longer than memory should hold. Nothing of the agent's
    own git is used. One task at a time may take snapshots.
    """

    def __init__(self, sandbox: Sandbox, store: ObjectStore) -> None:
        self._sandbox = sandbox
        self._store = store
        self._tree = MutableTree()
        self._keys: dict[bytes, bytes] = {}
        self._last: str | None = None
        self._request: bytes | None = None
        """``_keys`` as the walk reads them, for as long as they stay."""

    async def start(self, base_tree: str | None = None) -> Snapshot:
        """The first snapshot.

        Args:
            base_tree: a tree of the store that the work tree was made from. A file that is in both, of the
                same type, is taken to have the tree's content, unread. Without it all contents are sent.

        Raises:
            SandboxError: the sandbox is gone, or the walk failed.
            GitError: ``base_tree`` is not in the store.
        """
        if base_tree is not None:
            self._tree = await asyncio.to_thread(self._store.read_tree, base_tree)
            for path in self._tree:
                entry = self._tree.get(path)
                assert entry
                self._keys[path] = b"%s%03o" % (TRUST, entry.mode >> 9)
        self._last = base_tree
        return await self.take()

    async def take(self) -> Snapshot:
        """The state now.

        Raises:
            SandboxError: the sandbox is gone, or the walk failed.
        """
        received: set[bytes] = set()
        is_whole = False
        while not is_whole:
            answer = await self._walk(received)
            if not answer and self._last is not None and not received:
                return Snapshot(self._last, ())
            is_whole = await asyncio.to_thread(self._fold, answer, received)
        return await asyncio.to_thread(self._settle)

    async def _walk(self, received: AbstractSet[bytes]) -> bytes:
        """What differs from what is known; files in ``received`` have been sent and are left for the next time."""
        if received:
            request = _request(self._keys | dict.fromkeys(received, SETTLED))
        else:
            request = self._request = self._request or _request(self._keys)
        argv = command(self._sandbox.python, "walk", self._sandbox.workdir)
        # Not in the work tree: the agent may have forbidden itself to enter it.
        result = await self._sandbox.run(argv, cwd="/", stdin=request)
        if result.code != 0 or result.stdout_bytes != len(result.stdout):
            said = result.stderr.decode("utf-8", "replace")[-_STDERR_SHOWN:].strip()
            raise SandboxError(
                f"the snapshot's walk of {self._sandbox.workdir} ended with {result.code} after"
                f" {result.stdout_bytes} bytes: {said or 'no message'}; the sandbox needs a working Python"
                f" at {self._sandbox.python}"
            )
        return result.stdout

    def _fold(self, answer: bytes, received: set[bytes]) -> bool:
        """Take an answer in; whether it was all that differs."""
        self._request = None
        records = list(_parse(answer))
        # What is gone makes room for what came: a file may have become a folder.
        for record in records:
            if isinstance(record, Gone):
                self._tree.remove(record.path)
                self._keys.pop(record.path, None)
        contents = [record for record in records if isinstance(record, Content)]
        blobs = dict(
            zip((r.path for r in contents), self._store.put_blobs(r.data for r in contents), strict=True)
        )
        for record in records:
            if isinstance(record, (Kept, Content)):
                self._keep(record, blobs.get(record.path))
        received |= blobs.keys()
        return not any(isinstance(record, Later) for record in records)

    def _settle(self) -> Snapshot:
        tree = self._store.write_tree(self._tree)
        changes = () if self._last is None else self._store.diff(self._last, tree)
        self._last = tree
        return Snapshot(tree, changes)

    def _keep(self, record: Kept | Content, blob: str | None) -> None:
        before = self._tree.get(record.path)
        if blob is None:
            assert before, record.path
            blob = before.blob
        entry = Entry(record.mode, blob)
        try:
            if entry != before:
                self._tree.set(record.path, entry)
        except TreeClashError:
            # The tree changed under the walk; the next one sees how it settled.
            return
        self._keys[record.path] = record.key or RACY


def _request(keys: Mapping[bytes, bytes]) -> bytes:
    return b"\0".join(part for pair in keys.items() for part in pair)


def _parse(answer: bytes) -> Iterator[Gone | Kept | Content | Later]:
    at = 0
    while at < len(answer):
        tag = answer[at : at + 1]
        path, at = _text(answer, at + 1, ">I")
        if tag in {b"-", b"~"}:
            yield Gone(path) if tag == b"-" else Later(path)
            continue
        (mode,) = struct.unpack_from(">I", answer, at)
        key, at = _text(answer, at + 4, ">I")
        if tag == b"=":
            yield Kept(path, mode, key)
        else:
            data, at = _text(answer, at, ">Q")
            yield Content(path, mode, key, data)


def _text(answer: bytes, at: int, length: str) -> tuple[bytes, int]:
    (size,) = struct.unpack_from(length, answer, at)
    start = at + struct.calcsize(length)
    return answer[start : start + size], start + size
