"""The files of a repository as a tree that remembers which of its folders are already written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["EXECUTABLE", "REGULAR", "SYMLINK", "Entry", "MutableTree", "TreeClashError"]

REGULAR: Final = 0o100644
EXECUTABLE: Final = 0o100755
SYMLINK: Final = 0o120000
_FOLDER_MODE: Final = b"40000"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a tree: git's mode (one of the three constants) and the id of its blob, 40 hex digits."""

    mode: int
    blob: str


class TreeClashError(ValueError):
    """A path would be a file and a folder at once; the message is that path."""


class MutableTree:
    """Paths (bytes, with ``/``) to entries. ``write`` costs only the folders changed since the last write."""

    def __init__(self, files: Mapping[bytes, Entry] | None = None) -> None:
        self._files: dict[bytes, Entry] = {}
        self._folders: dict[bytes, dict[bytes, Entry | None]] = {b"": {}}
        self._written: dict[bytes, str] = {}
        for path, entry in (files or {}).items():
            self.set(path, entry)

    def __contains__(self, path: bytes) -> bool:
        return path in self._files

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._files)

    def get(self, path: bytes) -> Entry | None:
        """The entry at ``path``, or ``None``."""
        return self._files.get(path)

    def set(self, path: bytes, entry: Entry) -> None:
        """Add or replace a file.

        Raises:
            TreeClashError: ``path`` is a folder, or a folder above it is a file.
        """
        if path in self._folders:
            raise TreeClashError(path.decode("utf-8", "replace"))
        self._files[path] = entry
        folder, _, name = path.rpartition(b"/")
        self._open(folder)[name] = entry
        self._touch(folder)

    def remove(self, path: bytes) -> None:
        """Take a file out, and every folder this leaves empty. A path that is not there is nothing to do."""
        if self._files.pop(path, None) is None:
            return
        while True:
            folder, _, name = path.rpartition(b"/")
            del self._folders[folder][name]
            self._touch(folder)
            if self._folders[folder] or not folder:
                return
            del self._folders[folder]
            path = folder

    def write(self, put_tree: Callable[[bytes], str]) -> str:
        """Give every changed folder to ``put_tree`` as a raw git tree, deepest first; the root's id."""
        return self._write(b"", put_tree)

    def _write(self, folder: bytes, put_tree: Callable[[bytes], str]) -> str:
        done = self._written.get(folder)
        if done is None:
            prefix = folder + b"/" if folder else b""
            rows: list[tuple[bytes, bytes]] = []
            for name, entry in self._folders[folder].items():
                if entry is None:
                    child = self._write(prefix + name, put_tree)
                    row = b"%s %s\0%s" % (_FOLDER_MODE, name, bytes.fromhex(child))
                    rows.append((name + b"/", row))
                else:
                    rows.append((name, b"%o %s\0%s" % (entry.mode, name, bytes.fromhex(entry.blob))))
            # Git orders a folder as if its name ended in a slash.
            done = self._written[folder] = put_tree(b"".join(row for _, row in sorted(rows)))
        return done

    def _open(self, folder: bytes) -> dict[bytes, Entry | None]:
        found = self._folders.get(folder)
        if found is None:
            if folder in self._files:
                raise TreeClashError(folder.decode("utf-8", "replace"))
            parent, _, name = folder.rpartition(b"/")
            self._open(parent)[name] = None
            found = self._folders[folder] = {}
        return found

    def _touch(self, folder: bytes) -> None:
        # All the way up: a new folder was never written, but those above it may have been.
        self._written.pop(folder, None)
        while folder:
            folder = folder.rpartition(b"/")[0]
            self._written.pop(folder, None)
