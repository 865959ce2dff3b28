"""Tools that read files: which file, and which of its lines, by their arguments and by what they showed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from fourhands.model.text import LineRange
from fourhands.model.touch import Touch
from fourhands.touch.arguments import text_of, whole_number
from fourhands.touch.flow import OPEN_END
from fourhands.touch.paths import relative_path
from fourhands.touch.shown_lines import numbered_lines, said_lines
from fourhands.touch.tool_names import tool_words

__all__ = ["file_reads", "is_file_reader"]

_PATHS: Final = (
    "file_path", "filePath", "path", "absolute_path", "absolutePath", "target_file", "filename", "file", "filepath",
    "relative_path",
)  # fmt: skip
_MANY_PATHS: Final = ("paths", "include", "file_paths", "files")
_READING: Final = frozenset({"read", "view", "open", "cat"})
_NOT_READING: Final = frozenset(
    {"write", "edit", "directory", "dir", "folder", "todo", "resource", "terminal", "url"}
)
_EDITS: Final = frozenset({
    "content", "file_text", "old_string", "oldString", "old_str", "oldText", "new_string", "newString", "new_str",
    "newText", "edits", "new_source", "insert_text", "insert_line", "patch", "diff",
})  # fmt: skip
_START: Final = ("start_line", "startLine", "line_start", "start_line_one_indexed")
_END: Final = ("end_line", "endLine", "line_end", "end_line_one_indexed_inclusive")
_OFFSET: Final = ("offset", "line_offset")
_LIMIT: Final = ("limit", "n_lines")
_DEFAULT_LIMIT: Final = 2000
"""Lines that Claude Code's, OpenCode's, pi's, Qwen Code's and Gemini CLI's tools show, unless asked for more."""
_FAILED: Final = re.compile(
    r"\s*(?:<tool_use_error>|<error>|\[An error occurred|\[Tool-argument error|(?:ERROR|Error|error)\b|E[A-Z]{3,10}:"
    r"|(?:File|Path|Directory) (?:does not|not|is a dir|must|unchanged|.{1,300} (?:does not|not found))"
    r"|\[File .{1,500} unchanged|Wasted call|Offset \d+ is|Cannot |Could not |Failed to |Unable to |unable to "
    r"|Invalid |Permission denied|No such file|The user doesn't want|Access denied)"
)
_SHORT: Final = 1000
"""Characters that a refusal may have: a longer text is a file that begins like one."""
_LISTING: Final = re.compile(
    r"\s*(?:Here's the files and directories|<path>.{1,500}</path>\n<type>directory)"
)
_WILD: Final = frozenset("*?[{")
_BETWEEN_FILES: Final = re.compile(r"--- (.{1,1000}) ---$|Content from (.{1,1000}):$", re.MULTILINE)


def is_file_reader(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a call reads files that it names: an editing tool may have to read one, but shows nothing of it."""
    if not text_of(arguments, _PATHS) and not any(
        isinstance(arguments.get(name), list) for name in _MANY_PATHS
    ):
        return False
    if "command" in arguments or "cmd" in arguments:
        return arguments.get("command") == "view"
    words = tool_words(tool)
    reads = not _READING.isdisjoint(words) and _NOT_READING.isdisjoint(words)
    return reads and _EDITS.isdisjoint(arguments)


def file_reads(tool: str, arguments: Mapping[str, Any], output: str | None) -> Iterator[Touch]:
    """What such a call reads, and has read once there is an ``output``: none if that is a refusal or a listing."""
    if output is not None and (_LISTING.match(output) or (len(output) < _SHORT and _FAILED.match(output))):
        return
    path = text_of(arguments, _PATHS)
    if path is None:
        yield from _many(arguments, output or "")
    elif inside := relative_path(path):
        yield Touch(inside, "read", _shown(_asked(tool, arguments), output))


def _many(arguments: Mapping[str, Any], output: str) -> Iterator[Touch]:
    """Whole files; what a wildcard among their names reached, only the output tells."""
    given = [path for name in _MANY_PATHS for path in _texts(arguments.get(name))]
    named = [match[1] or match[2] for match in _BETWEEN_FILES.finditer(output)]
    for path in dict.fromkeys(map(relative_path, [*given, *named])):
        if path and _WILD.isdisjoint(path):
            yield Touch(path, "read", None)


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _asked(tool: str, arguments: Mapping[str, Any]) -> LineRange | None:
    """The lines that the arguments ask for; ``None`` if they do not say, or mean no lines."""
    match arguments.get("view_range"):
        case [int(first), int(last)]:
            return _lines(first, OPEN_END if last == -1 else last)
        case _:
            pass
    start, end = whole_number(arguments, _START), whole_number(arguments, _END)
    if start is not None or end is not None:
        return _lines(start or 1, OPEN_END if end is None or end < 0 else end)
    offset, limit = whole_number(arguments, _OFFSET), whole_number(arguments, _LIMIT)
    words = tool_words(tool)
    if limit is None or limit < 1:
        limit = _DEFAULT_LIMIT if "read" in words else OPEN_END
    if offset is None:
        return None if limit == OPEN_END else _lines(1, limit)
    if offset < 0:  # counted from the end
        return None
    # In tools called ``read_file`` the first line has the number 0.
    begin = offset + 1 if {"read", "file"} <= set(words) else max(1, offset)
    return _lines(begin, begin + limit - 1)


def _lines(first: int, last: int) -> LineRange | None:
    first, last = max(1, first), min(last, OPEN_END)
    return LineRange(first, last) if first <= last else None


def _shown(asked: LineRange | None, output: str | None) -> tuple[LineRange, ...] | None:
    if output is not None:
        if numbered := numbered_lines(output, None if asked is None else asked.start):
            return numbered
        said = said_lines(output)
        if said and (asked is None or said.overlaps(asked)):
            return (said,)
    return None if asked is None else (asked,)
