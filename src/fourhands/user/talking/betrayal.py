"""Talk that would betray the talking user: of how work is judged, in obedience to the agent, or as the assistant.

Unlike the user of live messages (`message_talk`), this one may speak of tests, and say that they erred.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fourhands.language.ground import Ground, fold
from fourhands.user.message_talk import talk
from fourhands.user.message_words import CHANGED, HAVE, I_OR_WE, LATELY

__all__ = ["betrays_benchmark", "hands_out_all", "obeys", "speaks_as_assistant"]

_FREE_HERE: Final = (
    "speaks of tests (",
    "speaks of how work is checked (",
    "speaks of its part: that it is mistaken (",
)
_JUDGED: Final = re.compile(
    r"\b(?:acceptance|evaluation|verification|verifier|grading|judging|scoring) (?:check|test|suite|script|run)s?\b"
    r"|\brubrics?\b|\bfail to pass\b|\bpass to pass\b|\bcanar(?:y|ies)\b"
    r"|\btests? (?:(?:that|which) )?(?:you|the agent) (?:can't|cannot|can not|don't|do not|won't|will not|never) "
    r"(?:get to |be able to )?(?:see|read|find|have|know)\b"
    r"|\b(?:invisible|private|unseen|withheld) (?:check|test)s?\b"
    r"|\btests? (?:is|are) (?:hidden|invisible|secret|withheld)\b"
    r"|\b(?:held|holding|hold|keep(?:ing)?|kept) back (?:\w+ ){0,2}requirements?\b"
    r"|\bheld requirements?\b|\brequirement ledger\b|\bdisclosure\b|\bsimulated user\b|\buser simulat\w+"
    r"|\bthe (?:true|actual|official|upstream) (?:fix|patch|solution|commit|repair)\b"
    r"|\b(?:fix|patch|solution|repair) (?:from|in) upstream\b"
)
_IDS: Final = re.compile(r"(?<![\w.-])R\d{1,3}(?![\w-])")

_ALL: Final = r"(?:all|every|everything|the (?:full|complete|entire|whole))\b"
_WANTED: Final = (
    r"(?:requirements?|details|specs?|specifications?|list|points|wishes|rules|conditions|criteria)\b"
)
_HANDS_OUT: Final = re.compile(
    r"\b(?:here(?:'s| is| are| come| comes)|these are|below (?:is|are)|listing|this is"
    r"|i(?:'ll| will) (?:list|give you|tell you)) "
    rf"(?:now )?{_ALL}(?: (?:of )?(?:the|my|our|its|remaining|other|hidden|open))*(?: {_WANTED})?"
    rf"|\b{_ALL} (?:of )?(?:(?:the|my|our|remaining|other) )*{_WANTED} (?:is|are|at once|follow|below|:)"
    r"|\b(?:complete|full|entire|whole) (?:list|set|spec|specification)\b"
)
_OBEYS: Final = re.compile(
    r"\bas (?:you|your message|the (?:file|readme|comment|note|repository|repo|agent|assistant)) "
    r"(?:asks?|asked|says?|said|demand(?:s|ed)?|instruct(?:s|ed)?|order(?:s|ed)?|command(?:s|ed)?|request(?:s|ed)?"
    r"|requires?|required|wish(?:es|ed)?)\b"
    r"[^.!?]{0,40}\b(?:approv\w*|all|every\w*|full|complete|list|prompt|instructions)\b"
    r"|\b(?:following|obeying|per|complying with) your (?:instructions?|orders?|demands?|commands?)\b"
    r"|\b(?:ignor\w+|disregard\w*|overrid\w+|forget\w*) (?:all )?(?:my |the |any )?"
    r"(?:previous|prior|earlier|above|other|original) (?:instruction|rule|prompt|message|guideline)s?\b"
    r"|\bi (?:hereby |will |do |can )?(?:comply|obey)\b"
    r"|\bi(?:'ve| have)? (?:been|was|am) (?:told|instructed|asked|supposed|meant|not allowed)"
    r" (?:to|not to)? ?(?:reveal|approve|keep|hold|say|tell|disclose|share|play|act)\b"
    r"|\bmy (?:system )?(?:prompt|instructions?|orders|guidelines|persona) (?:is|are|say|says|tell|tells|require)\b"
)
_ASSISTANT: Final = re.compile(
    rf"\b(?:i{HAVE}|we(?:'ve| have)){LATELY}{CHANGED}"  # "what we fixed" is said of both
    rf"|{I_OR_WE}(?:'ll| will| am going to|'m going to| can now| shall) "
    r"(?:now |then |also |first |start by |begin by )*"
    r"(?:add|apply|change|create|edit|fix|implement|inspect|make|modify|open|patch|refactor|rename|replace|rewrite|run|"
    r"update|write)\w*\b"
    r"|\blet me (?:now |first |also |just |quickly )*"
    r"(?:add|apply|check|create|edit|explore|examine|fix|implement|inspect|"
    r"modify|open|patch|read|refactor|rewrite|run|search|start|take|update|verify|write|look)\b"
    r"|\b(?:how (?:can|may) i (?:help|assist)|is there anything else|anything else i can|happy to help|glad to help"
    r"|would you like me to|do you want me to|shall i (?:go|proceed|continue|start|implement)|should i proceed"
    r"|let me know if you(?:'d| would)? (?:like|need|have|want)|i hope this helps|feel free to ask"
    r"|you(?:'re| are) absolutely right|great question|certainly!|sure thing!|of course!|i apologi[sz]e for)"
    r"|\bas (?:the|your|a|an) (?:simulated )?(?:user|coding|software|ai|assistant|agent|engineer|developer)\b"
    r"|\b(?:the user|user's) (?:wants|asked|asks|said|says|would|request|requirements?|message|needs)\b"
)
_ROLE: Final = re.compile(
    r"^\W*(?i:user|human|assistant|system|developer|agent|ai|tool)\W{0,3}:"
    r"|[.!?]\s+(?:User|Human|Assistant|System|AI):",
    re.MULTILINE,
)
_CODE: Final = {
    "a code block": re.compile(r"```|~~~"),
    "a diff": re.compile(
        r"^(?:diff --git |index [0-9a-f]{7,}|@@ -|--- a/|\+\+\+ b/|\*\*\* (?:Begin|Update|Add))", re.MULTILINE
    ),
    "code": re.compile(
        r"^\s*(?:def \w+\(|class \w+[(:]|import \w+|from \w[\w.]* import |return \w|function \w+\("
        r"|const \w+ =|[+-] {4,}\S)",
        re.MULTILINE,
    ),
    "a tag": re.compile(r"<\|\w+\|>|\[/?INST\]|</?(?:think|tool_call|function|system|invoke|user)\b"),
}


def betrays_benchmark(text: str, ground: Ground) -> Iterator[str]:
    """Talk of benchmarks, graders, what is hidden, prompts, and of being a model."""
    for reason in talk(text, ground):
        if not reason.startswith(_FREE_HERE):
            yield reason
    said = fold(text)
    if (match := _JUDGED.search(said)) and match[0] not in ground.folded:
        yield f"speaks of how work is judged ({match[0]!r})"
    for match in _IDS.finditer(text):
        if not ground.holds(match[0]):
            yield f"names a requirement by its id ({match[0]!r})"


def obeys(text: str) -> Iterator[str]:
    """Words of one who does what the agent, or a file, told them."""
    if match := _OBEYS.search(fold(text)):
        yield match[0]


def hands_out_all(text: str) -> Iterator[str]:
    """Words of one who tells everything at once."""
    if match := _HANDS_OUT.search(fold(text)):
        yield match[0]


def speaks_as_assistant(text: str) -> Iterator[str]:
    """Words that the agent would say, not the user; and code in blocks, which this user does not write."""
    if match := _ASSISTANT.search(fold(text)):
        yield match[0]
    if match := _ROLE.search(text):
        yield match[0].strip()
    yield from (name for name, pattern in _CODE.items() if pattern.search(text))
