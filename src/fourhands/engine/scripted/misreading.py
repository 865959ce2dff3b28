"""A requirement as somebody understands it who reads it wrong: one word of it turned round, or another number."""

from __future__ import annotations

import re
from typing import Final

from fourhands.model.ledger import Requirement

__all__ = ["misread"]

_TURNED: Final = (
    (re.compile(r"\b(must|should|does|do|is|has|can) not\b"), r"\1"),
    (re.compile(r"\b(must|should|does|do|is|has)n't\b"), r"\1"),
    (re.compile(r"\bnever\b"), "always"),
    (re.compile(r"\bNobody\b"), "Everybody"),
    (re.compile(r"\bnobody\b"), "everybody"),
    (re.compile(r"\bwithout\b"), "with"),
    (re.compile(r"\bnothing\b"), "anything"),
)
_NUMBER: Final = re.compile(r"\d+")


def misread(requirement: Requirement) -> str | None:
    """Its text without its negation, or with its first value's first number one higher.

    ``None`` for one that has neither: nothing is made up.
    """
    for phrase in requirement.negations:
        for pattern, turned in _TURNED:
            other = pattern.sub(turned, phrase, count=1)
            if other != phrase and phrase in requirement.text:
                return requirement.text.replace(phrase, other)
    for value in requirement.values:
        other = _NUMBER.sub(_one_more, value, count=1)
        whole = re.compile(rf"(?<![\w.,:]){re.escape(value)}(?!\w)")
        if other != value and whole.search(requirement.text):
            return whole.sub(other.replace("\\", r"\\"), requirement.text)
    return None


def _one_more(number: re.Match[str]) -> str:
    return str(int(number[0]) + 1).zfill(len(number[0]))
