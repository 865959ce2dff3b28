"""What a user who edits nothing may say: what they think and want, never what they did.

Words for a deed have no end, so they are not listed: after "I" or "we" only a verb of thinking or wishing is let
through, after "my" only a noun of that kind. What says without "I" that a change is there is known by its phrases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fourhands.user.message_words import A_CHANGE, CHANGED, CHANGING, HAVE, I_OR_WE, LATELY

__all__ = ["change_claims"]

_ADVERBS: Final = (
    r"(?: (?:also|always|certainly|clearly|completely|definitely|deeply|do|don't|even|firmly|fully|generally|"
    r"genuinely|honestly|just|long|mainly|mostly|much|never|not|only|often|particularly|personally|pretty|probably|"
    r"quite|rather|really|simply|so|specifically|still|strongly|sure|surely|thoroughly|truly|usually|very|well)\b){0,3}"
)
_HAS: Final = r"(?:'ve|'d| have| had)"
_THINKS: Final = (
    r"(?:agree[ds]?|appreciated?|ask(?:ed)?|assum(?:e|ed|ing)|beg|believed?|bet|care[ds]?|consider(?:ed)?|count on|"
    r"demand|disagreed?|doubt(?:ed)?|expect(?:ed|ing)?|favou?r(?:ed)?|fear|feel|felt|figured?|find|found|guess|"
    r"had in mind|hate|have (?:always |in mind|no |to (?:say|insist|ask|admit))|hear|heard|hop(?:e|ed|ing)|imagined?|"
    r"insist(?:ed)?|know|knew|known|like[ds]?|look forward|loved?|mean|meant|mention(?:ed)?|mind|need(?:ed)?|noticed?|"
    r"object|prefer(?:red)?|presumed?|propose[ds]?|reckon(?:ed)?|recommend(?:ed)?|rely|relied|remember(?:ed)?|"
    r"request(?:ed)?|require[ds]?|(?:ran|run|came|come) (?:into|across)|said|say|saw|see|seen|sense|stand by|suggest(?:ed)?|"
    r"suppose[ds]?|suspect(?:ed)?|tell|think(?:ing)?|thought|told|trust(?:ed)?|understand|understood|value|"
    r"want(?:ed|ing)?|wish(?:ed)?|wonder(?:ed|ing)?|worr(?:y|ied))\b"
)
_IS: Final = r"(?:'m|'re| am| are| was| were|(?:'ve| have) been)"
_MINDED: Final = (
    r"(?:afraid|after|against|asking|assuming|aware|certain|concerned|confident|convinced|counting on|"
    r"dealing with|expecting|fine|fond|glad|happy|hoping|in favou?r|interested|keen|looking for|of the (?:opinion|view)|"
    r"positive|relying|saying|sure|talking|telling|thinking|tired|under the impression|used to|wanting|wondering|"
    r"worried)\b"
)
_MAY: Final = (
    r"(?: (?:should|shouldn't|must|mustn't|would|wouldn't|might|may|need to|needn't|ought to)\b(?! \w* ?have\b)"
    r"|(?<=we) (?:can|cannot|can't|could|couldn't|do not|don't)\b(?! \w* ?have\b))"
)
_CAN: Final = r"(?:'d|'ll| will| can| can't| cannot| could| couldn't)"
_MILD: Final = r"(?:be (?:glad|happy|fine|grateful)|go with|keep|leave it|live with|rather|say|wait)\b"
# The subject of a clause: not "i.e.", not the index i, nor what stands behind "should" in a question.
_SUBJECT: Final = r"(?<!should )(?<!could )(?<!can )(?<!shall )(?<!may )\b(?:i|we)\b(?![.)\]]|$)(?:,[^,.!?]{1,40},)?"
_DEED: Final = (
    rf"{_SUBJECT}(?!{_ADVERBS}{_MAY}|{_CAN}{_ADVERBS} (?:{_THINKS}|{_MILD})|{_HAS}?{_ADVERBS} {_THINKS}"
    rf"|(?: do| did| don't| didn't){_ADVERBS} {_THINKS}|{_IS}{_ADVERBS} {_MINDED})(?:'\w+)?(?: [\w']+){{0,4}}"
)
_MINE: Final = (
    r"\b(?:my(?! (?:\w+ ){0,2}?(?:advice|assumption|belief|concern|conviction|expectation|experience|feeling|guess|"
    r"hope|idea|impression|intent|intention|mind|opinion|point|position|preference|priority|reading|reason|reasoning|"
    r"request|requirement|sense|suggestion|thinking|thought|understanding|view|wish)(?:e?s)?\b)(?: \w+){0,2}|mine\b)"
)
_PAST: Final = r"(?:\w+ed|did|got|made|put|set|took|wrote|rewrote|went|had|ran)"
_IT: Final = r"(?:the|it|this|that|them|these|those|an?|all|both|each|every|everything|up|down|out|in)\b"
_WISH: Final = r"\b(?:want|would|need|like|should|prefer|expect|hope|must|be|can|could|think|believe)\b"
_NOT_WISHING: Final = rf"(?:(?!{_WISH})[^.!?]){{0,80}}?"
_SENTENCE: Final = r"(?:^|[.!?;:]\s*)(?:and |so |ok |okay |also |just |already |quickly )?"

_CLAIMS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        _DEED,
        _MINE,
        rf"{I_OR_WE}{HAVE}{LATELY}(?:{CHANGED}|(?:put|set|did|turned|made(?! (?:sure|up)))\b)",
        rf"{I_OR_WE}(?:'ve| have) just\b",
        rf"{I_OR_WE}(?:'ve| have) been {CHANGING}",
        rf"{I_OR_WE}\b{_NOT_WISHING}\band (?:just |also |then )?{CHANGED}",
        rf"{I_OR_WE}\b[^.!?]{{0,120}}?\b(?:and|but|then|so) (?:just |also |then |already )*{_PAST} {_IT}",
        rf"{_SENTENCE}{CHANGED}",
        rf"{_SENTENCE}(?!need|based){_PAST} {_IT}",
        rf"{_SENTENCE}(?:(?:all )?done\b|(?:got|have|had) )",
        rf"\b{A_CHANGE} (?:that )?{I_OR_WE.removeprefix(r'\b')}{HAVE}{LATELY}(?:made|did|wrote|put)\b",
        rf"\bmade (?:an?|some|the|my|this|that|one|two|few|several) (?:\w+ ){{0,3}}?{A_CHANGE}",
        rf"\b(?:has|have) (?:now |just |already )?been (?:made to|{CHANGED})",
        rf"\b(?:see|check|look at|build on|pull|keep|use) (?:the|this|these|that) (?:latest |new |recent )?{A_CHANGE}",
        rf"\bthere(?:'s| is| are| was| were|'ve been| has been| have been) (?:\S+ ){{0,4}}?{A_CHANGE}",
        r"\bthere(?:'s| is| are) (?:\S+ ){0,2}?now\b",
        rf"\b(?:the|this|that|these|those|an?|some|another) (?:\w+ )?{A_CHANGE} "
        r"(?:has|have|is|are|was|were|in|to|makes?|made|gives?|rounds?|from|above|below|by|already)\b",
        rf"\b(?:after|since|with|following|given) (?:the|this|that|these|those|an?) (?:\w+ )?{A_CHANGE}",
        r"\bworking (?:copy|tree|directory)\b|\bon disk\b|\buncommitted\b",
        r"\byou(?:'ll| will| can| should| may| might|'ve)?(?: now| already| also)? (?:find|found|see|notice|spot)\b",
        r"(?<!for )(?<!right )(?<!from )(?<!until )(?<!up to )\bnow (?!on\b)\w+(?<!s)s\b",
        r"(?:\b\w+(?<!s)s\b)(?: \w+){0,4} now(?=[ .,;!?]|$)(?! that\b)",
        r"\b(?:the|this|that) (?:\w+ )?(?:updated|modified|edited|rewritten|patched|reworked|refactored|renamed|changed)"
        r" (?:it|code|file|function|method|version|class|module|line|lines)\b",
        r"\b(?:the|this|that) (?:new|latest|newest) (?:version|code|file|lines?|state)\b",
        r"\b(?:by|from) me\b|\b(?:by hand|under your (?:hands|feet)|while you were)\b",
        r"\b(?:a|an|one|few|some) (?:minutes?|moments?|seconds?|while|bit|hours?) ago\b|\bjust now\b"
        r"|\bearlier today\b|\bthis morning\b",
        r"\b(?:in place|taken care of)\b|\b(?:is|are|been|all) (?:already |now |all )?done\b",
        r"\bbuild on (?:it|that|this|what|them|top)\b|\bas (?:it|they) (?:now )?stands?\b",
    )
)


def change_claims(said: str) -> Iterator[str]:
    """The first words of each kind in ``said``, which is folded, that claim a deed or a change that is there."""
    for pattern in _CLAIMS:
        if match := pattern.search(said):
            yield match[0].strip()
