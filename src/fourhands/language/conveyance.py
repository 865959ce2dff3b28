"""Whether a text says a requirement: what must be exact first, then what is denied, then the words.

Serves three ends: a message of the user's must say what it was to reveal; a plan of the agent's may take a
requirement up; and of a simulator that decides by itself it shows what it revealed. No model is asked. Words are
compared by their stems, in any order, so who does what to whom is not seen, nor are synonyms.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from fourhands.language.opposites import opposites, other_numbers
from fourhands.language.polarity import Negation, Read, Scope, read
from fourhands.language.stems import is_one_slip_apart, slips
from fourhands.language.values import says_identifier, says_value
from fourhands.model.ledger import Requirement

__all__ = ["CONVEYED_FROM", "PARTLY_FROM", "Conveyance", "Verdict", "conveyed"]

Verdict = Literal["conveyed", "partly", "not"]

CONVEYED_FROM: Final = 0.6
"""Share of a requirement's words that says it, calibrated on real sessions (docs/conveyance.md)."""
PARTLY_FROM: Final = 0.34
_CONVEYED_WITH_EXACT: Final = 0.5
"""The same where the requirement has names or values, and all are there: they carry much of it."""
_BOUND_FROM: Final = 0.34
"""Share of what a negation binds that the same negation must bind in the text."""
_BREAK: Final = re.compile(r"[.!?:;\n–—]")
_NEAR: Final = 200
_TAKEN_BACK: Final = frozenset({"disregard", "false", "ignore", "untrue", "wrong"})
_MILD: Final = frozenset(
    {"avoid", "avoiding", "instead of", "prevent", "preventing", "rather than", "without"}
)
"""Denials that often go unsaid: "use X instead of Y" is said by "use X"."""
_PLAINLY: Final = re.compile(r"not|never|cannot|\w+n't")
_SLIPS_FROM: Final = 0.2
"""Share of a requirement's words that a text must have to be looked at closely."""
_WINDOW: Final = 25
_WINDOW_OF: Final = 3
"""A long text is judged where it says most: by so many content words, or so many times a requirement's."""


@dataclass(frozen=True, slots=True)
class Conveyance:
    """How a text says a requirement.

    ``missing_*`` are what must be said exactly and is not; ``overlap`` is the share of the requirement's words that
    stand together in the text, 0 to 1; ``contradicts`` are words that say it the other way round. ``partly`` is the
    grey zone: something of it is there, and something that matters is not.
    """

    missing_identifiers: tuple[str, ...]
    missing_values: tuple[str, ...]
    missing_negations: tuple[str, ...]
    overlap: float
    verdict: Verdict
    contradicts: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """All that must be said exactly and is not."""
        return (*self.missing_identifiers, *self.missing_values, *self.missing_negations)


@lru_cache(maxsize=512)
def conveyed(requirement: Requirement, text: str) -> Conveyance:
    """How ``text`` says ``requirement``. Pure; the same pair is not read twice in a row."""
    wanted, said = read(requirement.text), read(text)
    matched = _matched(wanted, said)
    overlap = _share_together(wanted, said, matched)
    identifiers = tuple(name for name in requirement.identifiers if not says_identifier(name, text))
    values = tuple(value for value in requirement.values if not says_value(value, text))
    negations = tuple(
        phrase for phrase in requirement.negations if not _negates(_scopes(phrase, wanted), phrase, said)
    )
    contradicts: tuple[str, ...] = ()
    if overlap >= PARTLY_FROM / 2:
        contradicts = tuple(dict.fromkeys(_contradictions(requirement, text, matched, values)))
    exact = len(requirement.identifiers) + len(requirement.values)
    missing = len(identifiers) + len(values)
    lead, quoted, _ = text.casefold().partition(requirement.text.casefold().rstrip("."))
    if quoted:  # as the ledger has it: nothing to weigh, but what is said of it
        contradicts = _taken_back(lead)
        verdict: Verdict = "not" if contradicts else "conveyed"
    elif contradicts:
        verdict = "not"
    elif not missing and not negations and overlap >= (_CONVEYED_WITH_EXACT if exact else CONVEYED_FROM):
        verdict = "conveyed"
    elif overlap >= PARTLY_FROM or (exact > missing and overlap >= PARTLY_FROM / 2):
        verdict = "partly"
    else:
        verdict = "not"
    return Conveyance(identifiers, values, negations, overlap, verdict, contradicts)


def _taken_back(before: str) -> tuple[str, ...]:
    """What denies the sentence that comes next: ``it is not true that …``."""
    lead = read(_BREAK.split(before[-_NEAR:])[-1])
    denials = tuple(scope.words for scope in lead.scopes if scope.kind is Negation.DENIES)
    return denials or tuple(sorted(lead.words & _TAKEN_BACK))


def _matched(wanted: Read, said: Read) -> dict[str, str]:
    """Of the stems that are wanted, those that are said, each with how: the same, or a slip of the keys away."""
    stems = said.stems
    found = {each: each for each in wanted.stems & stems}
    missing = wanted.stems - stems
    if missing and len(found) >= _SLIPS_FROM * len(wanted.stems):
        by_slip = _by_slip(said)
        for each in sorted(missing):
            near = next((by_slip[slip] for slip in slips(each) if slip in by_slip), None)
            if near is not None and near not in wanted.stems and is_one_slip_apart(each, near):
                found[each] = near
    return found


@lru_cache(maxsize=64)
def _by_slip(said: Read) -> dict[str, str]:
    return {slip: each for each in sorted(said.stems, reverse=True) for slip in slips(each)}


def _share_together(wanted: Read, said: Read, matched: dict[str, str]) -> float:
    """The greatest share of the wanted stems that stand in one window of the text."""
    if not wanted.stems:
        return 0.0
    share = len(matched) / len(wanted.stems)
    window = max(_WINDOW, _WINDOW_OF * len(wanted.content))
    if len(said.content) <= window or share < _SLIPS_FROM:
        return share
    meant = {how: each for each, how in matched.items()}
    places = [(at, meant[each]) for at, each in enumerate(said.content) if each in meant]
    ats = [at for at, _ in places]
    best = max(
        len({each for _, each in places[first : bisect_right(ats, at + window)]})
        for first, at in enumerate(ats)
    )
    return best / len(wanted.stems)


def _scopes(phrase: str, wanted: Read) -> tuple[Scope, ...]:
    """What a listed negation binds: by the requirement's own sentence, else by the phrase's words."""
    own = read(phrase)
    stated = {scope.words for scope in own.scopes}
    bound = tuple(
        scope
        for scope in wanted.scopes
        if scope.words in stated and (not own.stems or own.stems & scope.stems)
    )
    if bound:
        return bound
    return tuple(Scope(scope.kind, scope.words, own.content) for scope in own.scopes)


def _negates(scopes: tuple[Scope, ...], phrase: str, said: Read) -> bool:
    """Whether a text negates the same words as the phrase does, in its kind of way."""
    if not scopes:  # nothing in it that we know to negate: its words have to do
        stems = read(phrase).stems
        return not stems or len(stems & said.stems) / len(stems) > 0.5  # noqa: PLR2004 - most of them
    return any(
        _serves(scope.kind, other.kind)
        and (not scope.stems or len(scope.stems & other.stems) / len(scope.stems) >= _BOUND_FROM)
        for scope in scopes
        for other in said.scopes
    )


def _serves(wanted: Negation, said: Negation) -> bool:
    """To deny may stand for to except, and to except for to limit ("nothing but"): never the other way round."""
    return (
        wanted is said
        or {
            Negation.DENIES: False,
            Negation.EXCEPTS: said is Negation.DENIES,
            Negation.LIMITS: said is Negation.EXCEPTS,
        }[wanted]
    )


def _unsaid(scope: Scope, matched: dict[str, str], said: Read) -> str | None:
    """What a denial of the requirement is about, where the text has it without any denial."""
    if scope.kind is not Negation.DENIES or scope.words in _MILD or not said.denied.isdisjoint(scope.stems):
        return None
    head = next((each for each in scope.bound if each in matched), None)
    return head if head in said.affirmed else None


def _denied(scope: Scope, wanted: Read, said: Read) -> str | None:
    """What a denial of the text is about, where the requirement wants it and the text never says it without."""
    head = scope.bound[0] if scope.bound and _PLAINLY.fullmatch(scope.words) else None
    return head if head in wanted.affirmed - wanted.denied - said.affirmed else None


def _contradictions(
    requirement: Requirement, text: str, matched: dict[str, str], missing_values: tuple[str, ...]
) -> Iterator[str]:
    wanted, said = read(requirement.text), read(text)
    for scope in wanted.scopes:
        if head := _unsaid(scope, matched, said):
            yield f"{head} without {scope.words!r}"
    if all(_negates((scope,), scope.words, said) for scope in wanted.scopes):  # else a "not" may be of that
        yield from (
            f"{scope.words} {head}" for scope in said.scopes if (head := _denied(scope, wanted, said))
        )
    yield from opposites(wanted, said)
    for value in missing_values:
        yield from other_numbers(value, requirement.text, text)
