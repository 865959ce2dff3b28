"""Comments above lines of code in languages other than Python, which are read line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from fourhands.edits.neutral.braces import Braces
from fourhands.edits.neutral.candidate import Candidate, Splice
from fourhands.edits.neutral.layout import indent_of, line_ending
from fourhands.model.text import LineRange, split_lines

__all__ = ["brace_comments", "shell_comments", "toml_comments"]

_Patterns = Sequence[tuple[re.Pattern[str], str]]

_FIRST_LINE: Final = 3
"""Lines before this one may have a meaning by their position."""
_NEAR: Final = 15
"""Lines on either side that count as the same function, where functions are not known."""

_DESCRIBED: Final = (
    (re.compile(r"return\s*;?$"), "Nothing more to do here."),
    (re.compile(r"return\b.*[;{(]$|return [^;]*$"), "This is the result."),
    (re.compile(r"if\b.*\{$|if .*; then$"), "What follows depends on a condition."),
    (re.compile(r"for\b.*\{$|for .*; do$"), "Repeat what follows."),
    (re.compile(r"while\b.*\{$|while .*; do$"), "Repeat as long as the condition holds."),
    (re.compile(r"(?:const|let|var|val|auto)\s+(?:mut\s+)?([A-Za-z_]\w*)\b[^=]*=(?![=>])"), r"Set {}."),
    (re.compile(r"([A-Za-z_]\w*)\s*:?=(?![=>]).*;$"), "Set {}."),
)
_GO_SET: Final = (re.compile(r"([A-Za-z_]\w*)\s*:?=(?!=)"), "Set {}.")
_SHELL_SET: Final = (re.compile(r"(?:export |local )?([A-Za-z_]\w*)=\S*$"), "Set {}.")
_TOML_SET: Final = (re.compile(r"([A-Za-z_][\w-]*)\s*="), "Value of {}.")


def brace_comments(data: bytes, language: Braces) -> Iterator[Candidate]:
    """Comments within indented code: what stands at the left edge may belong to a tool."""
    in_code = language.lines_in_code(data.decode("utf-8"))
    lines = split_lines(data)
    patterns = _DESCRIBED if language.free_text else (*_DESCRIBED, _GO_SET)
    for number in range(_FIRST_LINE, len(lines) + 1):
        prose = language.free_text and not lines[number - 2].rstrip().endswith((b"{", b"}", b";"))
        if number in in_code and indent_of(lines[number - 1]) and not prose:
            yield from _commented(lines, number, "//", patterns)


def shell_comments(data: bytes) -> Iterator[Candidate]:
    """Comments above assignments and compound commands of a shell script."""
    yield from _line_comments(data, (*_DESCRIBED, _SHELL_SET))


def toml_comments(data: bytes) -> Iterator[Candidate]:
    """Comments above the keys of a TOML file."""
    yield from _line_comments(data, (_TOML_SET,))


def _line_comments(data: bytes, patterns: _Patterns) -> Iterator[Candidate]:
    lines = split_lines(data)
    for number in range(_FIRST_LINE, len(lines) + 1):
        yield from _commented(lines, number, "#", patterns)


def _commented(lines: list[bytes], number: int, mark: str, patterns: _Patterns) -> Iterator[Candidate]:
    text = _said(lines[number - 1].decode("utf-8").strip(), patterns)
    if text is None or lines[number - 2].rstrip().endswith(b"\\"):
        return
    comment = indent_of(lines[number - 1]) + f"{mark} {text}".encode() + line_ending(lines, number)
    yield Candidate(
        kind="comment",
        splices=(Splice(LineRange(number, number - 1), (comment,)),),
        scope=LineRange(max(1, number - _NEAR), number + _NEAR),
        did="added a comment",
    )


def _said(line: str, patterns: _Patterns) -> str | None:
    for pattern, text in patterns:
        if match := pattern.match(line):
            return text.format(*match.groups())
    return None
