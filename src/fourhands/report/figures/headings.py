"""What stands above rows and panels: two that are of different things never read alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from fourhands.model.condition import Condition
from fourhands.report.figures.labels import label

__all__ = ["LINES", "Cut", "conditions", "fold"]

Cut = Callable[[str, int], str]
"""As much of a text as fits into a line in which so many more letters must have room, as `label` clips."""

LINES: Final = 3
"""Of one heading, at most, unless its place has fewer."""

_WHOLE: Final = 10_000
"""Letters: more than any line has."""

_BETWEEN: Final = " · "
"""Between two names: a line ends there rather than elsewhere."""
_PLACE: Final = re.compile(rf"{_BETWEEN}|(?<=,) |(?<=[,\[])(?=\S)")
"""Where a line may end."""


def conditions(labels: Iterable[str], longest: int = 30) -> dict[str, str]:
    """What to call each of these conditions: ``interactive[persona=neutral]``, or ``interactive, sim-good, prompt``.

    By their labels where none of these is longer; else without the names of the parameters that a value tells.
    """
    known = tuple(dict.fromkeys(labels))
    if all(len(each) <= longest for each in known):
        return {each: each for each in known}
    told = {each: _in_words(each) for each in known}
    return told if len(set(told.values())) == len(told) else {each: each for each in known}


def _in_words(of: str) -> str:
    condition = Condition.parse(of)
    default = Condition(condition.name)
    values = {
        "simulator": "all simulators" if condition.simulator == "*" else condition.simulator,
        "persona": f"{condition.persona} persona",
        "disclosure": condition.disclosure,
        "coverage": condition.coverage,
    }
    own = [told for name, told in values.items() if getattr(condition, name) != getattr(default, name)]
    plain = replace(condition, **{name: getattr(default, name) for name in values})
    return ", ".join([plain.label, *own])


def fold(texts: Iterable[str | None], cut: Cut, *, lines: int = LINES) -> dict[str, tuple[str, ...]]:
    """At most so many lines of each text, from the top; what clipping makes equal is told apart by a number."""
    folded: dict[str, tuple[str, ...]] = {}
    for text in dict.fromkeys(filter(None, texts)):
        shown, number = _lines(text, cut, lines), 2
        while shown in folded.values():
            *above, last = _lines(text, cut, lines, spare=len(f" {number}"))
            shown = (*above, f"{last} {number}")
            number += 1
        folded[text] = shown
    return folded


def _lines(text: str, cut: Cut, most: int, spare: int = 0) -> tuple[str, ...]:
    rest, lines = text, list[str]()
    while len(lines) < most - 1 and not _fits(rest, cut, spare):
        places = [place for place in _PLACE.finditer(rest) if _fits(rest[: place.start()], cut, 0)]
        if not places:
            break
        place = max(places, key=lambda place: (place[0] == _BETWEEN, place.start()))
        lines.append(label(rest[: place.start()], _WHOLE))
        rest = rest[place.end() :]
    return (*lines, cut(rest, spare))


def _fits(text: str, cut: Cut, spare: int) -> bool:
    return cut(text, spare) == label(text, _WHOLE)
