"""Words as stems: what is left of a word without its grammar; and which words say nothing by themselves."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

__all__ = ["STOP_WORDS", "is_one_slip_apart", "slips", "stem"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS: Final = _words(
    """
    a about above actually after again all almost already also although always am an and another any
    anyone anything are around as at away back be became because become been before being below between
    both but by came can cannot come could currently did do does doing done down during each either else
    enough etc even ever every everyone everything few for from further get gets getting go goes going
    gone got had has have having he hello hence her here hey hi him his how however i if in indeed instead
    into is it its itself just kind know last least less let like likely look looks lot lots many may
    maybe me might mine more most much must my myself near need needed needs next now of off often oh ok
    okay on once one ones only onto or other others otherwise our ours out over own part per perhaps
    please possible possibly put quite rather really right same say see seem seems shall she should simply
    since so some somebody someone something sometimes somewhere soon still such sure take than thank
    thanks that the their theirs them then there these they thing things think this those though through
    thus to together too toward truly try under until up upon us use used uses using usually very via want
    wants was way we well were what whatever when whenever where whereas whether which while who whoever
    whole whom whose why will with within would yeah yep yes yet you your yours yourself ain't aren't
    can't couldn't didn't doesn't don't dont hadn't hasn't haven't isn't mustn't shan't shouldn't wasn't
    weren't won't wouldn't barring besides except excepting excluding exclusively forbid forbidden forbids
    neither never no nobody none nor not nothing nowhere prevent prevents avoid avoids solely stop unless
    without i'd i'll i'm i've it's let's that's there's they're we'd we'll we're we've what's you'd you'll
    you're you've
    """
)
"""They bind other words and mean little alone; the negating ones are weighed apart (`polarity`)."""

_IRREGULAR: Final = {
    "began": "begin",
    "begun": "begin",
    "broke": "break",
    "broken": "break",
    "built": "build",
    "children": "child",
    "chose": "choose",
    "chosen": "choose",
    "fell": "fall",
    "found": "find",
    "gave": "give",
    "given": "give",
    "held": "hold",
    "hidden": "hide",
    "indices": "index",
    "kept": "keep",
    "lost": "lose",
    "made": "make",
    "meant": "mean",
    "ran": "run",
    "rewritten": "rewrite",
    "rewrote": "rewrite",
    "said": "say",
    "sent": "send",
    "shown": "show",
    "threw": "throw",
    "thrown": "throw",
    "told": "tell",
    "went": "go",
    "written": "write",
    "wrote": "write",
}
_SHORT: Final = {
    "arg": "argument",
    "args": "argument",
    "bool": "boolean",
    "btn": "button",
    "char": "character",
    "chars": "character",
    "cmd": "command",
    "config": "configuration",
    "conf": "configuration",
    "db": "database",
    "deps": "dependency",
    "dict": "dictionary",
    "dir": "directory",
    "dirs": "directory",
    "doc": "documentation",
    "docs": "documentation",
    "env": "environment",
    "err": "error",
    "folder": "directory",
    "folders": "directory",
    "func": "function",
    "img": "image",
    "impl": "implementation",
    "int": "integer",
    "max": "maximum",
    "min": "minimum",
    "msg": "message",
    "num": "number",
    "param": "parameter",
    "params": "parameter",
    "prev": "previous",
    "repo": "repository",
    "repos": "repository",
    "str": "string",
    "throw": "raise",
    "throws": "raise",
    "thrown": "raise",
    "threw": "raise",
    "delete": "remove",
    "deletes": "remove",
    "deleted": "remove",
    "deleting": "remove",
}
_SHORTEST: Final = 3
"""Letters that a stem keeps, at the least."""
_FUZZY_FROM: Final = 5
_UNDOUBLED: Final = frozenset("bdgmnprt")
_VOWELS: Final = frozenset("aeiouy")


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """A folded word without plural, tense and the like: ``stored``, ``storing`` and ``stores`` are one.

    Light, so that words which only look alike stay apart. Common short forms stand for the long ones.
    """
    word = word.removesuffix("'s")
    word = _SHORT.get(word) or _IRREGULAR.get(word, word)
    if len(word) <= _SHORTEST or not word.isascii() or not word.isalpha():
        return word
    return _without_ending(_singular(word))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:  # noqa: PLR2004 - "ties" is "tie" in the plural
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_ending(word: str) -> str:
    if word.endswith("ied") and len(word) > 4:  # noqa: PLR2004
        return word[:-3] + "y"
    for ending in ("ing", "ed"):
        root = word.removesuffix(ending)
        if root != word and len(root) >= _SHORTEST and not _VOWELS.isdisjoint(root):
            return _root(root)
    if word.endswith("ly") and len(word) > 5:  # noqa: PLR2004
        word = word[:-2]
    if word.endswith(("tion", "sion")) and len(word) > 6:  # noqa: PLR2004
        word = word[:-3]
        return word[:-2] if word.endswith("at") and len(word) > 6 else word  # noqa: PLR2004 - configur(at)ion
    return _root(word)


def _root(word: str) -> str:
    if len(word) > _SHORTEST and word[-1] == word[-2] and word[-1] in _UNDOUBLED:
        return word[:-1]
    if word.endswith("ate") and len(word) > 6:  # noqa: PLR2004 - valid(ate) and valid(ation)
        return word[:-3]
    return word.removesuffix("e") if len(word) > _SHORTEST else word


@lru_cache(maxsize=1 << 13)
def slips(word: str) -> tuple[str, ...]:
    """A stem of five letters or more, and it without each of its letters but the first; nothing for a shorter one.

    Two stems that are a slip of the keys apart have one of these in common.
    """
    if len(word) < _FUZZY_FROM:
        return ()
    return (word, *(word[:at] + word[at + 1 :] for at in range(1, len(word))))


def is_one_slip_apart(one: str, other: str) -> bool:
    """Whether two stems with a `slips` in common differ by a letter too many, too few, another, or two swapped."""
    if abs(len(one) - len(other)) == 1:
        return True
    differing = [at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    swapped = len(differing) == 2 and differing[1] == differing[0] + 1  # noqa: PLR2004 - a pair
    return len(one) == len(other) and (len(differing) == 1 or (swapped and sorted(one) == sorted(other)))
