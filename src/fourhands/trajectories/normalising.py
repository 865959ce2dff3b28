"""What must differ between two runs of the same trial, taken out of requests so that the rest can be compared.

Agents tell their model the date, ids of their own, names of temporary files and how long things took. Call ids are
the model's, and so part of what a recording gives back.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

__all__ = ["normalised"]

_LEFT_OUT: Final = frozenset(
    {"metadata", "client_metadata", "prompt_cache_key", "user", "safety_identifier", "stream_options"}
)
"""Keys of a request's body that name a session, or that only the agent's accounting needs."""
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY: Final = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_PATTERNS: Final = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<id>"),
    (r"\b(?:ses|msg|prt|usr)_[0-9A-Za-z]{8,}", "<id>"),
    (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?", "<time>"),
    (r"\d{4}[-/]\d{1,2}[-/]\d{1,2}", "<date>"),
    (rf"(?:{_DAY},? +)?(?:{_MONTH} +\d{{1,2}},? +\d{{4}}|\d{{1,2}} +{_MONTH} +\d{{4}})", "<date>"),
    (rf"{_DAY} +{_MONTH} +\d{{1,2}} +\d\d:\d\d:\d\d(?: +[A-Z]{{3,4}})? +\d{{4}}", "<time>"),
    (rf"{_MONTH} +\d{{1,2}} +\d\d:\d\d\b", "<time>"),
    (r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?[AP]M)?\b", "<time>"),
    (r"\b1[6-9]\d{8}(?:\d{3})?(?:\.\d+)?\b", "<time>"),
    (r"\b\d+(?:\.\d+)? ?(?:ms|s|secs?|seconds?)\b", "<duration>"),
    (r"/tmp/[\w.+-]+(?:/[\w.+-]+)*", "<temporary file>"),  # noqa: S108 - it is looked for, not written
    (r"0x[0-9a-f]{6,}", "<address>"),
)
_ANY: Final = re.compile("|".join(f"({pattern})" for pattern, _ in _PATTERNS))
_NAMES: Final = tuple(name for _, name in _PATTERNS)


def normalised(value: Any, *, top: bool = True) -> Any:
    """JSON with what must differ named in place of its value; ``top`` is a request's whole body."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return [normalised(each, top=False) for each in value]
    if isinstance(value, dict):
        return {
            key: normalised(each, top=False) for key, each in value.items() if not (top and key in _LEFT_OUT)
        }
    return value


@lru_cache(maxsize=1 << 12)
def _text(text: str) -> str:
    """An agent says nearly all of it again with its next request."""
    return _ANY.sub(lambda found: _NAMES[(found.lastindex or 1) - 1], text)
