"""That an edit is neutral, and in nobody's way, shown without running anything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fourhands.edits.neutral.candidate import Candidate, spliced
from fourhands.edits.neutral.languages import Language
from fourhands.model.text import LineRange
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.three_way import merge_contents

__all__ = ["Target", "proven"]

_APART: Final = 1
"""Unchanged lines between a neutral edit and any other change, at least: git merges no changes that touch."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file to edit. ``reference`` is its content after the reference repair.

    ``contested`` are the lines (base coordinates, empty between two lines) that the reference or an earlier
    neutral edit changes.
    """

    path: str
    language: Language
    base: bytes
    reference: bytes
    contested: tuple[LineRange, ...]


def proven(store: ObjectStore, target: Target, candidate: Candidate) -> bytes | None:
    """The file's content with the edit, if it keeps the meaning both of the base and of the reference.

    The second is shown on the three-way merge of both, which must be without conflict.
    """
    if not _is_apart(candidate, target.contested):
        return None
    edited = spliced(target.base, candidate.splices)
    alike = target.language.alike
    if not alike(target.base, edited, candidate.renamed):
        return None
    if target.reference == target.base:
        return edited
    both = merge_contents(store, target.base, edited, target.reference)
    if both is None or not alike(target.reference, both, candidate.renamed):
        return None
    return edited


def _is_apart(candidate: Candidate, ranges: Iterable[LineRange]) -> bool:
    nearest = candidate.between(ranges)
    return nearest is None or nearest >= _APART
