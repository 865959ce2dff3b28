"""How a file is laid out: line endings and indentation that new lines must follow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["indent_of", "indent_unit", "line_ending"]

_DEFAULT_UNIT: Final = b"    "
_INDENT: Final = re.compile(rb"[ \t]*")


def line_ending(lines: Sequence[bytes], number: int) -> bytes:
    r"""The ending of line ``number`` (1-based), ``\n`` or ``\r\n``; of the first line, if that one has none."""
    for line in (lines[number - 1], lines[0]):
        if line.endswith(b"\n"):
            return b"\r\n" if line.endswith(b"\r\n") else b"\n"
    return b"\n"


def indent_of(line: bytes) -> bytes:
    """The blanks that ``line`` starts with."""
    match = _INDENT.match(line)
    assert match
    return match[0]


def indent_unit(lines: Sequence[bytes]) -> bytes:
    """One level of indentation: a tab where the first indented line starts with one, else four blanks."""
    first = next((line for line in lines if line[:1] in {b" ", b"\t"} and line.strip()), b"")
    return b"\t" if first.startswith(b"\t") else _DEFAULT_UNIT
