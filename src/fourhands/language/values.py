"""What must be said exactly: names of the code and values, as they are found in a text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from fourhands.language.polarity import LONGEST

__all__ = ["NUMBER", "plain", "says_identifier", "says_value"]

NUMBER: Final = re.compile(r"(?<![\w.,])[-+−]?\d[\d_]*(?:\.\d+)*(?![\d_]|\.\d|[^\W\d]{4})")
"""A number, with a unit after it or not: no piece of a name or a longer number. For text as `plain` leaves it."""

_GROUPED: Final = re.compile(
    r"(?<![\w.,])([-+−]?\d{1,3})((?:,\d{3})+|(?:[_ \u00a0\u2009\u202f']\d{3})+)(?!\d|,\d)"
)
_SEPARATORS: Final = re.compile(r"[,_'\s]")
_UNITS: Final = {
    "%": r"percent|per cent",
    "ms": r"milliseconds?|millis|msecs?",
    "s": r"seconds?|secs?",
    "min": r"minutes?|mins",
    "h": r"hours?|hrs?",
    "B": r"bytes?",
    "KB": r"kilobytes?|kb",
    "MB": r"megabytes?|mb",
    "GB": r"gigabytes?|gb",
}
_UNIT: Final = re.compile(
    r"(?<=\d)[ \t]?-?(?:"
    + "|".join(rf"({re.escape(short)}|{names})" for short, names in _UNITS.items())
    + r")(?!\w)"
)
_SHORT: Final = tuple(_UNITS)
_QUOTES: Final = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_QUOTATION: Final = "\"'`"
_BLANKS: Final = re.compile(r"\s+")


@lru_cache(maxsize=256)
def plain(text: str) -> str:
    """Text in which a value looks one way: no grouping of digits, short units right after them, single blanks."""
    text = text[:LONGEST].translate(_QUOTES)
    text = _GROUPED.sub(lambda match: match[1] + _SEPARATORS.sub("", match[2]), text)
    text = _BLANKS.sub(" ", text)
    return _UNIT.sub(lambda match: _SHORT[(match.lastindex or 1) - 1], text).strip()


def says_identifier(name: str, text: str) -> bool:
    """Whether a text has the name as it is written, not as a piece of a longer one; ``f`` will do for ``f()``."""
    bare = name.strip("`").removesuffix("()") or name
    return bare in text and _named(bare).search(text) is not None


def says_value(value: str, text: str) -> bool:
    """Whether a text has the value: ``10,000`` is ``10000``, ``30 seconds`` is ``30 s``; words must be the same."""
    bare = plain(value)
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in _QUOTATION:
        bare = bare[1:-1]
    said = plain(text)
    return bare in said and _valued(bare).search(said) is not None


@lru_cache(maxsize=4096)
def _named(name: str) -> re.Pattern[str]:
    # A name that begins or ends with a sign has no word to be a piece of.
    start = r"(?<!\w)(?<!\w-)" if re.match(r"\w", name) else ""
    end = r"(?!\w)(?!-\w)" if re.search(r"\w\Z", name) else ""
    return re.compile(start + re.escape(name) + end)


@lru_cache(maxsize=4096)
def _valued(value: str) -> re.Pattern[str]:
    if value[:1].isdigit():
        # "-10" is not 10, though "5-10" has one; nor are "2.10" and "10.5".
        start, end = r"(?<![\w])(?<!\d[.,])(?<!(?<!\w)[-−])", r"(?![\w])(?![.,]\d)"
    else:
        start = r"(?<!\w)" if re.match(r"\w", value) else ""
        end = r"(?!\w)(?![.,]\d)" if re.search(r"\w\Z", value) else ""
    return re.compile(start + re.escape(value) + end)
