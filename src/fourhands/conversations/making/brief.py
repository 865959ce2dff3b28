"""How the user opens the conversation: what it is about, and nothing of what they hold back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from fourhands.conversations.making.blocks import BlockKind, read_blocks, title_of
from fourhands.conversations.making.obligations import Sense, is_imperative, is_request, sense
from fourhands.conversations.making.sentences import sentences, tidy
from fourhands.language.conveyance import conveyed
from fourhands.model.ledger import Requirement

__all__ = ["VAGUEST", "gives_away", "make_brief", "told_by"]

VAGUEST: Final = (
    "There is something in this project that I would like you to change. I will tell you more as we go."
)
"""What opens a conversation where the instruction has no words that would not give something away."""
_CUTS: Final = re.compile(
    r"\s*(?:[;:(—–]|--| - |,|\b(?:so that|so|such that|that|which|where|when|using|through|via|by|with|from|for|"
    r"because|instead of|without|after|before|and|to|over|but|until)\b)"
)
_CODE: Final = re.compile(r"(?<!`)`++([^`]+)`+")
_FEWEST: Final = 3
_CONTENT: Final = 2
_MOST_WORDS: Final = 24
_EMPTY: Final = frozenset(
    """
    would good like need want help please could have make made able should must this that these
    those with from into when what which where there some something each every being been will they
    them their your nice great hello
    """.split()  # noqa: SIM905 - a list of words is easier to read
)
_SUBORDINATE: Final = re.compile(r"\b(?:so|that|which|where|when|because)\b", re.IGNORECASE)
_LOOSE_END: Final = re.compile(
    r"\b(?:a|an|the|of|in|on|to|and|or|is|are|be|its|their|his|her|my|our|your|as|at|not|cannot|can|must|should)$",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(r"^(?:(?:hey|hi|hello|please)[, ]+)+", re.IGNORECASE)
_PLAIN: Final = re.compile(r"[a-z]{2,}")
_ALL_OF_IT: Final = 0.9


def make_brief(instruction: str, requirements: Sequence[Requirement]) -> str:
    """The title, else the first thing asked for, cut short; a phrase of ours where all of them give something away.

    It may say the first requirement where that has nothing exact in it: that is what the whole task is about.
    """
    for said, asks, vague in _openings(instruction):
        marked = {found for part in _CODE.findall(said) for found in (part, *part.split()) if len(found) > 1}
        beginnings = _shorter(said)
        # A title is written to be read first; a sentence that asks goes into details with each clause.
        for shorter in reversed(beginnings) if vague else beginnings:
            named = any(re.search(rf"(?<!\w){re.escape(part)}(?!\w)", shorter) for part in marked)
            if shorter != beginnings[-1] and _SUBORDINATE.search(shorter):
                continue  # a clause that was begun, and not ended
            if _is_whole(shorter) and not named and not list(gives_away(shorter, requirements)):
                return _spoken(shorter, asks=asks)
    return VAGUEST


def told_by(brief: str, requirement: Requirement) -> bool:
    """Whether the opening says all of a requirement already."""
    exact = requirement.identifiers or requirement.values or requirement.negations
    return not exact and conveyed(requirement, brief).overlap >= _ALL_OF_IT


def gives_away(brief: str, requirements: Sequence[Requirement]) -> Iterator[str]:
    """What an opening says that is held back: names, values, requirements; each named.

    A plain word is no name where it stands without marks of code. The first requirement may be told if nothing of it
    is exact.
    """
    for number, each in enumerate(requirements):
        for part in (*each.identifiers, *each.values):
            marked = rf"`{re.escape(part)}`" if _PLAIN.fullmatch(part) else rf"(?<!\w){re.escape(part)}(?!\w)"
            if re.search(marked, brief):
                yield f"{part!r} of {each.id}"
        exact = each.identifiers or each.values
        if (number or exact) and conveyed(each, brief).verdict == "conveyed":
            yield each.id


def _openings(instruction: str) -> Iterator[tuple[str, bool, bool]]:
    """What may open the conversation, whether it asks for something, and whether it is vague by its nature."""
    blocks = read_blocks(instruction)
    if title := title_of(blocks):
        yield tidy(title), False, True
    told = [
        tidy(instruction[slice(*span)])
        for block in blocks
        if block.kind is BlockKind.PROSE
        for span in sentences(instruction, block.span)
    ]
    asked = [each for each in told if sense(each) is Sense.ASKS]
    yield from ((each, True, False) for each in [each for each in asked if is_request(each)][:1])
    yield from ((each, True, False) for each in [each for each in asked if is_imperative(each)][:1])
    yield from (
        (each, sense(each) is Sense.ASKS, False) for each in told[:1] if sense(each) is not Sense.PROCESS
    )


def _shorter(said: str) -> list[str]:
    """``said`` without marks of code, and its beginnings, the shortest first."""
    plain = _POLITE.sub("", _CODE.sub(lambda found: found[1], said)).strip(" .!:;*_#")
    cuts = sorted({found.start() for found in _CUTS.finditer(plain)})
    return [*(plain[:cut].rstrip(" ,.;:") for cut in cuts), plain]


def _is_whole(said: str) -> bool:
    words = said.split()
    content = [word for word in words if len(word) > _FEWEST and word.lower() not in _EMPTY]
    if not _FEWEST <= len(words) <= _MOST_WORDS or _LOOSE_END.search(said):
        return False
    balanced = not said.count('"') % 2 and said.count("(") == said.count(")")
    return balanced and len(content) >= _CONTENT


def _spoken(said: str, *, asks: bool) -> str:
    opening = said[0].upper() + said[1:]
    if opening.endswith("?") or re.match(r"(?:can|could|would) you\b", opening, re.IGNORECASE):
        return f"{opening.rstrip('?')}? I will tell you more as we go."
    return (
        f"{opening}. I will tell you more as we go." if asks else f"{opening}. Could you take care of that?"
    )
