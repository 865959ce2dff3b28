"""What a tool's name says about it: ``mcp__files__read_text_file`` reads."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

__all__ = ["tool_words"]

_NAMESPACE: Final = re.compile(r"__|[./:]")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LONGEST: Final = 200


@lru_cache(maxsize=1024)
def tool_words(tool: str) -> tuple[str, ...]:
    """The words of a tool's own name in lower case, without the server or namespace that it comes from."""
    own = _NAMESPACE.split(tool[-_LONGEST:])[-1]
    return tuple(word.lower() for word in _WORD.findall(own))
