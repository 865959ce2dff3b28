"""Phrases that say without "I" that a change is there; a user who edits nothing must not say them."""

from __future__ import annotations

from typing import Final

from fourhands.user.message_words import A_CHANGE, CHANGED

__all__ = ["PRESENCE"]

_THE: Final = r"\b(?:the|this|that|these|those|an?|some|another)"
_WISHING: Final = (
    r"(?:are|be|get|gets|have|i|is|keep|like|must|need|please|see|should|want|we|when|where|wish)\b"
)
_BE_OR_HAVE: Final = r"(?:are|been|has|have|is|was|were)"

PRESENCE: Final = (
    # Of a change.
    rf"\bmade (?:an?|few|my|one|several|some|that|the|this|two) (?:\w+ ){{0,3}}?{A_CHANGE}",
    rf"\b(?:build on|check|keep|look at|pull|see|use) (?:that|the|these|this) (?:latest |new |recent )?{A_CHANGE}",
    rf"\bthere(?:'s| are| is| was| were|(?:'ve| has| have) been) (?:\S+ ){{0,4}}?{A_CHANGE}",
    rf"{_THE} (?:\w+ )?{A_CHANGE} (?:{_BE_OR_HAVE}|in|to|makes?|made|gives?|rounds?|from|above|below|by|already)\b",
    rf"\b(?:after|following|given|since|with) {_THE.removeprefix(r'\b')} (?:\w+ )?{A_CHANGE}",
    r"\bbuild on (?:it|that|them|this|top|what)\b|\bas (?:it|they) (?:now )?stands?\b",
    r"\b(?:don't|do not|never|not to|without) (?:\w+ )?(?:clobber|discard|overwrit|revert|roll back|throw away|undo)",
    # Of something as changed.
    rf"\b(?:has|have) (?:already |just |now )?been (?:made to|{CHANGED})",
    rf"\b(?:was|were|got) (?:\w+ly |just |now |already )?(?:given|made to|{CHANGED})",
    rf"\b(?:that|the|this) (?:\w+ )?{CHANGED} (?:it|class|code|file|function|lines?|method|module|version)\b",
    r"\b(?:that|the|this) (?:latest|new|newest) (?:version|code|file|lines?|state)\b|\b(?:the|is) new it\b",
    r"(?:\b(?:already|are|be|been|is|now)|'s) (?:already |now )?(?:in place|taken care of)\b",
    r"\b(?:all|are|been|is) (?:all |already |now )?done\b",
    r"(?:^|[.!?;:,] ?)(?!so )(?:\w+ ){1,3}?no longer\b",
    r"\b(?:are|has|have|is) gone\b|\bwent (?:away|in|out|up)\b|\bgot (?:an?|its|the)\b",
    r"\band (?:it|they) (?:did|do|does|has|have|is)(?=[.,!?;]| now\b|$)",
    rf"(?:^|[.!?;:] )(?:(?!{_WISHING})\w+ ){{1,3}}{CHANGED} (?:by|from|in|to|with)\b",
    r"\blooks? different\b|\bhad to go\b|\bthanks to (?:an?|the|this) ",
    # Of a moment.
    r"\bthere(?:'s| are| is) (?:\S+ ){0,2}?now\b",
    r"(?<!for )(?<!right )(?<!from )(?<!until )(?<!up to )\bnow (?!on\b)\w+(?<!s)s\b",
    r"\b\w+(?<!s)s(?: \w+){0,4} now(?=[ .,;!?]|$)(?! that\b)",
    r"\b(?:an?|few|one|some) (?:bit|hours?|minutes?|moments?|seconds?|while) ago\b|\bjust now\b",
    r"\bearlier today\b|\bthis morning\b|\bsince (?:then|today|yesterday)\b|\bwhile you were\b",
    # Of a place, or of what the agent would find there.
    r"\bworking (?:copy|tree)\b|\bon disk\b|\buncommitted\b|\bby hand\b|\bunder your (?:feet|hands)\b",
    r"\bin front of you\b|\bwhat (?:already |now )?stands\b|\b(?:is|be) (?:\w+ )?there (?:already|in)\b",
    r"\byou(?:'ll|'ve| can| may| might| should| will)?(?: also| now)? (?:find|found|notice|see(?! to)|spot)\b",
    r"\bso you know\b|\blet you know\b|\bheads up\b|\bfyi\b|\bout of date\b|\byour (?:copy|side)\b",
    r"\bre ?read\b|\blook again\b|\b(?:a fresh|a second|another) look\b",
)
"""Patterns, for text as `fold` leaves it."""
