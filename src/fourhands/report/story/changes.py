"""The changes of a record, in order -> their diffs with authors, and what each of the user's lines said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.lines import UserDeletion, UserLine
from fourhands.model.event import Actor, Event, EventKind
from fourhands.report.story.authors import Authors, FileContents
from fourhands.report.story.clip import clip_line
from fourhands.report.story.diffs import file_diff
from fourhands.report.story.model import FileDiff, Limits
from fourhands.report.story.payloads import Payloads
from fourhands.workspace.changes import FileChange
from fourhands.workspace.file_json import file_change

__all__ = ["Changes", "Told"]

_LAST_LINE: Final = 100_000_000
"""No file has more lines: a number beyond it is none of ours."""


@dataclass(frozen=True, slots=True)
class Told:
    """The diffs of one change, at most so many as the limits say, and how many more files changed."""

    diffs: tuple[FileDiff, ...]
    more_files: int


class Changes:
    """Follows a trial's repository, change by change."""

    def __init__(self, events: Iterable[Event], payloads: Payloads, limits: Limits) -> None:
        self._limits = limits
        self._contents = FileContents(payloads)
        self._authors = Authors(self._contents)
        self._files: dict[int, tuple[FileChange, ...]] = {}
        for event in events:
            if event.kind is EventKind.WORKSPACE_CHANGED and (files := _files(event)) is not None:
                self._files[event.seq] = files
        self._authors.fetch(list(self._files.values()))

    @property
    def counts(self) -> Mapping[str, int]:
        """How many lines agent and user have standing now."""
        return self._authors.counts()

    @property
    def is_exact(self) -> bool:
        """Whether all contents were there that authorship is told by."""
        return self._authors.is_exact

    def take(self, event: Event) -> Told:
        """The next `workspace_changed`.

        Raises:
            ValueError: it holds no changes of files.
        """
        files = self._files.get(event.seq)
        if files is None:
            raise ValueError("its files are none that this reader knows")
        shown = files[: self._limits.files]
        before = {file.path: self._authors.of(file.path) for file in shown}
        is_user = event.actor is Actor.USER
        edit = event.body.get("intervention") if is_user else None
        self._authors.take(files, "user" if is_user else "agent", str(edit) if is_user else None)
        diffs = tuple(
            file_diff(file, before[file.path], self._authors.of(file.path), self._contents, self._limits)
            for file in shown
        )
        return Told(diffs, len(files) - len(shown))

    def text_of(self, line: UserLine | UserDeletion) -> str | None:
        """What one of the user's lines said when it was written or taken out; ``None`` if that is not known."""
        find = self._authors.written if isinstance(line, UserLine) else self._authors.taken_out
        data = find(line.intervention, line.line)
        if data is None:
            return None
        return clip_line(data.removesuffix(b"\n").decode("utf-8", "replace"), self._limits.line)


def _files(event: Event) -> tuple[FileChange, ...] | None:
    try:
        files = tuple(file_change({"modes": (None, None), **file}) for file in event.body["files"])
        ends = [end for file in files for hunk in file.hunks for end in (hunk.old.end, hunk.new.end)]
        return files if all(0 <= end <= _LAST_LINE for end in ends) else None
    except (KeyError, TypeError, ValueError):
        return None
