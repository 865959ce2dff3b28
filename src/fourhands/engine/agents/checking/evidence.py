"""What a trial of an agent left: the record, and what the model's server was sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from fourhands.engine.agents.registry import AgentEntry
from fourhands.gateway.delegation import delegated
from fourhands.gateway.playbook import Move
from fourhands.model.event import Event, EventKind
from fourhands.model.usage import Usage
from fourhands.wire.registry import wire_for
from fourhands.wire.serving.chat import ServedChat
from fourhands.wire.serving.messages import ServedMessages
from fourhands.wire.serving.responses import ServedResponses
from fourhands.wire.serving.text import text_form
from fourhands.wire.serving.tools import shell_tool
from fourhands.wire.serving.types import Asked, ModelTurn, ServedWire, Tool, UserTurn
from fourhands.wire.types import Json, Wire

__all__ = ["Evidence", "Heard"]

_SERVED: Final[dict[str, ServedWire]] = {
    wire.path: wire for wire in (ServedChat(), ServedResponses(), ServedMessages())
}


@dataclass(frozen=True, slots=True)
class Heard:
    """One request that the model's server was sent, on the API ``wire``, and what it answered.

    ``asked`` is ``None`` where the request was refused: then ``answered`` says why.
    """

    wire: Wire
    body: Json
    asked: Asked | None
    answered: Json

    @classmethod
    def of(cls, path: str, body: Json, answered: Json) -> Heard:
        """Take an exchange as `fourhands.gateway.players.Log` tells it."""
        wire = wire_for(f"/{path}")
        assert wire
        was_refused = bool(answered.get("error"))
        return cls(wire, body, None if was_refused else _SERVED[path].read(body), answered)

    @property
    def is_work(self) -> bool:
        """Whether it is no request beside the work, such as one for a title."""
        asked = self.asked
        return asked is not None and (
            shell_tool(asked.tools) is not None
            or (not asked.tools and text_form("\n".join(asked.instructions)) is not None)
        )

    @property
    def is_delegated(self) -> bool:
        """Whether it is a sub-agent's."""
        asked = self.asked
        return asked is not None and delegated(asked.instructions, asked.turns) is not None


@dataclass(frozen=True)
class Evidence:
    """All that findings are made of.

    ``reported`` is what the agent says of its own tokens. ``leaks`` are files to which the trial's token was written.
    ``log`` is the end of what the agent printed. ``seconds`` is what the whole trial took.
    """

    entry: AgentEntry
    events: Sequence[Event]
    heard: Sequence[Heard]
    reported: Usage | None
    leaks: tuple[str, ...]
    log: str
    seconds: float

    @property
    def ended(self) -> dict[str, Any]:
        """The outcome."""
        return next((dict(event.body) for event in self.of(EventKind.TRIAL_ENDED)), {})

    @property
    def main(self) -> list[Asked]:
        """The requests of the main loop, in order."""
        return [each.asked for each in self._main_loop if each.asked]

    @property
    def last_history(self) -> str:
        """The history that the main loop ended with, as JSON."""
        if not self._main_loop:
            return ""
        last = self._main_loop[-1]
        return orjson.dumps(last.body[last.wire.history_key]).decode()

    @property
    def delegated(self) -> list[Asked]:
        """Those of a sub-agent."""
        return [each.asked for each in self.heard if each.asked and each.is_work and each.is_delegated]

    @property
    def tools(self) -> Sequence[Tool]:
        """What the agent offers its model."""
        return self.main[-1].tools if self.main else ()

    @property
    def _main_loop(self) -> list[Heard]:
        return [each for each in self.heard if each.is_work and not each.is_delegated]

    def of(self, kind: EventKind) -> Iterator[Event]:
        """The events of one kind."""
        return (event for event in self.events if event.kind is kind)

    def body(self, kind: EventKind, intervention: str) -> dict[str, Any] | None:
        """The body of the event of one kind that belongs to an intervention, if there is one."""
        return next(
            (dict(event.body) for event in self.of(kind) if event.body["intervention"] == intervention), None
        )

    def made(self, move: Move) -> ModelTurn | None:
        """The reply that made a move, as the last request of the main loop has it."""
        return next((turn for turn, _ in self._turns(lambda turn: move.thought in turn.text)), None)

    def came_back(self, move: Move) -> str:
        """What the agent told its model of a move; empty if nothing."""
        return next((said for _, said in self._turns(lambda turn: move.thought in turn.text)), "")

    def _turns(self, wanted: Callable[[ModelTurn], bool]) -> Iterator[tuple[ModelTurn, str]]:
        turns = self.main[-1].turns if self.main else ()
        for index, turn in enumerate(turns):
            if isinstance(turn, ModelTurn) and wanted(turn):
                yield turn, "\n".join(turn.results.values()) or _next_word(turns[index + 1 :])


def _next_word(turns: Sequence[ModelTurn | UserTurn]) -> str:
    """Without tools, what comes back is the next thing that is said."""
    return turns[0].text if turns and isinstance(turns[0], UserTurn) else ""
