"""The user's edit, from a patch to the work tree: ``regenerate``, ``plan``, ``write``; and ``compose``."""

from __future__ import annotations

from fourhands.workspace.apply import ChangedUnderneath, Written, write
from fourhands.workspace.compose import Conflict, MergedTree, compose
from fourhands.workspace.edit import CompiledEdit, EditedFile, regenerate
from fourhands.workspace.plan import EditPlan, FileWrite, plan

__all__ = [
    "ChangedUnderneath",
    "CompiledEdit",
    "Conflict",
    "EditPlan",
    "EditedFile",
    "FileWrite",
    "MergedTree",
    "Written",
    "compose",
    "plan",
    "regenerate",
    "write",
]
