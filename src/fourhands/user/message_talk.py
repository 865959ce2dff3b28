"""Talk that would tell the agent it is being measured, or that shows a model behind the user.

Words that a product may have for itself (a dataset, a prompt) are free where the task or the edit uses them; talk of
tests is free only inside a name that the edit itself contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fourhands.language.ground import Ground, fold
from fourhands.user.message_names import without_edit_names

__all__ = ["betrays_mistake", "talk"]

_FAULTY: Final = r"(?:wrong(?:ly)?|incorrect(?:ly)?|flawed|faulty|broken|buggy|erroneous(?:ly)?|misguided)\b"
_FAULT: Final = r"(?:wrong|bugs?|mistakes?|errors?|faults?|flaws?|defects?|breaks?|broken|incorrect)\b"
_ON_PURPOSE: Final = (
    r"(?:on purpose|purpose(?:ful)?ly|deliberate(?:ly)?|intentional(?:ly)?|knowing(?:ly)?|planted|seeded|"
    r"subtle)\b"
)
_SURELY: Final = r"(?:\w+ly |not |just |still |all |a bit |of course ){0,2}"
_NOT_OF_A_DEED: Final = r"(?! (?:to|for|that|when|if|in)\b)"
# That something was wrong before, or would be wrong to do, everybody says of code: only what the speaker now holds.
_MISTAKEN: Final = (
    r"\bmistaken(?:ly)?\b|\bsabotag\w*|\bred herring\b|\bmislead(?:s|ing)? you\b"
    r"|\bmis(?:understand(?:ing)?|understood|read|conceptions?|belie(?:f|ve)s?)\b"
    rf"|\b(?:though|although|despite|albeit|while|but|even if|knowing)\b[^.!?]{{0,40}}?"
    rf"\b(?:is|'s|are|being|be) {_SURELY}{_FAULTY}{_NOT_OF_A_DEED}"
    rf"|(?:^|[.!?;,] ?|\band )(?:it|this|that|which)(?:'s| is) {_SURELY}{_FAULTY}{_NOT_OF_A_DEED}"
    r"|\b(?:my|this|the) (?:\w+ )?(?:assumption|belief|change|edit|guess|idea|patch|premise|tweak|version)s?\b"
    rf"[^.!?]{{0,20}}?\b(?:are|be|being|is|was|were) {_SURELY}{_FAULTY}"
    rf"|\b(?:false|{_FAULTY}) (?:assumption|belief|edit|guess|idea|premise|understanding)s?\b"
    rf"|\b(?:i|we)(?:'m| am| are|'re| was| were| may be| might be| could be| got it) {_SURELY}{_FAULTY}"
    rf"|\b{_FAULT} (?:\w+ ){{0,3}}?{_ON_PURPOSE}|\b{_ON_PURPOSE} (?:\w+ ){{0,3}}?{_FAULT}"
    r"|\b(?:was|were) (?:\w+ )?(?:assumed|believed|presumed|thought) (?:that|to)\b|\bthe assumption (?:is|was|that)\b"
    r"|\b(?:the|an?) (?:actual|correct|intended|proper|real|right|true) (?:\w+ )?"
    r"(?:approach|behaviou?r|fix|one|outcome|output|result|solution|value|way)s? (?:would|should|might|may|could)\b"
)

_NEVER: Final = {
    "speaks of tests": (
        r"\b(?:py|unit|doc|re|pre|un)?test(?:s|ed|ing|ers?|able|ability|cases?|suites?|sets?|beds?)?\b"
        r"|\bunittests?\b|\bconftest\b|\bsuites?\b|\brspec\b|\bspecs? (?:files?|runs?|pass\w*|fail\w*)\b"
        r"|\bci\b|\bchecks? (?:pass|fail)\w*"
    ),
    "speaks of a benchmark": (
        r"\bbenchmark\w*|\bsw ?e ?(?:bench|touch|interact|smith)\w*|\bdeep ?swe\b|\bleaderboards?\b"
    ),
    "speaks of being measured": (
        r"\b(?:you|i|we)(?:'re|'m| are| am) (?:being|getting) (?:evaluated|graded|judged|scored|simulated|measured)\b"
        r"|\b(?:this|it)(?:'s| is| was) (?:(?:all|just|only|really|part of) )*(?:an? |the )?"
        r"(?:simulat|evaluation|experiment|exercise|dataset|prompt|study|role ?play)"
        r"|\b(?:hidden|held out|secret|reference|gold|golden) (?:checks?|cases?|solution|patch|repair|fix|answer)"
        r"|\bground truth\b|\bqa\b"
        r"|\b(?:the|an?) (?:correct|right|expected|official|true|real|proper|intended) answers?\b"
    ),
    "speaks of its part": (
        r"\bcounter ?edits?\b|\bco edits?\b|\bpersona\b|\bpretend\w*|\brole ?play\w*"
        r"|\bstakeholders?\b|\bsystem prompt\b|\bmy (?:prompt|instructions?)\b"
    ),
    "speaks of its part: that it is mistaken": _MISTAKEN,
    "speaks as a model": (
        r"\b(?:as|i am|i'm) (?:just |only )?an? (?:\w+ )?(?:ai|assistant|language model|llm|chatbot|bot)\b"
        r"|\blanguage models?\b|\bai (?:assistant|model|agent)s?\b|\bi(?:'m| am) sorry,? but\b"
        r"|\bi(?:'m| am)? (?:can't|can ?not|won't|unable to) "
        r"(?:assist|help|comply|provide|write|generate|create|do that|fulfil)"
        r"|\b(?:here's|here is) (?:the|an?|my|your) (?:\w+ )?(?:message|reply|response|draft|version)\b"
    ),
}
_UNLESS_GROUNDED: Final = {
    "speaks of what is hidden": r"\bhidden\b",
    "speaks of how work is checked": (
        r"\b(?:accept\w*|assertions?|build|checks?|jobs?|pipelines?|reviewers?|validations?|validators?)"
        r"(?: (?:all|also|should|still|then|will|would))* "
        r"(?:accepts?|agree[ds]?|approve[ds]?|complains?|fail(?:s|ed)?|pass(?:es|ed)?|succeeds?)\b"
        r"|\b(?:all|are|be|everything|goes|go|is|it's|keeps?|remains?|still|stays?|stayed|turns?|went)"
        r" (?:\w+ )?(?:green|red)\b|\ball pass(?:es|ed|ing)?\b"
    ),
    "speaks of grading": r"\bgrad(?:e|es|ed|ing|ers?)\b",
    "speaks of evaluation": r"\bevaluat\w*",
    "speaks of a verifier": r"\bverifiers?\b",
    "speaks of a dataset": r"\bdata ?sets?\b",
    "speaks of a simulation": r"\bsimulat\w*",
    "speaks of a prompt": r"\bprompt(?:s|ed|ing|er)?\b",
    "speaks of scores": r"\bscor(?:es?|ed|ing|ers?)\b",
    "speaks of an experiment": r"\bexperiments?\b",
    "speaks of a harness": r"\bharness\w*",
}


def talk(text: str, ground: Ground) -> Iterator[str]:
    """Each kind of talk in ``text`` that must not reach the agent, as a reason with the words."""
    folded = fold(without_edit_names(text, ground))
    for reason, pattern in _NEVER.items():
        if match := re.search(pattern, folded):
            yield _reason(reason, match)
    for reason, pattern in _UNLESS_GROUNDED.items():
        if (match := re.search(pattern, folded)) and not re.search(pattern, ground.folded):
            yield _reason(reason, match)


def betrays_mistake(text: str) -> bool:
    """Whether the speaker says, or words it so, that what they hold is not so: no user thinks that of themselves."""
    return re.search(_MISTAKEN, fold(text)) is not None


def _reason(reason: str, match: re.Match[str]) -> str:
    return f"{reason} ({match[0]!r})"
