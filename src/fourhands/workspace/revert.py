"""Take what somebody wrote out of a later state: ``git revert``, hunk by hunk, and only in the files they wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fourhands.model.text import LineRange, split_lines
from fourhands.workspace.changes import Hunk
from fourhands.workspace.edit import variant
from fourhands.workspace.lines import diff_contents, is_telling
from fourhands.workspace.regions import carry
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.three_way import Merged, merge_contents, merge_entries
from fourhands.workspace.tree import SYMLINK, Entry, MutableTree, TreeClashError

__all__ = ["EditPart", "FileEdit", "Reverted", "place_in_base", "revert"]

_CRLF = b"\r\n"


@dataclass(frozen=True, slots=True)
class FileEdit:
    """What one edit made of one file: ``before`` or ``after`` is ``None`` where there was no file.

    ``hunks`` lead from before to after; none where either is binary or only the mode changed.
    """

    path: bytes
    before: Entry | None
    after: Entry | None
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, slots=True)
class EditPart:
    """One hunk of an edit; without a hunk, the whole file."""

    edit: FileEdit
    hunk: Hunk | None


@dataclass(frozen=True, slots=True)
class Reverted:
    """The state without the edits. ``tree`` still holds what is ``contested``, unless that was forced out.

    Contested is what stands in pieces, others having written into it. What was written over altogether is gone,
    and what stands there is its writer's.
    ``clashes`` are paths that could not be put back because they would be a file and a folder at once.
    """

    tree: str
    contested: tuple[EditPart, ...] = ()
    clashes: tuple[bytes, ...] = ()


def revert(store: ObjectStore, edits: Iterable[FileEdit], tree: str, *, force: bool = False) -> Reverted:
    """Undo ``edits`` in ``tree``, in the order given: the newest first.

    Args:
        store: holds the tree and all contents of the edits; merged contents are written to it.
        edits: what was written, file by file.
        tree: the state as it stands.
        force: at contested places put back what stood before the edit, whatever others wrote there since.

    Raises:
        GitError: a tree or a content is not in the store.
    """
    files = store.read_tree(tree)
    contested: list[EditPart] = []
    clashes: list[bytes] = []
    for edit in edits:
        entry, open_parts = _undo(store, edit, files.get(edit.path), force=force)
        contested += [EditPart(edit, hunk) for hunk in open_parts]
        try:
            _put(files, edit.path, entry)
        except TreeClashError:
            clashes.append(edit.path)
    return Reverted(store.write_tree(files), tuple(contested), tuple(clashes))


def place_in_base(store: ObjectStore, part: EditPart, base: Entry | None) -> LineRange:
    """Where a part of an edit lies in ``base``, the base's version of the file."""
    content = store.get_blob(base.blob) if base else b""
    if part.hunk is None or part.edit.before is None:
        return LineRange(1, len(split_lines(content)))
    return carry(part.hunk.old, diff_contents(store, store.get_blob(part.edit.before.blob), content))


def _put(files: MutableTree, path: bytes, entry: Entry | None) -> None:
    if entry is None:
        files.remove(path)
    else:
        files.set(path, entry)


def _undo(
    store: ObjectStore, edit: FileEdit, current: Entry | None, *, force: bool
) -> tuple[Entry | None, Sequence[Hunk | None]]:
    """The file without the edit, and the parts of it that are contested."""
    whole = merge_entries(store, edit.after, current, edit.before)
    if whole is not None:
        return whole.entry, ()
    if current is None:
        return None, ()  # deleted since: nothing of the edit is left
    after = store.get_blob(edit.after.blob) if edit.after else b""
    now = store.get_blob(current.blob)
    if (
        not edit.hunks
        or edit.before is None
        or edit.after is None
        or SYMLINK in {edit.before.mode, current.mode}
    ):
        if not _stands_in_part(store, after, now, LineRange(1, len(split_lines(after)))):
            return current, ()
        forced = merge_entries(store, edit.after, current, edit.before, favour_theirs=True)
        return (forced or Merged(current)).entry if force else current, (None,)
    undoing = _Undoing(store, _as_in(now, store.get_blob(edit.before.blob)), _as_in(now, after), edit.hunks)
    content, contested = undoing.apply(now, force=force)
    mode = edit.before.mode if current.mode == edit.after.mode else current.mode
    return Entry(mode, store.put_blob(content)), contested


@dataclass(frozen=True, slots=True)
class _Undoing:
    """Takes the hunks from ``before`` to ``after`` out of a later content, one by one."""

    store: ObjectStore
    before: bytes
    after: bytes
    hunks: tuple[Hunk, ...]

    def apply(self, now: bytes, *, force: bool) -> tuple[bytes, list[Hunk | None]]:
        contested: list[Hunk | None] = []
        # From the last on, so that nothing above it has moved when a hunk's turn comes.
        for number, hunk in reversed(list(enumerate(self.hunks))):
            without = variant(self.before, self.after, self.hunks, set(range(len(self.hunks))) - {number})
            merged = merge_contents(self.store, self.after, now, without)
            if merged is None:
                merged = self._cut(hunk, now)
            if merged is None and _stands_in_part(self.store, self.after, now, hunk.new):
                contested.append(hunk)
                if force:
                    merged = merge_contents(self.store, self.after, now, without, favour_theirs=True)
            now = now if merged is None else merged
        return now, contested[::-1]

    def _cut(self, hunk: Hunk, now: bytes) -> bytes | None:
        """Exchange the hunk's lines where they stand whole; to a merge, a new line beside them is a conflict."""
        changed = diff_contents(self.store, self.after, now)
        place = carry(hunk.new, changed)
        lines = split_lines(now)
        stands = (
            lines[place.start - 1 : place.end] == split_lines(self.after)[hunk.new.start - 1 : hunk.new.end]
        )
        if not len(hunk.new) or not stands:
            return None
        old = split_lines(self.before)[hunk.old.start - 1 : hunk.old.end]
        return b"".join((*lines[: place.start - 1], *old, *lines[place.end :]))


def _stands_in_part(store: ObjectStore, after: bytes, now: bytes, lines: LineRange) -> bool:
    """Whether a telling line of ``lines`` of ``after`` is still there."""
    changed = [hunk.old for hunk in diff_contents(store, after, now) if len(hunk.old)]
    return any(is_telling(line) for line in _untouched(split_lines(after), lines, changed))


def _untouched(content: Sequence[bytes], lines: LineRange, changed: Sequence[LineRange]) -> Iterator[bytes]:
    for number in range(lines.start, lines.end + 1):
        if not any(old.start <= number <= old.end for old in changed):
            yield content[number - 1]


def _as_in(now: bytes, content: bytes) -> bytes:
    r"""``content`` with the line ends of ``now``: converting a file's line ends rewrites no line of it."""
    if _CRLF in now and now.count(b"\n") == now.count(_CRLF):
        return content.replace(_CRLF, b"\n").replace(b"\n", _CRLF)
    return content if _CRLF in now else content.replace(_CRLF, b"\n")
