"""What words state that nothing before them has: names of code, and numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fourhands.language.ground import Ground
from fourhands.user.message_names import unknown_names

__all__ = ["invented"]

_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_NAMED: Final = 3


def invented(text: str, given: str) -> Iterator[str]:
    """What of ``text`` does not stand in ``given``, in words for whoever wrote it; nothing where all does."""
    if unknown := unknown_names(text, Ground(given, None)):
        yield f"names what was not given: {', '.join(unknown[:_NAMED])}"
    if numbers := set(_NUMBER.findall(text)) - set(_NUMBER.findall(given)):
        yield f"holds numbers that were not given: {', '.join(sorted(numbers)[:_NAMED])}"
