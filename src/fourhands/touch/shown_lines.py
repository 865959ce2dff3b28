"""What the output of a tool that reads a file tells about the lines it showed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from fourhands.model.text import LineRange

__all__ = ["numbered_lines", "said_lines"]

_NUMBERED: Final = re.compile(r"[ \t]*L?(\d{1,9})(?:→|\t|: ?|\| ?|\. |  |$)")
_BEFORE: Final = ("<", "[", "Here's the result of running", "Showing lines", "Read file:", "---")
_AFTER: Final = ("<", "(", "[", "...")
_CUT: Final = ("clipped", "truncated", "omitted")
_SAID: Final = re.compile(r"[Ss]howing lines (\d{1,9})[-–](\d{1,9})\b")
_SAID_WITHIN: Final = 400
"""Characters at either end of an output in which its tool speaks of what it showed."""


def numbered_lines(output: str, start: int | None) -> tuple[LineRange, ...] | None:
    """The lines of a file that ``output`` shows, each behind its number; ``None`` if it does not number them.

    A text that looks numbered is told apart by this: all of its lines are, without a gap but where a part is said
    to be cut out, and the first is about the one that was asked for (``start``, if that is known).
    """
    runs: list[tuple[int, int]] = []
    may_be_cut = any(word in output for word in _CUT)
    is_cut = False
    for line in _without_notices(output.split("\n")):
        match = _NUMBERED.match(line)
        number = int(match[1]) if match else -1
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
            is_cut = False
        elif number >= 0 and (
            number > runs[-1][1] and is_cut if runs else start is None or abs(number - start) <= 1
        ):
            runs.append((number, number))
            is_cut = False
        elif not is_cut:
            return None
        is_cut = is_cut or (may_be_cut and any(word in line for word in _CUT))
    if not runs:
        return None
    # Claude Code counts from the offset it is given, and may be given 0: then the first line is called 0.
    shift = 1 if runs[0][0] == 0 else 0
    return tuple(LineRange(first + shift, last + shift) for first, last in runs)


def said_lines(output: str) -> LineRange | None:
    """The lines that a tool says it showed, before or behind them: ``Showing lines 1-2000 of 5000``."""
    for part in (output[:_SAID_WITHIN], output[-_SAID_WITHIN:]):
        if match := _SAID.search(part):
            start, end = int(match[1]), int(match[2])
            return LineRange(start, end) if 1 <= start <= end else None
    return None


def _without_notices(lines: Sequence[str]) -> Sequence[str]:
    """Without what a tool says around the lines of a file."""
    first, end = 0, len(lines)
    while first < end and _is_notice(lines[first], _BEFORE):
        first += 1
    while end > first and _is_notice(lines[end - 1], _AFTER):
        end -= 1
    return lines[first:end]


def _is_notice(line: str, starts: tuple[str, ...]) -> bool:
    text = line.lstrip()
    return not text or text.startswith(starts)
