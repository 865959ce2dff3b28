"""Patterns for words of change, for text as `fold` leaves it."""

from __future__ import annotations

from typing import Final

__all__ = ["A_CHANGE", "CHANGE", "CHANGED", "HAVE", "I_OR_WE", "LATELY"]

CHANGED: Final = (
    r"(?:added|adjusted|altered|applied|changed|cleaned|committed|converted|corrected|deleted|dropped|edited|extended|"
    r"extracted|fixed|implemented|inlined|inserted|introduced|merged|modified|moved|patched|pushed|refactored|relaxed|"
    r"removed|renamed|reordered|replaced|restored|reverted|reworked|rewritten|rewrote|saved|simplified|swapped|switched|"
    r"tightened|tweaked|updated|wrapped|wrote)\b"
)
CHANGE: Final = (
    r"(?:add|adjust|alter|change|commit|delete|drop|edit|fix|implement|insert|merge|modify|move|patch|push|refactor|"
    r"remove|rename|replace|revert|rewrite|tweak|update)\b"
)
A_CHANGE: Final = (
    r"(?:change|edit|update|commit|patch|fix|tweak|modification|adjustment|refactor|refactoring|rewrite)"
    r"(?:e?s)?\b"
)
I_OR_WE: Final = r"\b(?:i|we)"
HAVE: Final = r"(?:'ve|'d| have| had)?"
LATELY: Final = (
    r" (?:(?:just|already|also|now|quickly|simply|recently|only|even|actually|finally|"
    r"(?:went|gone) (?:ahead|in) and) ){0,3}"
)
