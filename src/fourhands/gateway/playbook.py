"""A playbook: how a scripted model works on one task, and how its temperaments take a user's word.

Pure and without memory: the next move follows from the conversation alone, so a request that is sent twice gets
the same answer, and a trial that is cut and run again goes the same way.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from fourhands.model.errors import InputError

__all__ = ["Move", "Playbook", "Temperament", "Turn", "load_playbook", "next_move"]

Turn = Literal["model", "user"]
"""Whose turn a message of the history was; results of actions are left out."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Move(_Strict):
    """One reply of the model: a thought, and a shell command or the submission of its work."""

    thought: str
    command: str | None = None
    submit: bool = False

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Move:
        if self.submit == (self.command is not None):
            raise ValueError("a move has either a command or submit = true")
        return self


class Temperament(_Strict):
    """How the model reacts to each message of the user, and whether it then goes on or submits."""

    then: Literal["submit", "continue"] = "continue"
    on_message: tuple[Move, ...] = ()


class Playbook(_Strict):
    """``moves`` is the way without a user; the last one submits."""

    schema_version: Annotated[Literal[1], Field(alias="schema")]
    moves: Annotated[tuple[Move, ...], Field(min_length=1)]
    temperaments: dict[str, Temperament]

    @model_validator(mode="after")
    def _ends(self) -> Playbook:
        if not self.moves[-1].submit:
            raise ValueError("the last of moves must have submit = true")
        return self


def load_playbook(path: Path) -> Playbook:
    """Read a ``playbook.toml``.

    Raises:
        InputError: names the file and the field that is wrong.
    """
    try:
        return Playbook.model_validate(tomllib.loads(path.read_text()))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: {error}") from None


def next_move(playbook: Playbook, temperament: str, turns: Sequence[Turn]) -> Move:
    """The reply to a conversation.

    Args:
        playbook: the task's.
        temperament: one of the playbook's.
        turns: the history behind the instructions, in order: each reply of the model, each word of the user.

    Raises:
        InputError: the playbook has no such temperament; says which it has.
    """
    if temperament not in playbook.temperaments:
        known = ", ".join(sorted(playbook.temperaments))
        raise InputError(f"no temperament {temperament!r}: choose from {known}")
    nature = playbook.temperaments[temperament]
    submit = playbook.moves[-1]
    main = 0  # how many of the moves are done
    reaction: int | None = None  # how much of a running reaction is done
    spoken_to = False
    for turn in turns:
        if turn == "user":
            reaction, spoken_to = 0, True
        elif reaction is not None and reaction < len(nature.on_message):
            reaction += 1
        else:
            main += 1
    if reaction is not None and reaction < len(nature.on_message):
        return nature.on_message[reaction]
    if spoken_to and nature.then == "submit":
        return submit
    return playbook.moves[min(main, len(playbook.moves) - 1)]
