"""What a message says its speaker did, held against what was done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fourhands.user.message_ground import Ground, fold
from fourhands.user.message_names import SPAN

__all__ = ["claims", "claims_change"]

_CHANGED: Final = (
    r"(?:added|adjusted|altered|applied|changed|cleaned|committed|converted|corrected|deleted|dropped|edited|extended|"
    r"extracted|fixed|implemented|inlined|inserted|introduced|merged|modified|moved|patched|pushed|refactored|relaxed|"
    r"removed|renamed|reordered|replaced|restored|reverted|reworked|rewritten|rewrote|saved|simplified|swapped|switched|"
    r"tightened|tweaked|updated|wrapped|wrote)\b"
)
_CHANGE: Final = (
    r"(?:add|adjust|alter|change|commit|delete|drop|edit|fix|implement|insert|merge|modify|move|patch|push|refactor|"
    r"remove|rename|replace|revert|rewrite|tweak|update)\b"
)
_CHANGING: Final = (
    r"(?:add|adjust|alter|chang|edit|fix|modify|mov|patch|refactor|"
    r"remov|renam|replac|rewrit|tweak|updat)ing\b"
)
_A_CHANGE: Final = (
    r"(?:change|edit|update|commit|patch|fix|tweak|modification|adjustment|refactor|refactoring)(?:e?s)?\b"
)
_I: Final = r"\b(?:i|we)"
_HAVE: Final = r"(?:'ve|'d| have| had)?"
_LATELY: Final = (
    r" (?:(?:just|already|also|now|quickly|simply|recently|only|even|actually|finally|"
    r"(?:went|gone) (?:ahead|in) and) ){0,3}"
)
_WISH: Final = r"\b(?:want|would|need|like|should|prefer|expect|hope|must|be|can|could|think|believe)\b"
_NOT_WISHING: Final = rf"(?:(?!{_WISH})[^.!?]){{0,80}}?"

_PARAGRAPH: Final = re.compile(r"\n\s*\n")

_ALWAYS_FALSE: Final = {
    "promises a change": (
        rf"{_I}(?:'ll| will| shall|(?:'m|'re| am| are) (?:going|about) to| plan to| intend to|'d better)"
        rf" (?:\w+ )?{_CHANGE}"
    ),
    "claims what nobody did": (
        rf"{_I}{_HAVE}{_LATELY}(?:pushed|committed|merged|deployed|released|verified|confirmed|ran|run(?! into))\b"
    ),
}
_FALSE_WITH_EDIT: Final = {
    "denies the edit": (
        rf"{_I}(?: have not| haven't| did not| didn't| never|'ve not) (?:\w+ )?(?:touch|chang|edit|modif|updat|alter)"
        rf"|{_I}(?:'ve| have| did)? ?(?:made|make|changed|touched|edited) (?:no|nothing)\b"
        r"|\b(?:no (?:code |file )?changes?|nothing) (?:(?:was|were|has|have) )?(?:been )?"
        r"(?:made|changed|edited|touched)\b"
        rf"|\bwithout (?:me )?(?:touch|chang|edit)ing (?:any|a (?:thing|line)|it\b|the code)"
        r"|\bleft (?:it|them|everything|the (?:code|files?)) (?:as|un|alone)"
    ),
}
_FALSE_WITHOUT_EDIT: Final = {
    "claims a change that was not made": "|".join(
        (
            rf"{_I}{_HAVE}{_LATELY}(?:{_CHANGED}|(?:put|set|did|turned|made(?! (?:sure|up)))\b)",
            rf"{_I}(?:'ve| have) just\b",
            rf"{_I}(?:'ve| have) been {_CHANGING}",
            rf"{_I}\b{_NOT_WISHING}\band (?:just |also |then )?{_CHANGED}",
            rf"(?:^|[.!?;:]\s*)(?:just |already |also )?{_CHANGED}",
            rf"\bmy (?:\w+ )?{_A_CHANGE}",
            rf"\b{_A_CHANGE} (?:that )?{_I.removeprefix(r'\b')}{_HAVE}{_LATELY}(?:made|did|wrote|put)\b",
            rf"\bmade (?:an?|some|the|my|this|that|one|two|few|several) (?:\w+ ){{0,3}}?{_A_CHANGE}",
            rf"\b(?:has|have) (?:now |just |already )?been {_CHANGED}",
            rf"\b(?:see|check|look at|build on|pull) (?:the|this|these) (?:latest |new |recent )?{_A_CHANGE}",
        )
    ),
}


def claims_change(text: str) -> bool:
    """Whether the speaker says that they changed the code: a user who only speaks must never."""
    said = fold(text)
    return any(re.search(pattern, said) for pattern in _FALSE_WITHOUT_EDIT.values())


def claims(text: str, ground: Ground) -> Iterator[str]:
    """Each kind of claim in ``text`` that is not true, as a reason with the words."""
    said = fold(_PARAGRAPH.sub(". ", SPAN.sub("it", text)))
    for reason, pattern in (
        _ALWAYS_FALSE | (_FALSE_WITHOUT_EDIT if ground.edit is None else _FALSE_WITH_EDIT)
    ).items():
        if match := re.search(pattern, said):
            yield f"{reason} ({match[0].strip()!r})"
