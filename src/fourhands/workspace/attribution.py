"""Who wrote each line, step by step, from exact diffs alone.

A line belongs to whoever put it there last: an unchanged line keeps its owner, a replaced one gets the
author of the replacement. What somebody deleted leaves no line, so deletions are not attributed here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from fourhands.model.text import LineRange
from fourhands.workspace.changes import FileChange

__all__ = ["BASE", "Attribution", "Author", "Owner", "advance", "line_counts", "surviving", "surviving_lines"]

Author = Literal["base", "agent", "user"]


@dataclass(frozen=True, slots=True)
class Owner:
    """Who put a line there; ``edit`` is the user's intervention, or ``None``."""

    author: Author
    edit: str | None = None


BASE: Final = Owner("base")


@dataclass(frozen=True, slots=True)
class Attribution:
    """Owners of the lines of every changed file, from line 1 on; lines beyond the tuple are of the base."""

    files: Mapping[str, tuple[Owner, ...]] = field(default_factory=dict)


def advance(
    attribution: Attribution, changes: Iterable[FileChange], author: Author, edit_id: str | None = None
) -> Attribution:
    """The attribution after ``author`` made ``changes``. A deleted or binary file has no lines."""
    files = dict(attribution.files)
    owner = Owner(author, edit_id)
    for change in changes:
        if change.new_blob is None or change.binary:
            files.pop(change.path, None)
        elif change.hunks:
            files[change.path] = _splice(files.get(change.path, ()), change, owner)
    return Attribution(files)


def line_counts(attribution: Attribution) -> dict[Author, int]:
    """How many lines each author but the base has standing."""
    counts = Counter(owner.author for owners in attribution.files.values() for owner in owners)
    return {author: count for author, count in counts.items() if author != "base"}


def surviving(attribution: Attribution, edit_id: str) -> int:
    """How many lines of the user's edit still stand."""
    return sum(len(lines) for ranges in surviving_lines(attribution, edit_id).values() for lines in ranges)


def surviving_lines(attribution: Attribution, edit_id: str) -> dict[str, tuple[LineRange, ...]]:
    """Where lines of the user's edit still stand: path to ranges, in order."""
    found: dict[str, tuple[LineRange, ...]] = {}
    for path, owners in attribution.files.items():
        ranges: list[LineRange] = []
        for number, owner in enumerate(owners, 1):
            if owner.edit == edit_id:
                start = ranges.pop().start if ranges and ranges[-1].end == number - 1 else number
                ranges.append(LineRange(start, number))
        if ranges:
            found[path] = tuple(ranges)
    return found


def _splice(owners: tuple[Owner, ...], change: FileChange, owner: Owner) -> tuple[Owner, ...]:
    reach = max(hunk.old.end for hunk in change.hunks)
    old = owners + (BASE,) * (reach - len(owners))
    new: list[Owner] = []
    taken = 0
    for hunk in change.hunks:
        new += old[taken : hunk.old.start - 1]
        new += [owner] * len(hunk.new)
        taken = hunk.old.end
    return (*new, *old[taken:])
