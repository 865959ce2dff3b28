"""Tools that search code: what they read is the lines they show, which only their output tells."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from fourhands.model.sandbox import WORKDIR
from fourhands.model.touch import Touch
from fourhands.touch.arguments import text_of
from fourhands.touch.flow import gather
from fourhands.touch.output import named_files
from fourhands.touch.paths import looks_like_file, relative_path
from fourhands.touch.tool_names import tool_words

__all__ = ["code_search", "is_code_search"]

_SEARCHING: Final = frozenset({"grep", "rg", "ripgrep", "search"})
_PATTERNS: Final = ("pattern", "query", "regex")
_PATHS: Final = ("path", "dir_path", "dirPath", "directory", "file_path", "filePath")
_MODES: Final = ("output_mode", "outputMode")
_PLACE: Final = re.compile(r"[ \t]*(?:Line |L)(\d{1,9})[:-]")
_HEADINGS: Final = re.compile(r"File: (\S.*)|(/.*):")
_ALONE: Final = re.compile(r"(\d{1,9})[:-]")


def is_code_search(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call searches the text of files."""
    return not _SEARCHING.isdisjoint(tool_words(tool)) and text_of(arguments, _PATTERNS) is not None


def code_search(tool: str, arguments: Mapping[str, Any], output: str | None) -> Iterator[Touch]:
    """What a search reads: lines it shows. One that names or counts files reads none.

    Before it has run, and unless it searches a single file, nothing is known.
    """
    mode = text_of(arguments, _MODES)
    if mode not in {None, "content"}:
        return
    root = text_of(arguments, _PATHS) or "."
    inside = relative_path(root)
    if output is None:
        # Claude Code's ``Grep`` names files unless asked for their lines; those of other agents always show them.
        if inside and looks_like_file(inside) and (mode or tool != "Grep"):
            yield Touch(inside, "read", None)
        return
    names = _Names(root)
    for path, numbers in _numbers(output, names).items():
        yield Touch(path, "read", gather(numbers))


class _Names:
    """Printed names as paths in the repository: agents print them from the folder searched, or from their own."""

    def __init__(self, root: str) -> None:
        self._root = posixpath.join(WORKDIR, root)
        self._inside = relative_path(root)
        self.file = self._inside if self._inside and looks_like_file(self._inside) else None

    def path(self, name: str) -> str | None:
        here = relative_path(name)
        if self._inside is None or here is None or name.startswith("/"):
            return here
        if self.file is not None:
            return self.file if posixpath.basename(name) == posixpath.basename(self.file) else None
        if not self._inside or here == self._inside or here.startswith(f"{self._inside}/"):
            return here
        return relative_path(name, self._root)


def _numbers(output: str, names: _Names) -> dict[str, list[int]]:
    if "\nFile: " in output or output.startswith("File: ") or "\n  Line " in output:
        return _under_headings(output, names)
    found = named_files(output, names.path).numbers
    if not found and names.file:
        alone = [int(match[1]) for match in map(_ALONE.match, output.split("\n")) if match]
        return {names.file: alone} if alone else {}
    return found


def _under_headings(output: str, names: _Names) -> dict[str, list[int]]:
    """``File: a.py`` or ``/testbed/a.py:``, and the lines of that file below it."""
    found: dict[str, list[int]] = {}
    path: str | None = None
    for line in output.split("\n"):
        if (place := _PLACE.match(line)) and path:
            found.setdefault(path, []).append(int(place[1]))
        elif heading := _HEADINGS.fullmatch(line):
            path = names.path(heading[1] or heading[2])
    return found
