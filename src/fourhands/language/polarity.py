"""Text as words that are affirmed or denied: which word each "not", "except" and "only" is about.

A shallow reading by clauses, of English: enough to tell "must be stored" from "must not be stored".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from fourhands.language.ground import fold
from fourhands.language.stems import STOP_WORDS, stem

__all__ = ["LONGEST", "Negation", "Read", "Scope", "read"]

LONGEST: Final = 100_000
"""Characters of a text that are read: no question of an agent holds up the gateway."""


class Negation(StrEnum):
    """What a negating word does to those it binds."""

    DENIES = "denies"
    EXCEPTS = "excepts"
    LIMITS = "limits"


def _each(words: str, kind: Negation) -> dict[str, Negation]:
    return dict.fromkeys(words.split(), kind)


_KIND_OF: Final = (
    _each(
        """
        no not never none neither nor nothing nobody nowhere without cannot ain't aren't can't couldn't didn't
        doesn't don't dont hadn't hasn't haven't isn't mustn't shan't shouldn't wasn't weren't won't wouldn't
        avoid avoids avoiding forbid forbids forbidden prevent prevents preventing refuse refuses refused
        disallow disallowed
        """,
        Negation.DENIES,
    )
    | _each("except excepting unless besides barring excluding", Negation.EXCEPTS)
    | _each("only solely exclusively", Negation.LIMITS)
)
_OF_TWO_WORDS: Final = {
    ("instead", "of"): Negation.DENIES,
    ("rather", "than"): Negation.DENIES,
    ("no", "longer"): Negation.DENIES,
    ("apart", "from"): Negation.EXCEPTS,
    ("other", "than"): Negation.EXCEPTS,
    ("but", "not"): Negation.DENIES,
}
_AFFIRMED: Final = frozenset(
    {
        ("not", "only"),
        ("not", "just"),
        ("no", "matter"),
        ("not", "sure"),
        ("no", "problem"),
        ("no", "worries"),
    }
)
_ASKED: Final = frozenset(
    {"he", "i", "it", "she", "that", "there", "these", "they", "this", "those", "we", "you"}
)
"""After "n't" they make a question that expects a yes: "can't we sort by date?"."""
_UNDONE: Final = frozenset({"forget", "fail", "hesitate", "miss"})
"""After a negation they undo it: "do not forget to store"."""
_BREAKS: Final = frozenset(".;:!?,()")
_ENDS_SCOPE: Final = frozenset(
    {
        "although",
        "and",
        "as",
        "because",
        "but",
        "else",
        "however",
        "if",
        "since",
        "so",
        "then",
        "though",
        "until",
    }
    | {"when", "whenever", "where", "while"}
)
_WEAK: Final = frozenset(
    {
        "accept",
        "accepted",
        "acceptable",
        "allow",
        "allowed",
        "fine",
        "good",
        "happen",
        "necessary",
        "ok",
        "okay",
    }
    | {"permitted", "possible", "supported", "valid"}
)
"""What follows a negation without being its object: "storing it is not allowed"."""
_REACH: Final = 5
"""Content words that a negation binds, at most."""
_LONGEST_WORD: Final = 60
_LONGEST_CLAUSE: Final = 60
"""Words; no person's is longer, and each negation looks through its clause."""
_NEW_LINE: Final = re.compile(r"\n(?=[ \t]*(?:\n|[-*+•>#|]|\d{1,3}[.)][ \t]|\Z))|(?<=[:;])\n|\n(?=[ \t]*```)")
"""Where a line's end is a sentence's: text may be wrapped anywhere."""
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:'[a-z]+)?|\d+|[.,;:!?()](?=\s|$)|(?<=\s)\(")


@dataclass(frozen=True, slots=True)
class Scope:
    """One negation: its words as they stand, and the stems that it binds, the nearest first."""

    kind: Negation
    words: str
    bound: tuple[str, ...]

    @property
    def stems(self) -> frozenset[str]:
        """All that it binds."""
        return frozenset(self.bound)


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A text as it was read.

    ``content`` are the stems of its words that mean something, in order; ``stems`` the same as a set. ``affirmed``
    are those that stand somewhere outside any denial, ``denied`` those that stand inside one. ``words`` are all
    words, folded.
    """

    content: tuple[str, ...]
    affirmed: frozenset[str]
    denied: frozenset[str]
    stems: frozenset[str]
    scopes: tuple[Scope, ...]
    words: frozenset[str]


@lru_cache(maxsize=256)
def read(text: str) -> Read:
    """Read the first `LONGEST` characters of a text."""
    content: list[str] = []
    affirmed: set[str] = set()
    denied: set[str] = set()
    scopes: list[Scope] = []
    found = _TOKEN.findall(fold(_NEW_LINE.sub(" . ", text[:LONGEST]).replace("\n", " ")))
    words = [word for word in found if len(word) <= _LONGEST_WORD]
    for clause in _clauses(words):
        stems = [None if word in STOP_WORDS else stem(word) for word in clause]
        signs = [0] * len(clause)
        for kind, at, width in _negations(clause):
            bound = _bound(clause, stems, at, width)
            scopes.append(Scope(kind, " ".join(clause[at : at + width]), tuple(str(stems[i]) for i in bound)))
            if kind is Negation.DENIES:
                for i in bound:
                    signs[i] ^= 1
        for each, sign in zip(stems, signs, strict=True):
            if each is not None:
                content.append(each)
                (denied if sign else affirmed).add(each)
    return Read(
        content=tuple(content),
        affirmed=frozenset(affirmed),
        denied=frozenset(denied),
        stems=frozenset(content),
        scopes=tuple(scopes),
        words=frozenset(words),
    )


def _clauses(words: list[str]) -> Iterator[list[str]]:
    clause: list[str] = []
    for word in words:
        if word not in _BREAKS:
            clause.append(word)
        if clause and (word in _BREAKS or len(clause) == _LONGEST_CLAUSE):
            yield clause
            clause = []
    if clause:
        yield clause


def _negations(clause: list[str]) -> Iterator[tuple[Negation, int, int]]:
    """Each negation of a clause: what it does, where it begins, and of how many words it is."""
    at = 0
    while at < len(clause):
        pair = (clause[at], clause[at + 1] if at + 1 < len(clause) else "")
        if pair in _AFFIRMED or (pair[0].endswith("n't") and pair[1] in _ASKED):
            at += 2
            continue
        kind, width = (_OF_TWO_WORDS[pair], 2) if pair in _OF_TWO_WORDS else (_KIND_OF.get(clause[at]), 1)
        undone = clause[at + width] in _UNDONE if at + width < len(clause) else False
        if kind is not None and not (kind is Negation.DENIES and undone):
            yield kind, at, width
        at += width


def _bound(clause: list[str], stems: list[str | None], at: int, width: int) -> list[int]:
    """Where the words are that a negation binds, the nearest first: after it or, if these say nothing, before."""
    after: list[int] = []
    for i in range(at + width, len(clause)):
        if (clause[i] in _ENDS_SCOPE and (after or clause[i] != "and")) or len(after) == _REACH:
            break
        if stems[i] is not None:
            after.append(i)
    if any(clause[i] not in _WEAK for i in after) or not (after or at + width == len(clause)):
        return after
    before = [i for i in reversed(range(at)) if stems[i] is not None]
    return before[:_REACH]
