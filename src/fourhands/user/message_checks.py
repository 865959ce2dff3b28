"""Whether a message that a model wrote may be said to the agent."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from fourhands.language.ground import Ground
from fourhands.user.message_claims import claims
from fourhands.user.message_names import SPAN, unknown_names
from fourhands.user.message_talk import talk

__all__ = ["MAX_CHARACTERS", "MAX_WORDS", "MAX_WORD_CHARACTERS", "MIN_WORDS", "objections", "tidy"]

MIN_WORDS: Final = 3
MAX_WORDS: Final = 120
MAX_CHARACTERS: Final = 900
MAX_WORD_CHARACTERS: Final = 120
"""Room for a path. Also what keeps the searches below quick: they take the square of a word's length."""

_THOUGHTS: Final = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_QUOTED: Final = re.compile(r"\A(?:\"([^\"]*)\"|“([^“”]*)”)\Z")
_FENCE: Final = re.compile(r"```|~~~")
_MARKUP: Final = {
    "holds a heading": r"^\s{0,3}(?:#{1,6}\s|(?:={3,}|-{3,})\s*$)",
    "holds a diff": r"^(?:diff --git |index [0-9a-f]{7,}|@@ |--- |\+\+\+ )",
    "holds a list": r"^\s*(?:[-+*•]|\d{1,2}[.)])\s",
    "holds bold text": r"\*\*\S(?:[^*\n]*\S)?\*\*",
    "holds a tag": r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>",
    "has a role before it": (
        r"^\W*(?:user|human|assistant|system|developer|agent|ai|me|reply|message|response|colleague)\W{0,3}:"
        r"|<\||\[/?INST\]"
    ),
    "holds a link": r"\w://|\bwww\.",
}


def tidy(text: str) -> str:
    """Without what some models put around a message: their thoughts, quotation marks, blank space."""
    text = _THOUGHTS.sub("", text).replace("\r\n", "\n").strip()
    quoted = _QUOTED.match(text)
    return (quoted[1] or quoted[2] or "").strip() if quoted else text


def objections(text: str, *, task: str, patch: bytes | None) -> tuple[str, ...]:
    """Why ``text`` must not be said; empty when it may be.

    Args:
        text: the message, as it would be sent.
        task: the instruction the agent was given, with whatever else has names that may be used.
        patch: the diff that the user just wrote, or ``None`` when the user only speaks.
    """
    ground = Ground.of(task, patch)
    found = tuple(_form(text))
    # What is ill-formed is not searched: no text that a model sends shall hold up the gateway's loop.
    return found or tuple(reason for check in _CHECKS for reason in check(text, ground))


def _form(text: str) -> Iterator[str]:
    longest = max(map(len, text.split()), default=0)
    words = len(text.split())
    if not words:
        yield "is empty"
    elif words < MIN_WORDS:
        yield f"is too short ({words} words, at least {MIN_WORDS})"
    if words > MAX_WORDS or len(text) > MAX_CHARACTERS:
        yield (
            f"is too long ({words} words, {len(text)} characters; at most {MAX_WORDS} and {MAX_CHARACTERS})"
        )
    if longest > MAX_WORD_CHARACTERS:
        yield f"holds a word of {longest} characters"
    if any(unicodedata.category(each) in {"Cc", "Cf", "Cs", "Co"} and each not in "\n\t" for each in text):
        yield "holds characters that cannot be seen"


def _markup(text: str, ground: Ground) -> Iterator[str]:
    del ground
    if _FENCE.search(text):  # before spans are taken out: one may take a piece of a fence with it
        yield "holds a code block"
    prose = SPAN.sub("it", text)
    for reason, pattern in _MARKUP.items():
        if re.search(pattern, prose, re.MULTILINE | re.IGNORECASE):
            yield reason


def _names(text: str, ground: Ground) -> Iterator[str]:
    unknown = unknown_names(text, ground)
    if unknown:
        source = "the edit nor the task" if ground.edit is not None else "the task"
        yield f"names what is not in {source}: {', '.join(unknown[:5])}"


_CHECKS: Final[tuple[Callable[[str, Ground], Iterable[str]], ...]] = (_markup, talk, _names, claims)
