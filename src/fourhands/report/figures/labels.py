"""Names of agents, models, conditions and benchmarks as a figure can show them, and numbers as it words them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import accumulate, takewhile
from typing import Final

from fourhands.report.text import visible

__all__ = ["Who", "count", "counts", "label", "names", "points", "signed"]

Who = tuple[str, str]
"""An agent and its model."""

_PICTURES: Final = {"\n": "␊", "\t": "␉"}
_LONGEST: Final = 1000
_NO_XML: Final = re.compile("[\ufffe\uffff]")
_MINUS: Final = "\N{MINUS SIGN}"


def label(text: str, cells: int = 28) -> str:
    """``text`` as one line of at most so many cells; wide characters take two.

    What is too long loses its middle: versions are at the end of names.
    """
    shown = _NO_XML.sub(
        "\N{REPLACEMENT CHARACTER}",
        visible(text if len(text) <= _LONGEST else text[:_LONGEST] + text[-_LONGEST:]),
    )
    shown = "".join(_PICTURES.get(char, char) for char in shown)
    if sum(map(_cells, shown)) <= cells:
        return shown
    tail = (cells - 1) // 3
    return f"{_first(shown, cells - 1 - tail).rstrip()}…{_first(shown[::-1], tail)[::-1].lstrip()}"


def names(who: Iterable[Who], cells: int = 28) -> dict[Who, str]:
    """What to call each agent with its model: by the model alone where all share one agent, and the reverse.

    Names that clipping makes equal are told apart by a number.
    """
    pairs = list(dict.fromkeys(who))
    agents, models = {agent for agent, _ in pairs}, {model for _, model in pairs}
    shown: dict[Who, str] = {}
    for agent, model in pairs:
        whole = model if len(agents) == 1 else agent if len(models) == 1 else f"{agent} · {model}"
        name, number = label(whole, cells), 2
        while name in shown.values():
            name = f"{label(whole, cells - 3)} {number}"
            number += 1
        shown[agent, model] = name
    return shown


def signed(points: float) -> str:
    """A difference in percentage points, with its sign: ``−1.8``, ``+0.5``, ``0.0``."""
    rounded = f"{abs(points):.1f}"
    if float(rounded) == 0:
        return rounded
    return f"{_MINUS if points < 0 else '+'}{rounded}"


def points(share: float) -> str:
    """A share as a percentage: ``84.1 %``."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def count(number: int, noun: str) -> str:
    """``1 task``, ``1,200 tasks``."""
    return f"{number:,}\N{NO-BREAK SPACE}{noun}{'' if number == 1 else 's'}"


def counts(numbers: Iterable[int], noun: str) -> str:
    """How many, over several rows: ``200 tasks``, ``198 to 200 tasks``."""
    found = sorted(set(numbers))
    if not found:
        return count(0, noun)
    if len(found) == 1:
        return count(found[0], noun)
    return f"{found[0]:,} to {count(found[-1], noun)}"


def _first(text: str, cells: int) -> str:
    """The longest beginning of ``text`` that fits."""
    used = accumulate(map(_cells, text))
    return text[: sum(1 for _ in takewhile(lambda width: width <= cells, used))]


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
