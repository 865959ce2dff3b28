"""Carry a plan out in the sandbox, if what it was planned on is still there."""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.model.errors import SandboxError
from fourhands.model.sandbox import Sandbox
from fourhands.workspace.contents import read_blobs
from fourhands.workspace.inside import command
from fourhands.workspace.plan import EditPlan, FileWrite
from fourhands.workspace.store import ObjectStore

__all__ = ["ChangedUnderneath", "Written", "write"]

_CHANGED: Final = 3
_STDERR_SHOWN: Final = 400


@dataclass(frozen=True, slots=True)
class Written:
    """The whole plan stands in the work tree."""


@dataclass(frozen=True, slots=True)
class ChangedUnderneath:
    """Nothing was written: these files are no longer what was planned on, or nobody inside may write them."""

    paths: tuple[str, ...]


async def write(sandbox: Sandbox, store: ObjectStore, plan: EditPlan) -> Written | ChangedUnderneath:
    """Write all files of ``plan`` or none.

    Every file is checked against what was planned on, then all are staged beside their places, then renamed
    into them. No symbolic link is followed anywhere below the work tree.

    Raises:
        SandboxError: the sandbox is gone, or the writer failed (e.g. a full disk); nothing was renamed then,
            unless a rename itself failed.
    """
    if not plan.writes:
        return Written()
    request = await asyncio.to_thread(_encode, store, plan.writes)
    argv = command(sandbox.python, "write", sandbox.workdir)
    result = await sandbox.run(
        argv, cwd="/", stdin=request
    )  # the agent may have closed the work tree to itself
    if result.code == _CHANGED:
        return ChangedUnderneath(tuple(map(os.fsdecode, result.stdout.split(b"\0"))))
    if result.code:
        said = result.stderr.decode("utf-8", "replace")[-_STDERR_SHOWN:].strip()
        raise SandboxError(
            f"writing the user's edit to {', '.join(write.path for write in plan.writes)} ended with"
            f" {result.code}: {said or 'no message'}; check that the work tree is writable and not full"
        )
    return Written()


def _encode(store: ObjectStore, writes: Sequence[FileWrite]) -> bytes:
    contents = read_blobs(store, {write.result.blob for write in writes if write.result})
    parts: list[bytes] = []
    for write in writes:
        path = os.fsencode(write.path)
        expected = (write.expected.blob if write.expected else "").encode()
        content = contents[write.result.blob] if write.result else b""
        modes = (write.expected.mode if write.expected else 0, write.result.mode if write.result else 0)
        parts += (
            struct.pack(">I", len(path)), path,
            struct.pack(">I", len(expected)), expected,
            struct.pack(">IIQ", *modes, len(content)), content,
        )  # fmt: skip
    return b"".join(parts)
