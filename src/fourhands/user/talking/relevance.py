"""Which requirements words, or a diff, come near: by names, and by words that are rare in the ledger."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import Final

from fourhands.language.ground import bounded, fold
from fourhands.language.stems import STOP_WORDS, stem
from fourhands.model.ledger import Ledger, Requirement

__all__ = ["Relevance"]

_WORD: Final = re.compile(r"[^\W_]+")
_NAME: Final = 3.0
"""What a requirement's own name counts, in words that no other requirement has."""
_NEAR: Final = 0.75
"""From here on words concern a requirement: one rare word is enough where there are few."""
_NEAR_PER_WORD: Final = 0.03
"""So much more for each further word: in many words, some are there by chance."""
_FEW: Final = 6
_BESIDE: Final = 0.5
"""Of what comes nearest: what comes less near is not meant."""
_WORK_WORDS: Final = """
add approach ask begin branch case change code commit committed complete confirm decide difference does edit expect
file finish fix further happen implement issue line look message method move plan point pull push question ready
repository requirement review start state step task test thought update user version wish work write
"""
_OF_WORK: Final = frozenset(map(stem, _WORK_WORDS.split()))
"""What any talk about any work is made of."""
_ADDED: Final = re.compile(r"^[+-](?!\+\+ |-- )", re.MULTILINE)


@dataclass(frozen=True)
class Relevance:
    """Of a ledger; pure, and quick whatever the text."""

    ledger: Ledger

    def nearest(self, text: str) -> tuple[str, ...]:
        """The requirements that ``text`` concerns, the nearest first."""
        stems = frozenset(_stems(text))
        scores = {each.id: self._score(each, text, stems) for each in self.ledger.requirements}
        near = _NEAR + _NEAR_PER_WORD * max(0, len(stems) - _FEW)
        bar = max(near, _BESIDE * max(scores.values(), default=0.0))
        found = [name for name, score in scores.items() if score >= bar]
        return tuple(sorted(found, key=lambda name: -scores[name]))

    def touched(self, diff: str) -> tuple[str, ...]:
        """The requirements whose own names stand in the changed lines of a git diff, in order."""
        lines = "\n".join(line for line in diff.split("\n") if _ADDED.match(line))
        return tuple(
            each.id for each in self.ledger.requirements if any(_holds(lines, n) for n in self._own[each.id])
        )

    def _score(self, requirement: Requirement, text: str, stems: frozenset[str]) -> float:
        score = sum(self._worth[each] for each in self._stems[requirement.id] & stems)
        return score + _NAME * sum(_holds(text, name) for name in self._own[requirement.id])

    @cached_property
    def _stems(self) -> dict[str, frozenset[str]]:
        return {each.id: frozenset(_stems(each.text)) for each in self.ledger.requirements}

    @cached_property
    def _worth(self) -> dict[str, float]:
        """A word counts less the more requirements have it, and half where the brief has it, too."""
        times = Counter(each for stems in self._stems.values() for each in stems)
        brief = frozenset(_stems(self.ledger.brief))
        count = len(self.ledger.requirements)
        return {
            each: (0.5 if each in brief else 1.0) * log(1 + count / many) / log(1 + count)
            for each, many in times.items()
        }

    @cached_property
    def _own(self) -> dict[str, tuple[str, ...]]:
        """Names that tell a requirement apart: those that less than half of the others have."""
        ledger = self.ledger
        times = Counter(name for each in ledger.requirements for name in {*each.identifiers, *each.values})
        few = max(1, len(ledger.requirements) // 3)
        return {
            each.id: tuple(
                name
                for name in dict.fromkeys((*each.identifiers, *each.values))
                if times[name] <= few and name not in ledger.brief and len(name) > 1
            )
            for each in ledger.requirements
        }


def _stems(text: str) -> Iterator[str]:
    for word in _WORD.findall(fold(text)):
        if word not in STOP_WORDS and len(word) > 1 and (root := stem(word)) not in _OF_WORK:
            yield root


def _holds(text: str, name: str) -> bool:
    """Whether a text has a name; one that is a plain word as well only where it is written as code."""
    if name not in text:
        return False
    if name.isalpha() and name.islower():
        return re.search(rf"`{name}\b|(?<!\w){name}\(|\.{name}\b", text) is not None
    return re.search(bounded(name), text) is not None
