"""Split an instruction into a ledger by rules alone: offline, and always the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fourhands.conversations.making.atoms import Atom, find_atoms
from fourhands.conversations.making.brief import VAGUEST, make_brief, told_by
from fourhands.conversations.making.dependencies import with_dependencies
from fourhands.conversations.making.exact import exact_parts
from fourhands.conversations.making.goals import goals_of
from fourhands.conversations.making.weights import even_weights
from fourhands.language.conveyance import conveyed
from fourhands.model.errors import InputError
from fourhands.model.ledger import Ledger, Requirement

__all__ = ["SPLITTER", "split"]

SPLITTER: Final = "splitter"
"""What `Ledger.maker` says of a ledger made here."""


def split(instruction: str) -> Ledger:
    """The ledger of an instruction, with no tests named.

    Raises:
        InputError: it asks for nothing that could be told from the rest.
    """
    atoms = [atom for atom in find_atoms(instruction) if _says_something(atom)]
    if not atoms:
        raise InputError(
            "the instruction has no sentence that asks for anything: say there what is expected, or write the ledger "
            "by hand"
        )
    requirements = [_requirement(f"R{number}", atom) for number, atom in enumerate(atoms, start=1)]
    brief = make_brief(instruction, requirements)
    kept = [atom for atom, each in zip(atoms, requirements, strict=True) if not told_by(brief, each)]
    if not kept:  # all of it in one sentence: then the opening must not be that sentence
        brief, kept = VAGUEST, atoms
    weights = even_weights(len(kept))
    numbered = [
        replace(_requirement(f"R{number}", atom), weight=weight)
        for number, (atom, weight) in enumerate(zip(kept, weights, strict=True), start=1)
    ]
    made = with_dependencies(numbered)
    return Ledger(brief=brief, requirements=made, goals=goals_of(made, kept), maker=SPLITTER)


def _says_something(atom: Atom) -> bool:
    """Whether it has to be said at all: what the vaguest opening conveys has no word that matters."""
    return conveyed(_requirement("R1", atom), VAGUEST).verdict != "conveyed"


def _requirement(name: str, atom: Atom) -> Requirement:
    exact = exact_parts(atom.text)
    return Requirement(
        id=name,
        text=atom.text,
        span=atom.span,
        identifiers=exact.identifiers,
        values=exact.values,
        negations=exact.negations,
    )
