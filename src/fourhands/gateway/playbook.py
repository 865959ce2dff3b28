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

__all__ = ["Edit", "Move", "Playbook", "Temperament", "Turn", "load_playbook", "next_move"]

Turn = Literal["model", "user"]
"""Whose turn a message of the history was; results of actions are left out."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Edit(_Strict):
    """``old``, which stands once in the file at ``path``, becomes ``new``."""

    path: str
    old: Annotated[str, Field(min_length=1)]
    new: str


class Move(_Strict):
    """One reply of the model: a thought with something to do, a question to the user, or the end of its work.

    To do is one of ``command``, a shell command; ``parallel``, several in one reply; ``read``, a path relative to the
    repository, shown by the agent's own tool where it has one; ``edit``, a replacement in a file, made by the agent's
    own tool where it has one; ``delegate``, commands for a sub-agent, one a reply of its own, where the agent has
    any. With ``ask`` the thought is the question, and that is all. A ``command`` that comes with ``submit`` runs in
    the step that submits, where the agent ends by a command: nobody can act between the two.
    """

    thought: str
    command: str | None = None
    parallel: tuple[str, ...] = ()
    read: str | None = None
    edit: Edit | None = None
    delegate: tuple[str, ...] = ()
    submit: bool = False
    ask: bool = False

    @model_validator(mode="after")
    def _is_one_reply(self) -> Move:
        others = {
            "parallel": self.parallel,
            "read": self.read,
            "edit": self.edit,
            "delegate": self.delegate,
        }
        to_do = [name for name, value in others.items() if value]
        if self.command is not None:
            to_do.append("command")
        if self.ask and (self.submit or to_do):
            raise ValueError("a move with ask = true has neither a command nor submit = true")
        if self.submit and to_do and to_do != ["command"]:
            raise ValueError(f"a move with submit = true can have a command, not {to_do[0]}")
        if len(to_do) > 1:
            raise ValueError(
                f"a move has one of command, parallel, read, edit and delegate, not {' and '.join(to_do)}"
            )
        if not (self.ask or self.submit or to_do):
            raise ValueError(
                "a move has a command (or parallel, read, edit, delegate), or submit = true, or ask = true"
            )
        return self


class Temperament(_Strict):
    """How the model reacts to each message of the user, and whether it then goes on, submits, or repeats itself.

    ``moves`` is its own way without a user, in place of the playbook's. With ``then = "repeat"`` the last of
    ``on_message`` is done again and again.
    """

    then: Literal["submit", "continue", "repeat"] = "continue"
    on_message: tuple[Move, ...] = ()
    moves: tuple[Move, ...] = ()

    @model_validator(mode="after")
    def _can_be_played(self) -> Temperament:
        if self.moves:
            _check_way(self.moves)
        if self.then == "repeat" and not self.on_message:
            raise ValueError('then = "repeat" needs a move in on_message')
        return self


class Playbook(_Strict):
    """``moves`` is the way without a user; the last one submits."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    schema_version: Annotated[Literal[1], Field(alias="schema")]
    moves: Annotated[tuple[Move, ...], Field(min_length=1)]
    temperaments: dict[str, Temperament]

    @model_validator(mode="after")
    def _can_be_played(self) -> Playbook:
        _check_way(self.moves)
        return self


def _check_way(moves: Sequence[Move]) -> None:
    if not moves[-1].submit:
        raise ValueError("the last of moves must have submit = true")
    if any(move.ask for move in moves):
        # An agent may drop a question from its history: only behind a word of the user can its place be told.
        raise ValueError("a move with ask = true can only stand in on_message")


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
        turns: the history behind the instructions, in order: each reply of the model, each word of the user. A word
            that follows a question answers it and starts no reaction: so does what an agent says of its own to a
            reply without a tool call.

    Raises:
        InputError: the playbook has no such temperament; says which it has.
    """
    if temperament not in playbook.temperaments:
        known = ", ".join(sorted(playbook.temperaments))
        raise InputError(f"no temperament {temperament!r}: choose from {known}")
    nature = playbook.temperaments[temperament]
    way = nature.moves or playbook.moves
    progress = _Progress(nature.on_message)
    for turn in turns:
        progress.take(turn)
    if progress.running is not None:
        return progress.running
    if progress.spoken_to and nature.then == "submit":
        return way[-1]
    if progress.spoken_to and nature.then == "repeat":
        return nature.on_message[-1]
    return way[min(progress.done, len(way) - 1)]


class _Progress:
    """How far a conversation has come: ``done`` moves of the way, and how much of the reaction to the last word."""

    def __init__(self, reaction: Sequence[Move]) -> None:
        self._reaction = reaction
        self._reacted = 0
        self._waits_for_answer = False
        self.done = 0
        self.spoken_to = False

    @property
    def running(self) -> Move | None:
        """The next move of a reaction that is not over."""
        is_over = not self.spoken_to or self._reacted == len(self._reaction)
        return None if is_over else self._reaction[self._reacted]

    def take(self, turn: Turn) -> None:
        """Go on by one turn."""
        running = self.running
        if turn == "model":
            self._waits_for_answer = running is not None and running.ask
            if running is None:
                self.done += 1
            else:
                self._reacted += 1
        elif self._waits_for_answer:
            self._waits_for_answer = False
        elif running is not None and running.ask:
            # The agent left the question out of its history; this is what it told the model in its place.
            self._reacted += 1
        else:
            self.spoken_to, self._reacted = True, 0
