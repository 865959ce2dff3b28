"""Who wrote each line, told again from a record's changes by the rule that was live when they were made."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fourhands.report.story.payloads import Payloads
from fourhands.workspace.attribution import Attribution, Author, Owner, advance, line_counts
from fourhands.workspace.changes import FileChange
from fourhands.workspace.store import blob_id

__all__ = ["Authors", "FileContents"]

_MOST_FILES = 500
"""Files of one change whose contents are read ahead: beyond that only those that are asked for."""
_EMPTY = blob_id(b"")


class FileContents:
    """Contents of files by git's name, each read once and split into lines once."""

    def __init__(self, payloads: Payloads) -> None:
        self._payloads = payloads
        self._known: dict[str, bytes | None] = {}
        self._lines: dict[str, list[bytes]] = {}

    def fetch(self, names: Collection[str]) -> None:
        """Read those of ``names`` that are not known yet, all at once."""
        wanted = [name for name in names if name not in self._known]
        if wanted:
            found = self._payloads.contents(wanted)
            self._known.update((name, found.get(name)) for name in wanted)
            self._known[_EMPTY] = b""

    def get(self, name: str) -> bytes | None:
        """The content; ``None`` if it is gone."""
        self.fetch([name])
        return self._known[name]

    def lines(self, name: str | None) -> list[bytes] | None:
        """Its lines without their line feeds, and an empty one behind the last one's; none of a file that is not.

        ``None`` if the content is gone.
        """
        if name is None:
            return [b""]
        if name not in self._lines:
            data = self.get(name)
            if data is None:
                return None
            self._lines[name] = data.split(b"\n")
        return self._lines[name]


class Authors:
    """The attribution of a repository's lines, change by change."""

    def __init__(self, contents: FileContents) -> None:
        self._contents = contents
        self._state = Attribution()
        self.is_exact = True
        """Whether all that had to be compared was there to be compared."""
        self._taken_out: dict[tuple[str, int], bytes] = {}

    def fetch(self, changes: Sequence[Sequence[FileChange]]) -> None:
        """Read ahead what all of a trial's changes need."""
        self._contents.fetch(
            {
                blob
                for files in changes
                if len(files) <= _MOST_FILES
                for file in files
                if file.hunks
                for blob in (file.old_blob, file.new_blob)
                if blob is not None
            }
        )

    def of(self, path: str) -> tuple[Owner, ...]:
        """The owners of a file's lines, from line 1 on; lines beyond the tuple are of the base."""
        return self._state.files.get(path, ())

    def take(self, files: Sequence[FileChange], author: Author, edit: str | None) -> None:
        """What ``author`` changed, all at once; ``edit`` is the user's intervention.

        Where a content is gone, its lines are taken for new ones that are like no other.
        """
        ends = _ends(files)

        def read(names: Collection[str]) -> Mapping[str, bytes]:
            self._contents.fetch(names)
            return {name: self._content(name, ends.get(name, 0)) for name in names}

        self._state = advance(self._state, files, author, edit, read).attribution
        if author == "user":
            for file in files:
                for away in self._state.away.get(file.path, ()):
                    for owner, line in zip(away.owners, away.lines, strict=True):
                        if owner.author == "agent" and owner.edit is not None and owner.line is not None:
                            self._taken_out[owner.edit, owner.line] = line

    def written(self, edit: str, line: int) -> bytes | None:
        """What a line of the user's said when it was written; ``None`` if that is not known."""
        return self._state.texts.get((edit, line))

    def taken_out(self, edit: str, line: int) -> bytes | None:
        """What a line said that the user took out; ``None`` if that is not known."""
        return self._taken_out.get((edit, line))

    def _content(self, name: str, lines: int) -> bytes:
        data = self._contents.get(name)
        if data is not None:
            return data
        self.is_exact = False
        return b"".join(b"%d of %s\n" % (number, name.encode("ascii", "replace")) for number in range(lines))

    def counts(self) -> dict[str, int]:
        """How many lines each author but the base has standing."""
        return {str(author): lines for author, lines in line_counts(self._state).items()}


def _ends(files: Sequence[FileChange]) -> dict[str, int]:
    """The last line of each content that a change speaks of."""
    ends: dict[str, int] = {}
    for file in files:
        for blob, last in (
            (file.old_blob, max((hunk.old.end for hunk in file.hunks), default=0)),
            (file.new_blob, max((hunk.new.end for hunk in file.hunks), default=0)),
        ):
            if blob is not None:
                ends[blob] = max(ends.get(blob, 0), last)
    return ends
