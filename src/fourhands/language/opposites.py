"""Words that turn a sentence round without a negation, and numbers that stand where another should."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from fourhands.language.polarity import Read
from fourhands.language.stems import stem
from fourhands.language.values import NUMBER, plain

__all__ = ["opposites", "other_numbers"]

_PAIRS: Final = """
    absolute/relative accept/reject active/inactive allow/forbid allow/refuse append/prepend ascending/descending
    before/after bottom/top ceil/floor decrease/increase disable/enable down/up earlier/later earliest/latest
    empty/full even/odd exclude/include exclusive/inclusive first/last fewer/more hide/show higher/lower
    keep/discard keep/drop keep/remove left/right less/more lower/upper lowercase/uppercase maximum/minimum
    mutable/immutable negative/positive newer/older newest/oldest optional/mandatory optional/required
    private/public raise/suppress sync/async smaller/larger smallest/largest start/end true/false
    valid/invalid visible/hidden with/without
"""


def _both_ways() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _PAIRS.split():
        one, other = pair.split("/")
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {word: frozenset(others) for word, others in found.items()}


_OPPOSITES: Final = _both_ways()
_STEMS: Final = {word: stem(word) for word in _OPPOSITES}


def opposites(wanted: Read, said: Read) -> Iterator[str]:
    """Each word of ``said`` whose opposite is wanted, and that is not itself: ``last`` where it should be ``first``.

    A word that stands in both, or whose opposite is said as well, opposes nothing.
    """
    for word in sorted(wanted.words & _OPPOSITES.keys()):
        if word in said.words or _STEMS[word] in said.stems:
            continue
        for other in sorted(_OPPOSITES[word]):
            if other in said.words and other not in wanted.words:
                yield other


def other_numbers(value: str, wanted: str, text: str) -> Iterator[str]:
    """Numbers of ``text`` that stand beside the same word as ``value`` does in ``wanted``, where ``value`` should."""
    number = NUMBER.search(plain(value))
    if number is None:
        return
    beside = {near for found, near in _with_neighbours(wanted) if found == number[0]}
    meant = {word for near in beside for word in near}
    for found, near in _with_neighbours(text):
        if found != number[0] and meant & near:
            yield found


def _with_neighbours(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each number with the stems of the words next to it, on either side."""
    said = plain(text)
    for match in NUMBER.finditer(said):
        before = said[: match.start()].rsplit(maxsplit=2)[-1:]
        after = said[match.end() :].split(maxsplit=1)[:1]
        words = (word.strip(".,;:!?()`'\"").casefold() for word in (*before, *after))
        yield match[0], frozenset(stem(word) for word in words if len(word) > 2)  # noqa: PLR2004 - "of", "is"
