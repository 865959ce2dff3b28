"""Blocks of a record, each of one event -> one text of bounded length, in which nothing can pose as a heading.

A heading is ``[#12] who did what``, and begins its line. All that agents, users and programs wrote stands behind
``| ``, so that no line of it begins with anything else; what would end a line otherwise, or turn its direction, or is
not to be seen, is written as an escape. Lines in brackets without a number say what was left out.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

__all__ = ["SMALLEST_BUDGET", "Block", "Keep", "RecordText", "lay_out"]

SMALLEST_BUDGET: Final = 4_000
"""Characters in which the task, the verdict and the final difference still have some room."""
_ROOM: Final = 0.75
"""Of the budget, what is always shown gets at most."""
_LAST: Final = 12
"""Blocks at the end of the work that are left out after all others of their like."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
"""Categories of characters that act on what is around them, or that a reader does not see and a model does."""
_BLANK: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0e\uffa0\U000e0100-\U000e01ef]"
)
"""Characters of other categories that show as nothing."""
_LINE_ENDS: Final = re.compile(r"\r\n?")


class Keep(IntEnum):
    """How dear a block is: where there is too much, the least dear ones are left out first."""

    OUTPUT = 0
    ACTION = 1
    CHANGE = 2
    THOUGHT = 3
    LAST_PART = 4
    CHECKPOINT = 5
    WORDS = 6
    EDIT = 7
    ALWAYS = 8


@dataclass(frozen=True, slots=True)
class Block:
    """Of event ``seq``. ``title`` is ours, one line; ``body`` is anybody's, shown with at most ``most`` characters.

    ``tail``: of a body that is too long its end is shown, else its beginning and its end.
    """

    seq: int
    title: str
    body: str
    keep: Keep
    most: int
    tail: bool = False


@dataclass(frozen=True, slots=True)
class RecordText:
    """A record for a reader. ``shown`` are the events that it shows, ``left_out`` characters that it does not."""

    text: str
    shown: frozenset[int]
    left_out: int


@dataclass(frozen=True, slots=True)
class _Laid:
    seq: int
    text: str
    size: int
    """Characters of the body."""
    missing: int
    """Characters of it that are not in ``text``."""


def lay_out(blocks: Sequence[Block], budget: int) -> RecordText:
    """The blocks, in order, in at most ``budget`` characters.

    Of what is always kept the longest bodies are cut until it takes three quarters of that. Of the others, the least
    dear are left out first, those from the middle before those from both ends; of the last part of the work after
    all else that it is made of.

    Raises:
        ValueError: the budget is below `SMALLEST_BUDGET`.
    """
    if budget < SMALLEST_BUDGET:
        raise ValueError(f"budget is {budget}: a record needs {SMALLEST_BUDGET} characters at least")
    most = _most_of_each([block for block in blocks if block.keep is Keep.ALWAYS], budget)
    laid = [
        _laid(block, min(block.most, most) if block.keep is Keep.ALWAYS else block.most) for block in blocks
    ]
    order = _expendable(blocks)
    dropped = bisect_left(range(len(order)), True, key=lambda n: len(_joined(laid, set(order[:n]))) <= budget)
    gone = set(order[:dropped])
    return RecordText(
        _joined(laid, gone),
        frozenset(each.seq for at, each in enumerate(laid) if at not in gone),
        sum(each.size if at in gone else each.missing for at, each in enumerate(laid)),
    )


def _most_of_each(always: Sequence[Block], budget: int) -> int:
    """Characters of a body so that all of them fit."""
    room = _ROOM * budget

    def is_too_much(most: int) -> bool:
        return sum(len(_laid(block, min(block.most, most)).text) for block in always) > room

    return bisect_left(range(budget), True, key=is_too_much)


def _expendable(blocks: Sequence[Block]) -> list[int]:
    """Indices of the blocks that can be left out, the first to go first."""
    work = [at for at, block in enumerate(blocks) if block.keep < Keep.LAST_PART]
    last = set(work[-_LAST:])
    middle = len(blocks) / 2
    can_go = [at for at, block in enumerate(blocks) if block.keep < Keep.ALWAYS]
    return sorted(
        can_go, key=lambda at: (Keep.LAST_PART if at in last else blocks[at].keep, abs(at - middle), at)
    )


def _joined(laid: Sequence[_Laid], gone: set[int]) -> str:
    return "\n".join(_parts(laid, gone))


def _parts(laid: Sequence[_Laid], gone: set[int]) -> Iterator[str]:
    gap: list[_Laid] = []
    for at, each in enumerate(laid):
        if at in gone:
            gap.append(each)
            continue
        if gap:
            yield _note(gap)
            gap = []
        yield each.text
    if gap:
        yield _note(gap)


def _note(gap: Sequence[_Laid]) -> str:
    first, last = gap[0].seq, gap[-1].seq
    which = f"#{first}" if first == last else f"#{first} to #{last}"
    return f"[left out: {which}, {sum(each.size for each in gap):,} characters]"


def _laid(block: Block, most: int) -> _Laid:
    body = block.body.rstrip()
    missing = max(0, len(body) - most)
    heading = f"[#{block.seq}] {block.title}"
    if not missing:
        return _Laid(block.seq, "\n".join([heading, *_lines(body)]), len(body), 0)
    head = 0 if block.tail else most // 2
    tail = body[len(body) - (most - head) :]
    gap = f"[left out: {missing:,} characters of #{block.seq}]"
    return _Laid(
        block.seq, "\n".join([heading, *_lines(body[:head]), gap, *_lines(tail)]), len(body), missing
    )


def _lines(text: str) -> Iterator[str]:
    if text:
        yield from (f"| {line}" for line in _seen(_LINE_ENDS.sub("\n", text)).split("\n"))


def _seen(text: str) -> str:
    """The same for people and for models: what nobody sees, or what acts on its line, is written as an escape."""
    return text.translate({ord(each): _escaped(each) for each in set(text) if _is_unseen(each)})


def _is_unseen(char: str) -> bool:
    if char in "\n\t":
        return False
    return unicodedata.category(char) in _UNSEEN or _BLANK.match(char) is not None


def _escaped(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:  # noqa: PLR2004 - a byte
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - four digits tell
