"""A git patch taken apart, so that its change can be made in several steps."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from fourhands.model.errors import InputError

__all__ = ["FilePatch", "Hunk", "Reference", "parse_reference", "steps"]

_FILE: Final = re.compile(r"^diff --git ", re.MULTILINE)
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_SAME_NAME: Final = re.compile(r"diff --git a/(?P<path>.+) b/(?P=path)")
_SPECIAL: Final = re.compile(
    r"^(?:new file|deleted file|old|new) mode |^(?:rename|copy) from |^GIT binary patch$|^Binary files ",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk. ``old`` and ``new`` are its first line and its length, as its header has them."""

    old: tuple[int, int]
    new: tuple[int, int]
    rest: str
    """The header behind its numbers, and all lines, with their ends."""


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The part of a patch on one file.

    ``old`` and ``new`` are its paths before and after, ``None`` where there is no file. ``head`` is all before the
    first hunk. Only a ``plain`` one changes lines of a text file and nothing else.
    """

    old: str | None
    new: str | None
    head: str
    hunks: tuple[Hunk, ...]
    plain: bool

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it touches, once."""
        return tuple(dict.fromkeys(path for path in (self.old, self.new) if path is not None))

    @property
    def text(self) -> str:
        """As a patch on the base; hunks that are left out do not count in the line numbers."""
        parts, shift = [self.head], 0
        for hunk in self.hunks:
            (start, before), (_, after) = hunk.old, hunk.new
            # Beside a range of no lines stands the line before it, not the first of it.
            first = start + shift + (not before) - (not after)
            parts.append(f"@@ -{start},{before} +{first},{after} @@{hunk.rest}")
            shift += after - before
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class Reference:
    """A patch on the base commit: the change that repairs a task, or a step of it."""

    files: tuple[FilePatch, ...]

    @property
    def text(self) -> str:
        """As a patch on the base."""
        return "".join(file.text for file in self.files)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that it touches, once."""
        return tuple(dict.fromkeys(path for file in self.files for path in file.paths))


def parse_reference(patch: bytes, where: str) -> Reference:
    """Take a git diff apart.

    Args:
        patch: as ``git diff`` writes it.
        where: what to call it in an error.

    Raises:
        InputError: it is no UTF-8, no git diff, or names a path that git must quote.
    """
    try:
        text = patch.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: it is not UTF-8 ({error}): write a user/playbook.toml for it") from None
    starts = [match.start() for match in _FILE.finditer(text)]
    if not starts:
        raise InputError(f"{where}: it is no git diff: it has no line that starts with 'diff --git'")
    ends = [*starts[1:], len(text)]
    return Reference(tuple(_file(text[a:b], where) for a, b in zip(starts, ends, strict=True)))


def steps(reference: Reference) -> tuple[Reference, ...]:
    """The same change in parts: file by file, or one file's first hunk and the others; one hunk is one part."""
    if len(reference.files) > 1:
        return tuple(Reference((file,)) for file in reference.files)
    (file,) = reference.files
    if not file.plain or len(file.hunks) == 1:
        return (reference,)
    parts = (file.hunks[:1], file.hunks[1:])
    return tuple(Reference((replace(file, hunks=hunks),)) for hunks in parts)


def _file(text: str, where: str) -> FilePatch:
    found = list(_HUNK.finditer(text))
    head = text[: found[0].start()] if found else text
    ends = [*(match.start() for match in found), len(text)][1:]
    hunks = tuple(_hunk(match, text[match.end() : end]) for match, end in zip(found, ends, strict=True))
    old, new = _paths(head, where)
    return FilePatch(old, new, head, hunks, bool(hunks) and not _SPECIAL.search(head))


def _hunk(match: re.Match[str], rest: str) -> Hunk:
    numbers = [1 if number is None else int(number) for number in match.groups()]
    return Hunk((numbers[0], numbers[1]), (numbers[2], numbers[3]), rest)


def _paths(head: str, where: str) -> tuple[str | None, str | None]:
    first = head.partition("\n")[0]
    if '"' in first:
        raise InputError(f"{where}: {first}: git quotes this path: write a user/playbook.toml for it")
    same = _SAME_NAME.fullmatch(first)
    if same:
        path = same["path"]
        is_new = re.search(r"^new file mode ", head, re.MULTILINE)
        is_gone = re.search(r"^deleted file mode ", head, re.MULTILINE)
        return (None if is_new else path), (None if is_gone else path)
    renamed = re.search(r"^rename from (.+)\nrename to (.+)$", head, re.MULTILINE)
    copied = re.search(r"^copy from .+\ncopy to (.+)$", head, re.MULTILINE)
    if renamed:
        return renamed[1], renamed[2]
    if copied:
        return None, copied[1]
    raise InputError(f"{where}: {first}: it does not say which file it is about")
