"""Whether a message of the talking user gives away what it must not.

That is: what stands only in the tests or the reference; a canary planted there; a requirement that is not to be said
yet; that there is a benchmark; and that the speaker obeys the agent, or is one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, Literal

from fourhands.language.conveyance import conveyed
from fourhands.language.ground import IDENTIFIER, Ground, fold
from fourhands.language.polarity import read
from fourhands.language.stems import stem
from fourhands.language.values import says_identifier, says_value
from fourhands.model.ledger import Ledger, Requirement
from fourhands.user.message_checks import MAX_WORD_CHARACTERS
from fourhands.user.talking.betrayal import betrays_benchmark, hands_out_all, obeys, speaks_as_assistant
from fourhands.user.talking.disguises import seen_plainly, squeezed, unveiled
from fourhands.user.talking.hidden import Hidden, hidden_in, known_words

__all__ = ["LONGEST", "Leak", "LeakGround", "LeakKind", "leaks"]

LeakKind = Literal["hidden", "canary", "early", "benchmark", "obeys", "role"]

LONGEST: Final = 20_000
"""Characters of a message, beside what may be said, that are searched: a longer one is a leak by itself."""
_NO_WORD: Final = re.compile(rf"\S{{{MAX_WORD_CHARACTERS + 1},}}")
_SHOWN: Final = 80
_PIECE: Final = 8
"""Letters and digits of a canary that give it away."""
_EARLY_FROM: Final = 0.5
"""Share of a held requirement's own words, those that nothing said so far has, from which a message tells it."""
_EARLY_WORDS: Final = 2
_LONG_NAME: Final = 6
_TELLING_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class Leak:
    """``words`` are those of the message, or what is wrong with them, cut short.

    ``hidden``: only the tests or the reference have it. ``canary``: one of those planted there. ``early``: of a
    requirement that is held and not being revealed. ``benchmark``: says that work is measured, or a model behind the
    user. ``obeys``: does what the agent or a file demanded. ``role``: speaks as the agent would.
    """

    kind: LeakKind
    words: str


@dataclass(frozen=True)
class LeakGround:
    """What must not get out in one trial. Built once: `of`."""

    ledger: Ledger
    hidden: Hidden
    canaries: tuple[str, ...]
    base_words: frozenset[str]
    own: Ground
    """The texts of the author: words in them are no talk of a benchmark."""

    @classmethod
    def of(  # noqa: PLR0917 - as its callers have them at hand
        cls,
        ledger: Ledger,
        instruction: str,
        test_patch: bytes,
        reference: bytes,
        base_words: frozenset[str] = frozenset(),
        canaries: Iterable[str] = (),
    ) -> LeakGround:
        """What is hidden in a task.

        Args:
            ledger: what may be said of it, in time.
            instruction: the whole of it, which the agent never sees.
            test_patch: the hidden tests, as a git diff.
            reference: the reference repair, as a git diff.
            base_words: `words_of` the files at the base commit.
            canaries: see `fourhands.user.talking.hidden.canaries`.
        """
        texts = (ledger.brief, *(part for each in ledger.requirements for part in _said_of(each)))
        free = "\n".join((instruction, *texts))
        return cls(
            ledger=ledger,
            hidden=hidden_in((test_patch, reference), free, base_words),
            canaries=tuple(canaries),
            base_words=base_words,
            own=Ground(free, None),
        )

    @cached_property
    def canary_pieces(self) -> frozenset[str]:
        """Pieces of the canaries that are no words of the author's."""
        free = squeezed(self.own.task)
        return frozenset(
            piece for canary in self.canaries for piece in _pieces(squeezed(canary)) if piece not in free
        )


def leaks(
    text: str,
    ground: LeakGround,
    *,
    revealing: Collection[str] = (),
    told: Collection[str] = (),
    seen: str = "",
) -> tuple[Leak, ...]:
    """What a message gives away; empty where it may be said.

    Args:
        text: the message, whole.
        ground: of the trial.
        revealing: ids of the requirements that it is to say.
        told: ids of those said before.
        seen: what the agent said itself, and what it has in the workspace: naming that gives nothing away.
    """
    open_ids = {*revealing, *told}
    may_be_said = [each.text for each in ground.ledger.requirements if each.id in open_ids]
    if len(text) > LONGEST + sum(map(len, may_be_said)):
        return (Leak("hidden", f"{len(text)} characters, more than can be searched"),)
    plain = seen_plainly(text)
    views = tuple(unveiled(plain))
    apart = _apart(plain, may_be_said)
    spoken = "\n".join((ground.ledger.brief, *may_be_said))
    held = [each for each in ground.ledger.requirements if each.id not in open_ids]
    found: list[tuple[LeakKind, str]] = [
        *(("canary", words) for words in _canaries((plain, *views), ground)),
        *(("hidden", words) for words in _hidden(plain, views, ground, seen)),
        *(("early", words) for each in held for words in _early(apart, ground, each, spoken, seen)),
        *(("early", words) for each in held for words in _early_in_disguise(views, each)),
    ]
    talk = _spoken_words(apart)
    found += [("benchmark", words) for words in betrays_benchmark(talk, ground.own)]
    found += [("obeys", words) for words in obeys(talk)]
    if held:  # who has nothing more to say may say so
        found += [("obeys", words) for words in hands_out_all(talk)]
    found += [("role", words) for words in speaks_as_assistant(talk)]
    return tuple(Leak(kind, words[:_SHOWN]) for kind, words in dict.fromkeys(found))


def _said_of(requirement: Requirement) -> tuple[str, ...]:
    return (requirement.text, *requirement.identifiers, *requirement.values)


def _apart(text: str, may_be_said: Iterable[str]) -> str:
    """The message without the sentences that the author wrote and that may be said."""
    for each in map(seen_plainly, may_be_said):
        text = text.replace(each, " . ")
    return text


def _spoken_words(text: str) -> str:
    """Without what is too long for a word: no talk, and the patterns take the square of a word's length."""
    return _NO_WORD.sub(" ", text)


def _pieces(word: str) -> Iterator[str]:
    yield from (word[at : at + _PIECE] for at in range(max(1, len(word) - _PIECE + 1)))


def _canaries(views: Iterable[str], ground: LeakGround) -> Iterator[str]:
    for bare in map(squeezed, views):
        yield from sorted(piece for piece in ground.canary_pieces if piece in bare)[:1]


def _hidden(text: str, views: Iterable[str], ground: LeakGround, seen: str) -> Iterator[str]:
    hidden = ground.hidden
    for token in dict.fromkeys((*hidden.in_names(text), *hidden.in_numbers(text))):
        if not says_identifier(token, seen):
            yield token
    yield from (run for run in hidden.in_runs(text) if run not in fold(seen))
    for view in views:
        yield from hidden.in_disguise(view)


def _early(text: str, ground: LeakGround, held: Requirement, spoken: str, seen: str) -> Iterator[str]:
    """What a message tells of a requirement that is held, beside the sentences that may be said."""
    own = read(held.text).stems - read(spoken).stems
    told = own & read(text).stems
    yield from _early_exactly(text, ground, held, spoken, seen, near=bool(told))
    if len(told) >= _EARLY_WORDS:
        tells = len(told) >= _EARLY_FROM * len(own)
    else:  # hardly anything of it is its own: only where the message says it, and nothing before did
        tells = conveyed(held, text).verdict == "conveyed" and conveyed(held, spoken).verdict != "conveyed"
    if tells and conveyed(held, seen).verdict != "conveyed":
        yield f"{held.id}: {' '.join(sorted(told)) or held.text}"


def _early_in_disguise(views: Iterable[str], held: Requirement) -> Iterator[str]:
    exact = [(part, squeezed(part)) for part in (*held.identifiers, *held.values)]
    for view in views:
        bare = squeezed(view)
        yield from (
            f"{held.id}: {part}, in disguise"
            for part, short in exact
            if len(short) >= _LONG_NAME and short in bare
        )
        if conveyed(held, view).verdict == "conveyed":
            yield f"{held.id}, in disguise"


def _early_exactly(
    text: str, ground: LeakGround, held: Requirement, spoken: str, seen: str, *, near: bool
) -> Iterator[str]:
    """Names and values of a held requirement that nobody has said and the workspace does not have.

    ``near``: the message has other words of the requirement as well, so that a common value is of it.
    """
    for name in held.identifiers:
        is_open = any(_says_name(name, each) for each in (spoken, seen)) or all(
            part in ground.base_words for part in IDENTIFIER.findall(name)
        )
        if not is_open and _says_name(name, text):
            yield f"{held.id}: {name}"
    for value in map(seen_plainly, held.values):
        is_open = any(says_value(value, each) for each in (spoken, seen))
        if not is_open and (near or _is_telling(value)) and says_value(value, text):
            yield f"{held.id}: {value}"


def _says_name(name: str, text: str) -> bool:
    """Whether a text has the name; one that is clearly code, also in another style of writing it."""
    if says_identifier(name, text):
        return True
    bare = name.strip("`").removesuffix("()")
    folded = fold(bare)
    if not bare.isidentifier() or folded == bare.casefold():
        return False
    return folded in _folded_names(text)


@lru_cache(maxsize=8)
def _folded_names(text: str) -> frozenset[str]:
    """The names of a text, folded; what was seen is asked for every name of every requirement."""
    return frozenset(map(fold, set(IDENTIFIER.findall(text))))


def _is_telling(value: str) -> bool:
    """Whether a value can hardly be said by chance."""
    if sum(each.isdigit() for each in value) >= _TELLING_DIGITS:
        return True
    words = fold(value).split()
    return len(squeezed(value)) >= _LONG_NAME and any(
        word.isalpha() and stem(word) not in known_words() for word in words
    )
