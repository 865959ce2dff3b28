"""Who wrote each line: owners, and what became of a line of the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from fourhands.model.text import LineRange

__all__ = [
    "BASE",
    "Attribution",
    "Author",
    "Away",
    "Fate",
    "LineFate",
    "Owner",
    "line_counts",
    "surviving",
    "surviving_lines",
]

Author = Literal["base", "agent", "user"]
Fate = Literal["written", "moved", "changed", "removed", "restored", "deleted", "put_back"]


@dataclass(frozen=True, slots=True)
class Owner:
    """Who put a line there.

    A line of the user has the ``edit`` (the intervention) that wrote it and is its ``line``-th written line, from 1.
    A line of the agent that has an ``edit`` is the ``line``-th that this edit had deleted, put back.
    """

    author: Author
    edit: str | None = None
    line: int | None = None


BASE: Final = Owner("base")


@dataclass(frozen=True, slots=True)
class Away:
    """Lines that stood one below the other and no longer do; ``owners`` are whose they are if they come back."""

    lines: tuple[bytes, ...]
    owners: tuple[Owner, ...]


@dataclass(frozen=True, slots=True)
class Attribution:
    """The state of a repository's lines.

    ``files`` hold the owners of the lines of every changed file, from line 1 on; lines beyond the tuple are of
    the base. ``away`` holds, by path and the newest first, the user's lines that were taken out and the lines the
    user deleted. ``texts`` are the user's lines as written, by intervention and line. ``deleted`` counts the
    lines that each intervention deleted, ``written`` those it wrote.
    """

    files: Mapping[str, tuple[Owner, ...]] = field(default_factory=dict)
    away: Mapping[str, tuple[Away, ...]] = field(default_factory=dict)
    texts: Mapping[tuple[str, int], bytes] = field(default_factory=dict)
    written: Mapping[str, int] = field(default_factory=dict)
    deleted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LineFate:
    """What a change did to one line of the user's edit ``edit``.

    Of written lines, ``line`` counts from 1 in the order of the edit's files and lines:

    - ``written``: the user put it there.
    - ``moved``: the same bytes went from one place and came at another in one change, be it another file.
    - ``changed``: something similar stands in its place. With ``whitespace``, only white space differs (or a
      comma before a closing bracket): a reformatted line stays the user's and is followed on, unless it was
      split or joined; then ``number`` is ``None``.
    - ``removed``: it is gone, and nothing like it stands in its place.
    - ``restored``: it had been removed or changed, and the same bytes are back in the same file.

    Of lines that the edit took out (of the base or of the agent), ``line`` counts from 1 on its own:

    - ``deleted``: the user took it out; or whoever had put it back took it out again.
    - ``put_back``: the agent brought the same bytes back into the same file; said again when it moves them.

    ``path`` and ``number`` (from 1) are where the line, or what stands in its place, now is; of a line that is
    gone, ``path`` is where it was and ``number`` is ``None``.
    """

    edit: str
    line: int
    fate: Fate
    path: str
    number: int | None = None
    whitespace: bool = False


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
            if owner.author == "user" and owner.edit == edit_id:
                start = ranges.pop().start if ranges and ranges[-1].end == number - 1 else number
                ranges.append(LineRange(start, number))
        if ranges:
            found[path] = tuple(ranges)
    return found
