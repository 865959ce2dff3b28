"""Sentences below these tables without which their numbers mislead."""

from __future__ import annotations

from typing import Final

__all__ = ["CONVERSATION_NOTES", "INFORMED", "RULES"]

INFORMED: Final = (
    "verifier-informed: hidden tests stood in for checks that the ledger lacks: the user knew them."
)
RULES: Final = (
    "missing: never said, and not met; forgotten: said, never met, taken up in neither the agent's words nor its "
    "lines; regression: met at a checkpoint, not in the end; misread: the agent's last words say it otherwise; bug: "
    "taken up, and the code is wrong; undecided: not told by execution and events. No judge; of what no check can "
    "show, by the user's own model, unaudited."
)


CONVERSATION_NOTES: Final = (RULES, INFORMED)
"""All of them."""
