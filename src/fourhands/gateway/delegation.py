"""Work that a scripted model gives to a sub-agent: the prompt says all, so that no server must remember it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from fourhands.wire.serving.types import ModelTurn, UserTurn

__all__ = ["Delegated", "delegated", "delegation_prompt"]

_WORK: Final = re.compile(r"<delegated-commands>\s*(\[.*?\])\s*</delegated-commands>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Delegated:
    """A sub-agent's own conversation: its ``commands``, and how many replies have been made (``done``)."""

    commands: tuple[str, ...]
    done: int

    def next_command(self) -> str | None:
        """What the sub-agent does next; ``None`` at its end."""
        return self.commands[self.done] if self.done < len(self.commands) else None


def delegation_prompt(commands: Sequence[str]) -> str:
    """What a sub-agent is told."""
    # No end of an element can stand in it, whatever the commands are.
    listed = orjson.dumps(list(commands)).decode().replace("<", "\\u003c")
    return (
        "Run these commands in the repository, each in a step of its own, then say that they are done.\n\n"
        f"<delegated-commands>\n{listed}\n</delegated-commands>"
    )


def delegated(instructions: Sequence[str], turns: Sequence[ModelTurn | UserTurn]) -> Delegated | None:
    """The work of the sub-agent whose conversation this is; ``None`` for the main one.

    A sub-agent may begin with a copy of the main conversation: its prompt is the last that gives work.
    """
    for at in range(len(turns) - 1, -1, -1):
        turn = turns[at]
        if isinstance(turn, UserTurn) and (found := _WORK.search(turn.text)):
            return _from(found, turns[at:])
    for text in reversed(instructions):
        if found := _WORK.search(text):
            return _from(found, turns)
    return None


def _from(found: re.Match[str], since: Sequence[ModelTurn | UserTurn]) -> Delegated:
    return Delegated(tuple(orjson.loads(found[1])), sum(isinstance(turn, ModelTurn) for turn in since))
