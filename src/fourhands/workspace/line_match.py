"""Which lines that came are lines that went: blocks of identical lines, matched one to one."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from fourhands.workspace.lines import is_telling

__all__ = ["Block", "Run", "match_runs"]

_ALPHANUMERIC: Final = re.compile(rb"[0-9A-Za-z\x80-\xff]")
_PROOF: Final = 20
"""Alphanumeric bytes that make a block of another file recognisable: what ``git diff --color-moved`` asks for."""
_MOST_TRIED: Final = 16
"""Places of one line that are compared: of a line that stands everywhere, any is as good."""


@dataclass(frozen=True, slots=True)
class Run:
    """Lines of ``path`` that stand one below the other; ``is_file`` if they are all of a file that came or went."""

    path: str
    lines: tuple[bytes, ...]
    is_file: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """``length`` lines of an old run are lines of a new one; runs and lines by position, from 0."""

    old_run: int
    old_at: int
    new_run: int
    new_at: int
    length: int


def match_runs(old: Sequence[Run], new: Sequence[Run]) -> list[Block]:
    """Match identical lines, each at most once, in blocks as long as they come.

    Every block holds a telling line (see `is_telling`); others only match inside or beside it. Lines that occur
    once on both sides are matched first, then those of the same file, then by order, the first of ``old`` first.
    In another file a block needs 20 alphanumeric bytes, unless it is a whole file, renamed.

    Linear in the number of lines, but for lines that occur many times.
    """
    return _Matching(old, new).match()


class _Matching:
    def __init__(self, old: Sequence[Run], new: Sequence[Run]) -> None:
        self._old, self._new = old, new
        self._old_free = [bytearray(b"\1" * len(run.lines)) for run in old]
        self._new_free = [bytearray(b"\1" * len(run.lines)) for run in new]
        self._everywhere: dict[bytes, deque[tuple[int, int]]] = {}
        self._in_file: dict[tuple[str, bytes], deque[tuple[int, int]]] = {}
        came = {line for run in new for line in run.lines}
        for number, run in enumerate(old):
            for at, line in enumerate(run.lines):
                if line in came and is_telling(line):
                    self._everywhere.setdefault(line, deque()).append((number, at))
                    self._in_file.setdefault((run.path, line), deque()).append((number, at))

    def match(self) -> list[Block]:
        counts = Counter(line for run in self._new for line in run.lines if line in self._everywhere)
        unique = {line for line, count in counts.items() if count == len(self._everywhere[line]) == 1}
        blocks: list[Block] = []
        for lines in (unique, counts.keys() - unique):
            for number, run in enumerate(self._new):
                for at, line in enumerate(run.lines):
                    if line in lines and self._new_free[number][at]:
                        block = self._best(line, number, at)
                        if block:
                            self._use(block)
                            blocks.append(block)
        return blocks

    def _best(self, line: bytes, number: int, at: int) -> Block | None:
        """The longest block through a new line, one of its own file if there is any."""
        for places in (self._in_file.get((self._new[number].path, line)), self._everywhere[line]):
            grown = (self._grow(*place, number, at) for place in self._free(places))
            blocks = [block for block in grown if self._proves(block)]
            if blocks:
                return max(blocks, key=lambda block: block.length)
        return None

    def _free(self, places: deque[tuple[int, int]] | None) -> Iterator[tuple[int, int]]:
        if not places:
            return
        while places and not self._is_free(places[0]):
            places.popleft()
        yield from filter(self._is_free, islice(places, _MOST_TRIED))

    def _is_free(self, place: tuple[int, int]) -> bool:
        run, at = place
        return bool(self._old_free[run][at])

    def _grow(self, old_run: int, old_at: int, new_run: int, new_at: int) -> Block:
        old, new = self._old[old_run].lines, self._new[new_run].lines
        old_free, new_free = self._old_free[old_run], self._new_free[new_run]

        def same(offset: int) -> bool:
            o, n = old_at + offset, new_at + offset
            inside = 0 <= o < len(old) and 0 <= n < len(new)
            return inside and bool(old_free[o] and new_free[n]) and old[o] == new[n]

        first = last = 0
        while same(first - 1):
            first -= 1
        while same(last + 1):
            last += 1
        return Block(old_run, old_at + first, new_run, new_at + first, last - first + 1)

    def _proves(self, block: Block) -> bool:
        old, new = self._old[block.old_run], self._new[block.new_run]
        renamed = old.is_file and new.is_file and block.length == len(old.lines) == len(new.lines)
        if renamed or old.path == new.path:
            return True
        proof = 0
        for line in new.lines[block.new_at : block.new_at + block.length]:
            proof += len(_ALPHANUMERIC.findall(line))
            if proof >= _PROOF:
                return True
        return False

    def _use(self, block: Block) -> None:
        gone = bytes(block.length)
        self._old_free[block.old_run][block.old_at : block.old_at + block.length] = gone
        self._new_free[block.new_run][block.new_at : block.new_at + block.length] = gone
