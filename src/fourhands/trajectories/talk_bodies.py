"""How what a talking user says and sees stands in the bodies of events, for whoever writes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fourhands.model.usage import Usage
from fourhands.model.user import MoveRequirement, Rejection, TalkMove, Utterance

__all__ = ["moved_json", "objections_json", "rejected_json", "talk_json", "usage_json"]


def moved_json(act: MoveRequirement) -> dict[str, Any]:
    """The body of ``requirement_moved``."""
    return {
        "requirement": act.requirement,
        "from": act.before.value,
        "to": act.after.value,
        "turn": act.turn,
        "evidence": dict(act.evidence),
    }


def talk_json(move: TalkMove | None) -> dict[str, Any]:
    """What a talking user's message does; nothing for any other user's."""
    if move is None:
        return {}
    occasion = {} if move.occasion is None else {"occasion": move.occasion.value}
    return {
        "move": move.kind.value,
        "requirements": list(move.requirements),
        "why": move.why,
        **occasion,
    }


def rejected_json(rejected: Iterable[Rejection]) -> list[dict[str, Any]]:
    """The words that were not said. ``kinds`` are there where a talking user's checks tell them."""
    return [
        {
            "text": each.text,
            "reason": each.reason,
            **({"kinds": [kind.value for kind in each.kinds]} if each.kinds else {}),
        }
        for each in rejected
    ]


def objections_json(said: Utterance) -> dict[str, Any]:
    """What a check has against words that were said all the same; nothing where it has nothing."""
    return {"objections": [kind.value for kind in said.objections]} if said.objections else {}


def usage_json(usage: Usage | None) -> dict[str, int] | None:
    """Tokens."""
    if usage is None:
        return None
    return {
        "input": usage.input,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "output": usage.output,
        "reasoning": usage.reasoning,
    }
