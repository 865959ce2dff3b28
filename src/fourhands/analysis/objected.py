"""What checks had against a talking user's words in one trial: what they held back, and what went out anyway."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fourhands.analysis.ledger_labels import Fate
from fourhands.model.ledger import Ledger
from fourhands.model.objection import LEAKS, ObjectionKind

__all__ = ["Objected", "objected", "objected_json", "told_out_of_order"]


@dataclass(frozen=True, slots=True)
class Objected:
    """Counts by `ObjectionKind`: of wordings that were held back, and of messages that went out.

    ``blocked_leaks`` and ``leaks`` are those of them with any of the kinds of `LEAKS`, each once. ``unheard`` are
    requests to the user's model that brought no words at all.
    """

    blocked: Mapping[str, int]
    out: Mapping[str, int]
    blocked_leaks: int
    leaks: int
    unheard: int


def objected(said: Iterable[Mapping[str, Any]]) -> Objected:
    """Of the bodies of a talking user's messages.

    Records of earlier versions do not tell kinds: of these all counts but ``unheard`` are empty.
    """
    blocked: Counter[str] = Counter()
    out: Counter[str] = Counter()
    blocked_leaks = leaks = unheard = 0
    for body in said:
        kinds = body.get("objections", ())
        out.update(kinds)
        leaks += not LEAKS.isdisjoint(kinds)
        for each in body.get("rejected", ()):
            if not each["text"]:
                unheard += "kinds" not in each
            elif each["text"] != body["text"]:  # else it was said all the same
                kinds = each.get("kinds", ())
                blocked.update(kinds)
                blocked_leaks += not LEAKS.isdisjoint(kinds)
    return Objected(_ordered(blocked), _ordered(out), blocked_leaks, leaks, unheard)


def objected_json(found: Objected) -> dict[str, Any]:
    """As the tidy table holds it."""
    return asdict(found)


def told_out_of_order(fates: Sequence[Fate], ledger: Ledger | None) -> int | None:
    """Requirements that were said in an earlier turn than one that they depend on; ``None`` without a ledger."""
    if ledger is None:
        return None
    turns = {fate.requirement: fate.turn for fate in fates if fate.told and fate.turn is not None}
    return sum(
        any(other not in turns or turns[other] > turns[each.id] for other in each.depends_on)
        for each in ledger.requirements
        if each.id in turns
    )


def _ordered(counts: Counter[str]) -> dict[str, int]:
    return {kind.value: counts[kind.value] for kind in ObjectionKind if counts[kind.value]}
