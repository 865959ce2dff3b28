"""What a message may speak of: the edit that was made, and the task's text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Final

__all__ = ["IDENTIFIER", "Ground", "bounded", "fold"]

IDENTIFIER: Final = re.compile(r"[^\W\d]\w*")

_LOOKALIKES: Final = str.maketrans("\u2018\u2019\u02bc\u201c\u201d", "'''\"\"")
_JOINTS: Final = re.compile("[_\u2010-\u2015-]+")  # every kind of hyphen
_HUMPS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def fold(text: str) -> str:
    """Plain lower-case words, one blank between them.

    Compatibility forms are unified; ``snake_case``, ``camelCase`` and hyphened words are taken apart.
    """
    text = unicodedata.normalize("NFKC", text).translate(_LOOKALIKES)
    return " ".join(_HUMPS.sub(" ", _JOINTS.sub(" ", text)).casefold().split())


@dataclass(frozen=True)
class Ground:
    """``edit`` is the text of the diff that was just written, or ``None`` when the user only speaks."""

    task: str
    edit: str | None

    @classmethod
    def of(cls, task: str, patch: bytes | None) -> Ground:
        """From a diff in any encoding."""
        return cls(task, None if patch is None else patch.decode("utf-8", "replace"))

    @cached_property
    def text(self) -> str:
        """All that names may come from."""
        return f"{self.edit or ''}\n{self.task}"

    @cached_property
    def identifiers(self) -> frozenset[str]:
        """Every identifier of the edit, its paths and the task."""
        return frozenset(IDENTIFIER.findall(self.text))

    @cached_property
    def edit_identifiers(self) -> frozenset[str]:
        """Every identifier of the edit and its paths."""
        return frozenset(IDENTIFIER.findall(self.edit or ""))

    @cached_property
    def folded(self) -> str:
        """As ``fold`` leaves it."""
        return fold(self.text)

    def holds(self, name: str) -> bool:
        """Whether ``name`` stands in the edit or the task, not as a piece of a longer word."""
        return _stands_in(name, self.text)

    def edit_holds(self, name: str) -> bool:
        """Whether ``name`` stands in the edit, not as a piece of a longer word."""
        return _stands_in(name, self.edit or "")


def bounded(name: str) -> str:
    """A pattern for ``name`` where it is not a piece of a longer word."""
    return rf"(?<![\w-]){re.escape(name)}(?![\w-])"


def _stands_in(name: str, text: str) -> bool:
    # A look for the bare name is many times quicker, and most names that a model makes up end there.
    return name in text and re.search(bounded(name), text) is not None
