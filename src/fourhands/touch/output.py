"""What a command's output tells about the lines it showed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Named", "named_files", "plain_numbers"]

_MATCH: Final = re.compile(r"([^\0:]+?):(\d+)[:-]")
_CONTEXT: Final = re.compile(r"-(\d+)-")
_FILE: Final = re.compile(r"([^\s:]*[^\s:/][./][^\s:]*)(?::|$)")
_HEADER: Final = re.compile(r"==> (.+) <==$")
_NUMBERED: Final = re.compile(r"\s*(\d+)(?:[:\t-]|  ?\S|: |$)")


@dataclass(slots=True)
class Named:
    """Files that an output names: by line numbers, or at all."""

    numbers: dict[str, list[int]] = field(default_factory=dict)
    bare: dict[str, None] = field(default_factory=dict)
    headed: dict[str, None] = field(default_factory=dict)
    """By a header of its own, as ``head`` prints above each of several files."""


def named_files(output: str, path: Callable[[str], str | None]) -> Named:
    """Files named at the start of a line (``path:12:text``, ``path-12-text``, ``path:text``, ``path``).

    ``path`` turns a printed name into one relative to the repository, or ``None``.
    """
    found = Named()
    printed: dict[str, str] = {}
    rest: list[str] = []
    for line in output.split("\n"):
        match = _MATCH.match(line)
        if match and not match[1].isdigit() and (name := path(match[1])):
            printed[match[1]] = name
            found.numbers.setdefault(name, []).append(int(match[2]))
        elif not match:
            rest.append(line)
    for line in rest:
        if header := _HEADER.match(line):
            if name := path(header[1]):
                found.headed[name] = None
        # A context line's separator may be part of a name: only names seen with a match count.
        elif text := next((text for text in printed if line.startswith(f"{text}-")), None):
            if context := _CONTEXT.match(line, len(text)):
                found.numbers[printed[text]].append(int(context[1]))
        elif (bare := _FILE.match(line)) and (name := path(bare[1])):
            found.bare[name] = None
    return found


def plain_numbers(output: str) -> list[int]:
    """Numbers at the start of lines, as ``cat -n``, ``nl`` and ``grep -n`` print them."""
    return [int(match[1]) for match in map(_NUMBERED.match, output.split("\n")) if match]
