"""The record of a trial's changes -> what the user wrote, each line with the place where it stands in the end."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from fourhands.workspace.attribution import Attribution, Author, Owner, advance
from fourhands.workspace.changes import FileChange
from fourhands.workspace.contents import read_blobs
from fourhands.workspace.file_edit import FileEdit, Spot
from fourhands.workspace.store import ObjectStore

__all__ = ["RecordedChange", "user_edits"]


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """Files that one author changed at once; ``edit_id`` is the user's intervention."""

    author: Author
    edit_id: str | None
    files: tuple[FileChange, ...]


@dataclass(frozen=True, slots=True)
class _Written:
    """An edit of one file, and the owner of each new line of each hunk right after it."""

    edit: FileEdit
    owners: tuple[tuple[Owner, ...], ...]


def user_edits(store: ObjectStore, changes: Iterable[RecordedChange]) -> tuple[FileEdit, ...]:
    """All that the user wrote, file by file, the newest first.

    The lines are followed as the trial followed them: see `attribution`.

    Args:
        store: holds all contents that the changes name.
        changes: of the whole trial, in order.

    Raises:
        GitError: a content is not in the store.
    """
    attribution = Attribution()
    written: list[_Written] = []
    rewrapped: dict[Owner, Spot | None] = {}
    for change in changes:
        step = advance(attribution, change.files, change.author, change.edit_id, partial(read_blobs, store))
        attribution = step.attribution
        for fate in step.fates:
            is_rewrapped = fate.fate == "changed" and fate.whitespace and fate.number is None
            spot = Spot(os.fsencode(fate.path), None) if is_rewrapped else None
            rewrapped[Owner("user", fate.edit, fate.line)] = spot
        if change.author == "user":
            written += [_written(file, attribution) for file in change.files]
    spots: Mapping[Owner, Spot | None] = {**rewrapped, **_spots(attribution)}
    return tuple(
        replace(one.edit, spots=tuple(tuple(map(spots.get, owners)) for owners in one.owners))
        for one in reversed(written)
    )


def _spots(attribution: Attribution) -> Mapping[Owner, Spot]:
    return {
        owner: Spot(os.fsencode(path), number)
        for path, owners in attribution.files.items()
        for number, owner in enumerate(owners, 1)
        if owner.author == "user"
    }


def _written(file: FileChange, attribution: Attribution) -> _Written:
    owners = attribution.files.get(file.path, ())
    return _Written(
        FileEdit(os.fsencode(file.path), file.before, file.after, file.hunks),
        tuple(owners[hunk.new.start - 1 : hunk.new.end] for hunk in file.hunks),
    )
