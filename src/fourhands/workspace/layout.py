"""A tree -> a work tree: what verification starts from."""

from __future__ import annotations

from fourhands.model.errors import SandboxError
from fourhands.model.intervention import EditOutcome
from fourhands.model.sandbox import Sandbox
from fourhands.workspace.apply import ChangedUnderneath, write
from fourhands.workspace.plan import EditPlan, FileWrite
from fourhands.workspace.store import ObjectStore

__all__ = ["lay_tree"]


async def lay_tree(sandbox: Sandbox, store: ObjectStore, base_tree: str, tree: str) -> None:
    """Make the work tree of a fresh ``sandbox``, which holds ``base_tree``, into ``tree``.

    Raises:
        SandboxError: the sandbox is gone, or does not hold the base; or the tree changes a file of the base that is
            known by a placeholder alone.
    """
    writes = [FileWrite(change.path, change.before, change.after) for change in store.diff(base_tree, tree)]
    # What goes makes room for what comes: a file may have become a folder.
    for part in ([each for each in writes if not each.result], [each for each in writes if each.result]):
        laid = await write(sandbox, store, EditPlan(EditOutcome.APPLIED, "layout", tree, tuple(part)))
        if isinstance(laid, ChangedUnderneath):
            paths = ", ".join(laid.paths)
            raise SandboxError(
                f"the sandbox does not hold the base commit: {paths} differ, or cannot be written"
            )
