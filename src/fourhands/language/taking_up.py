"""Whether words of an agent's take a requirement up: read as a person would, without a model."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from fourhands.language.conveyance import conveyed
from fourhands.model.ledger import Requirement

__all__ = ["legible", "takes_up"]

_HEAD, _TAIL = 12_000, 8_000
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that take no room: joiners, marks of direction, variation selectors, tags."""

_NO_FRACTIONS: Final = re.compile("[^\u00bc-\u00be\u2150-\u215e\u2189]+")
"""A fraction of one character stays one: taken apart, it would run into the number before it."""


def legible(text: str) -> str:
    """What a person would read of it: the beginning and the end where it is long, without what takes no room."""
    return _cut(
        _NO_FRACTIONS.sub(lambda found: unicodedata.normalize("NFKC", found[0]), _UNSEEN.sub("", _cut(text)))
    )


def _cut(text: str) -> str:
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}…{text[1 - _TAIL :]}"


def takes_up(requirement: Requirement, text: str) -> bool:
    """Whether legible words of the agent's show that it knows of a requirement: they say it, or its very names."""
    found = conveyed(requirement, text)
    exact = len(requirement.identifiers) + len(requirement.values)
    has_all_names = exact > 0 and not (found.missing_identifiers or found.missing_values)
    return found.verdict == "conveyed" or (found.verdict == "partly" and has_all_names)
