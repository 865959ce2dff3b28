"""A tree -> a work tree: what verification starts from."""

from __future__ import annotations

from fourhands.model.errors import SandboxError
from fourhands.model.intervention import EditOutcome
from fourhands.model.sandbox import Sandbox
from fourhands.workspace.apply import ChangedUnderneath, write
from fourhands.workspace.plan import EditPlan, FileWrite
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import Entry

__all__ = ["lay_tree"]


async def lay_tree(sandbox: Sandbox, store: ObjectStore, base_tree: str, tree: str) -> None:
    """Make the work tree of a fresh ``sandbox``, which holds ``base_tree``, into ``tree``.

    Raises:
        SandboxError: the sandbox is gone, or does not hold the base.
    """
    changes = store.diff(base_tree, tree)
    writes = tuple(
        FileWrite(
            change.path, _entry(change.old_mode, change.old_blob), _entry(change.new_mode, change.new_blob)
        )
        for change in changes
    )
    laid = await write(sandbox, store, EditPlan(EditOutcome.APPLIED, "layout", tree, writes))
    if isinstance(laid, ChangedUnderneath):
        raise SandboxError(f"the sandbox does not hold the base commit: {', '.join(laid.paths)} differ")


def _entry(mode: int | None, blob: str | None) -> Entry | None:
    return None if mode is None or blob is None else Entry(mode, blob)
