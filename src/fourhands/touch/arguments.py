"""Arguments of a tool call: the same thing goes by many names, and a model may send it as another type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

__all__ = ["text_of", "whole_number"]

_MOST_DIGITS: Final = 10


def text_of(arguments: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first of ``names`` that is a text with something in it."""
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
    return None


def whole_number(arguments: Mapping[str, Any], names: Iterable[str]) -> int | None:
    """The first of ``names`` that is a whole number, be it written ``12``, ``12.0`` or ``"12"``."""
    for name in names:
        value = arguments.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < _MOST_DIGITS:
            return int(value)
    return None
