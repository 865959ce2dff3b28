"""What a message says its speaker did, held against what was done.

With an edit, phrases are known that are false of any edit; that the words are true of this one is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fourhands.language.ground import Ground, fold
from fourhands.user.message_minds import DEEDS
from fourhands.user.message_names import SPAN
from fourhands.user.message_presence import PRESENCE
from fourhands.user.message_words import CHANGE, CHANGED, HAVE, I_OR_WE, LATELY

__all__ = ["claims", "claims_change"]

_PARAGRAPH: Final = re.compile(r"\n\s*\n")

_ALWAYS_FALSE: Final = {
    "promises a change": (
        rf"{I_OR_WE}(?:'ll| will| shall|(?:'m|'re| am| are) (?:going|about) to| plan to| intend to|'d better)"
        rf" (?:\w+ )?{CHANGE}"
    ),
    "claims what nobody did": (
        rf"{I_OR_WE}{HAVE}{LATELY}"
        r"(?:pushed|committed|merged|deployed|released|verified|confirmed|ran(?! (?:into|across))|run(?! into))\b"
    ),
}
_FALSE_WITH_EDIT: Final = {
    "denies the edit": (
        rf"{I_OR_WE}(?: have not| haven't| did not| didn't| never|'ve not) (?:\w+ )?"
        r"(?:touch|chang|edit|modif|updat|alter)"
        rf"|{I_OR_WE}(?:'ve| have| did)? ?(?:made|make|changed|touched|edited) (?:no|nothing)\b"
        r"|\b(?:no (?:code |file )?changes?|nothing) (?:(?:was|were|has|have) )?(?:been )?"
        r"(?:made|changed|edited|touched)\b"
        r"|\bwithout (?:me )?(?:touch|chang|edit)ing (?:any|a (?:thing|line)|it\b|the code)"
        r"|\bleft (?:it|them|everything|the (?:code|files?)) (?:as|un|alone)"
    ),
}
_FALSE_WITHOUT_EDIT: Final = {
    "claims a change that was not made; say what you think or want": "|".join((*DEEDS, *PRESENCE))
}
_FALSE_OF_ONE_PLACE: Final = {
    "claims a change elsewhere": (
        rf"\balso (?:\w+ )?{CHANGED}"
        rf"|\b{CHANGED} (?:up )?(?:(?:all|both|each|every|its|their|the|my|our|any) ){{0,2}}(?:of )?(?:the |its )?"
        r"(?:callers?|call sites?|docs?|documentation|docstrings?|changelog|usages?|uses|imports?|readme|rest|"
        r"remaining|others?|everything else)\b"
        rf"|\b{CHANGED} [^.!?]{{0,60}}?\b(?:elsewhere|everywhere|across the (?:code|repo|project)|"
        r"in (?:all|both|several|other) (?:files|places|modules))"
    ),
}
_I_WORD: Final = re.compile(r"\bI[A-Z]\w*")
_PLACE: Final = re.compile(r"^@@ ", re.MULTILINE)


def claims_change(text: str) -> bool:
    """Whether the speaker says that they changed the code: a user who only speaks must never."""
    said = _folded(text)
    return any(re.search(pattern, said) for pattern in _FALSE_WITHOUT_EDIT.values())


def claims(text: str, ground: Ground) -> Iterator[str]:
    """Each kind of claim in ``text`` that is not true, as a reason with the words."""
    said = _folded(text)
    for reason, pattern in (_ALWAYS_FALSE | _false_of(ground.edit)).items():
        if match := re.search(pattern, said):
            yield f"{reason} ({match[0].strip()!r})"


def _false_of(edit: str | None) -> dict[str, str]:
    if edit is None:
        return _FALSE_WITHOUT_EDIT
    places = len(_PLACE.findall(edit))
    return _FALSE_WITH_EDIT | (_FALSE_OF_ONE_PLACE if places <= 1 else {})


def _folded(text: str) -> str:
    prose = _PARAGRAPH.sub(". ", SPAN.sub("it", text))
    # Taken apart, IDs and IPv4 would begin with the pronoun.
    return fold(_I_WORD.sub(lambda word: word[0].lower(), prose))
