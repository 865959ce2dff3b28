"""What is wrong with a file of events, said in few words, whatever the file holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["ForeignLineError", "Problems", "named", "ranges"]

_MOST_TOLD: Final = 10
"""Lines of one file, and ranges of events, that are spoken of one by one."""
_MOST_SAID: Final = 200
"""Letters of one reason."""


class ForeignLineError(ValueError):
    """A line that no state of this product has written."""


@dataclass(slots=True)
class Problems:
    """Collects what is wrong with the file at ``path``."""

    path: Path
    _whole: list[str] = field(default_factory=list)
    """Of the file as a whole."""
    _lines: list[str] = field(default_factory=list)
    """Of the first lines that were skipped."""
    _skipped: int = 0
    _foreign: int = 0

    def of_file(self, what: str) -> None:
        """Note what holds of the file; ``what`` goes on after its name."""
        self._whole.append(f"{_printable(str(self.path))} {what}")

    def skip(self, number: int, error: ValueError) -> None:
        """Note that line ``number``, from 1, is left out, and why."""
        self._skipped += 1
        self._foreign += isinstance(error, ForeignLineError)
        if len(self._lines) < _MOST_TOLD:
            self._lines.append(
                f"{_printable(str(self.path))}:{number}: line skipped: {_printable(_short(str(error)))}"
            )

    def told(self, events: int) -> tuple[str, ...]:
        """As sentences for a person, once ``events`` were read."""
        path = _printable(str(self.path))
        if self._foreign and self._foreign == self._skipped and not events:
            what = f"none of its {self._skipped:,} lines is an event"
            return (f"{path} is no record of Fourhands: {what}", self._lines[0], *self._whole)
        further = self._skipped - len(self._lines)
        more = (f"{path}: … and {further:,} more lines skipped",) if further else ()
        return (*self._lines, *more, *self._whole)


def named(seqs: Iterable[int]) -> str:
    """``events 3, 7, 8``."""
    return ranges([(seq, seq) for seq in sorted(seqs)])


def ranges(found: Sequence[tuple[int, int]]) -> str:
    """``event 3``, ``events 3, 17–20``, ``events … and 5 more``: both ends belong to a range."""
    shown = ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in found[:_MOST_TOLD])
    more = len(found) - _MOST_TOLD
    is_one = len(found) == 1 and found[0][0] == found[0][1]
    return f"event{'' if is_one else 's'} {shown}" + (f" and {more:,} more" if more > 0 else "")


def _short(text: str) -> str:
    return text if len(text) <= _MOST_SAID else f"{text[:_MOST_SAID]}…"


def _printable(text: str) -> str:
    """A file's own words must not steer a terminal."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
