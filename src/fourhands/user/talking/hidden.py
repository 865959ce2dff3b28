"""What stands only in a task's tests or its reference repair: names, rare words, numbers and runs of words."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Final

from fourhands.language.ground import IDENTIFIER, fold
from fourhands.language.stems import STOP_WORDS, stem
from fourhands.user.message_names import SPAN
from fourhands.user.talking.disguises import squeezed

__all__ = ["Hidden", "canaries", "hidden_in", "known_words", "words_of"]

_LARGEST_FILE: Final = 1 << 20
_MOST_BYTES: Final = 1 << 25
_LONGEST_NAME: Final = 80
_LONG_NAME: Final = 6
"""Letters from which a name is no chance in a text that was turned round."""
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w]|\.\d)")
_TELLING_DIGITS: Final = 3
"""A number of fewer stands for many things."""
_RUNS: Final = ((4, 3), (5, 2))
"""Words in a run, and how many of them must mean something, so that having it is no chance."""
_WORDS: Final = re.compile(r"[^\W\d_]+(?:'[a-z]+)?|\d+")
_STYLED: Final = re.compile(r"[^\W\d][\w.-]*\w|[^\W\d]")
_CALLED: Final = re.compile(r"(?<!\w)([^\W\d]\w*+)\(")
_PLANTED: Final = re.compile(r"canary\W{1,4}([A-Za-z0-9][A-Za-z0-9_-]{11,})", re.IGNORECASE)
_RANDOM: Final = re.compile(r"(?<![\w-])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*(?![\w-])")
_RANDOM_FROM: Final = 20
_MIXED: Final = 4
"""Digits, and letters, that a random token has at the least."""
_PARTS_OF_PROSE: Final = 2
"""A name of so many parts may be said with a hyphen, or apart, by chance."""


def canaries(*patches: bytes, elsewhere: str = "") -> tuple[str, ...]:
    """The canaries in what git diffs add: after the word ``canary``, or any long random token.

    Args:
        patches: of the tests and of the reference.
        elsewhere: a token that stands here as well is no canary: the instruction, the base repository's text.
    """
    added = "\n".join(line for patch in patches for line in _lines(patch, "+"))
    random = (token for token in _RANDOM.findall(added) if _is_random(token))
    return tuple(
        dict.fromkeys(token for token in (*_PLANTED.findall(added), *random) if token not in elsewhere)
    )


def _is_random(token: str) -> bool:
    digits = sum(each.isdigit() for each in token)
    letters = sum(each.isalpha() for each in token)
    return len(token) >= _RANDOM_FROM and digits >= _MIXED and letters >= _MIXED


def words_of(files: Iterable[bytes]) -> frozenset[str]:
    """The names and longer numbers in files as they stand, and the plain words that names consist of, folded.

    For the base repository: whoever calls keeps it by the tree's id. Binary files and those above 1 MiB are left out,
    and nothing is read beyond 32 MiB in all.
    """
    names: set[str] = set()
    numbers: set[str] = set()
    left = _MOST_BYTES
    for content in files:
        if len(content) > min(_LARGEST_FILE, left) or b"\0" in content[:8192]:
            continue
        left -= len(content)
        text = content.decode("utf-8", "replace")
        names.update(name for name in IDENTIFIER.findall(text) if len(name) <= _LONGEST_NAME)
        numbers.update(_telling_numbers(text))
    return frozenset(names | numbers | {part for name in names for part in fold(name).split()})


@dataclass(frozen=True)
class Hidden:
    """What must not be said, since it stands only where the agent may not look.

    Attributes:
        names: code by its look (``snake_case``, ``camelCase``, ``v2``), by its folded words.
        common: names that are everyday words: they tell something only where they are written as code.
        words: words by themselves that are nowhere else, not even in everyday English.
        numbers: of three digits or more, or with a point.
        runs: words in a row, folded.
    """

    names: frozenset[str]
    common: frozenset[str]
    words: frozenset[str]
    numbers: frozenset[str]
    runs: frozenset[tuple[str, ...]]

    def in_names(self, text: str) -> Iterator[str]:
        """Its names and words in a text, in any style of writing names."""
        for token in _STYLED.findall(text):
            for each in dict.fromkeys((token, *re.split(r"[.-]", token))):
                folded = fold(each)
                is_named = folded in self.names and not _is_prose(each)
                if is_named or folded in self.words or (each.startswith("_") and each in self.common):
                    yield each
        for token in (*SPAN.findall(text), *_CALLED.findall(text)):
            if token.strip("()").casefold() in self.common:
                yield token

    def in_disguise(self, view: str) -> Iterator[str]:
        """Its longer names and words in one reading of a disguised text (`disguises`)."""
        bare = squeezed(view)
        yield from (f"{name}, in disguise" for name, short in self._squeezed if short in bare)

    @cached_property
    def _squeezed(self) -> tuple[tuple[str, str], ...]:
        both = ((name, squeezed(name)) for name in sorted(self.names | self.words))
        return tuple((name, short) for name, short in both if len(short) >= _LONG_NAME)

    def in_numbers(self, text: str) -> Iterator[str]:
        """Its numbers in a text."""
        yield from (number for number in _telling_numbers(text) if number in self.numbers)

    def in_runs(self, text: str) -> Iterator[str]:
        """Its runs of words in a text."""
        yield from (" ".join(run) for run in _runs(text) if run in self.runs)


def hidden_in(patches: Iterable[bytes], free: str, base_words: frozenset[str]) -> Hidden:
    """What the added lines of git diffs have and neither ``free``, nor the base repository, nor everybody has.

    What the diffs themselves keep or take away stands in the base repository.
    """
    patches = tuple(patches)
    added = "\n".join(line for patch in patches for line in (*_lines(patch, "+"), *_paths(patch)))
    kept = "\n".join(line for patch in patches for line in (*_lines(patch, " "), *_lines(patch, "-")))
    known = base_words | words_of((free.encode(), kept.encode()))
    stems = {stem(word) for word in known if word.islower()}
    names: set[str] = set()
    common: set[str] = set()
    words: set[str] = set()
    for name in set(IDENTIFIER.findall(added)) - known - _SPOKEN_BY_ALL:
        folded = fold(name)
        if _is_code(name) and (" " in folded or not _is_spoken(folded, known, stems)):
            names.add(folded)
        elif _is_code(name):  # "_load", where everybody says "load"
            common.add(name)
        elif len(folded) > 2 and not _is_spoken(folded, known, stems):  # noqa: PLR2004
            words.add(folded)
        elif folded not in known and stem(folded) not in stems:
            common.add(folded)
    free_runs = frozenset(_runs(f"{free}\n{kept}"))
    return Hidden(
        names=frozenset(names - {fold(name) for name in known if _is_code(name)}),
        common=frozenset(common),
        words=frozenset(words),
        numbers=frozenset(set(_telling_numbers(added)) - known),
        runs=frozenset(set(_runs(added)) - free_runs),
    )


def _is_code(name: str) -> bool:
    """Whether a name is one of code by its look, wherever it stands."""
    return (
        "_" in name.strip("_") or name.startswith("_") or fold(name) != name.casefold() or not name.isalpha()
    )


def _is_prose(token: str) -> bool:
    """Whether words are joined as in prose: ``left-over``."""
    return "_" not in token and "." not in token and 0 < token.count("-") < _PARTS_OF_PROSE


_SPOKEN_BY_ALL: Final = frozenset(keyword.kwlist) | frozenset(dir(builtins))


@cache
def known_words() -> frozenset[str]:
    """Stems of words that a developer may say of any project."""
    text = resources.files("fourhands.user.talking").joinpath("everyday.words").read_text("utf-8")
    return frozenset(
        stem(word) for line in text.splitlines() if not line.startswith("#") for word in line.split()
    )


def _is_spoken(word: str, known: Collection[str], stems: Collection[str]) -> bool:
    """Whether a word stands where the agent may look, or is an everyday one."""
    root = stem(word)
    return word in known or root in stems or word in STOP_WORDS or root in known_words()


def _telling_numbers(text: str) -> Iterator[str]:
    for number in _NUMBER.findall(text):
        if len(number.replace(".", "")) >= _TELLING_DIGITS:
            yield number


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    for line in text.splitlines():
        words = _WORDS.findall(fold(line))
        for length, meaning in _RUNS:
            for at in range(len(words) - length + 1):
                run = tuple(words[at : at + length])
                if sum(word not in STOP_WORDS and len(word) > 2 for word in run) >= meaning:  # noqa: PLR2004
                    yield run


def _lines(patch: bytes, sign: str) -> Iterator[str]:
    """The lines of a git diff with that sign, which is taken off."""
    inside = False
    for line in patch.decode("utf-8", "replace").splitlines():
        if line.startswith(("diff --git ", "@@ ")):
            inside = line.startswith("@@ ")
        elif inside and line.startswith(sign):
            yield line[1:]


def _paths(patch: bytes) -> Iterator[str]:
    for match in re.finditer(r"^\+\+\+ b/(.+)$", patch.decode("utf-8", "replace"), re.MULTILINE):
        yield match[1]
