"""What a command's output tells about the lines it showed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

__all__ = ["Named", "named_files", "plain_numbers"]

_MATCH: Final = re.compile(r"([^\0:]{1,1024}):(\d{1,9})[:-]")
_CONTEXT: Final = re.compile(r"-(\d{1,9})(?=-)")
_NAME: Final = re.compile(r"([^\s:]+)(?::|$)")
_PARTS: Final = re.compile(r"[^/][./]")
_HEADER: Final = re.compile(r"==> (.+) <==$")
_NUMBERED: Final = re.compile(r"\s*(\d{1,9})(?:[:\t-]|  ?\S|: |$)")


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
    for line in filter(None, output.split("\n")):
        match = _MATCH.match(line)
        if not match:
            rest.append(line)
        elif name := printed.get(match[1]) or (not match[1].isdigit() and path(match[1])):
            printed[match[1]] = name
            found.numbers.setdefault(name, []).append(int(match[2]))
    lengths = set(map(len, printed))
    for line in rest:
        if header := _HEADER.match(line):
            if name := path(header[1]):
                found.headed[name] = None
        # A context line's separator may be part of a name: only names seen with a match count.
        elif context := next((each for each in _contexts(line, lengths) if each[0] in printed), None):
            found.numbers[printed[context[0]]].append(context[1])
        elif (bare := _NAME.match(line)) and _PARTS.search(bare[1]) and (name := path(bare[1])):
            found.bare[name] = None
    return found


def _contexts(line: str, lengths: Collection[int]) -> Iterator[tuple[str, int]]:
    """What ``line`` would be as a context line: the name, if it has one of ``lengths``, and the number."""
    for match in _CONTEXT.finditer(line) if lengths else ():
        if match.start() in lengths:
            yield line[: match.start()], int(match[1])


def plain_numbers(output: str) -> list[int]:
    """Numbers at the start of lines, as ``cat -n``, ``nl`` and ``grep -n`` print them."""
    return [int(match[1]) for match in map(_NUMBERED.match, output.split("\n")) if match]
