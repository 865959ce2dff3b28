"""Talk that would tell the agent it is being measured, or that shows a model behind the user.

Words that a product may have for itself (a dataset, a prompt) are free where the task or the edit uses them; talk of
tests is free only inside a name that the edit itself contains.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fourhands.user.message_ground import Ground, fold
from fourhands.user.message_names import without_edit_names

__all__ = ["talk"]

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
        r"|\bground truth\b"
    ),
    "speaks of its part": (
        r"\bmistaken(?:ly)?\b|\bcounter ?edits?\b|\bco edits?\b|\bpersona\b|\bpretend\w*|\brole ?play\w*"
        r"|\bstakeholders?\b|\bsystem prompt\b|\bmy (?:prompt|instructions?)\b"
    ),
    "speaks as a model": (
        r"\b(?:as|i am|i'm) (?:just |only )?an? (?:\w+ )?(?:ai|assistant|language model|llm|chatbot|bot)\b"
        r"|\blanguage models?\b|\bai (?:assistant|model|agent)s?\b|\bi(?:'m| am) sorry,? but\b"
        r"|\bi(?:'m| am)? (?:can't|can ?not|won't|unable to) "
        r"(?:assist|help|comply|provide|write|generate|create|do that|fulfil)"
        r"|\b(?:here's|here is) (?:the|an?|my|your) (?:\w+ )?(?:message|reply|response|draft|version)\b"
    ),
}
_UNLESS_GROUNDED: Final = {
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


def _reason(reason: str, match: re.Match[str]) -> str:
    return f"{reason} ({match[0]!r})"
