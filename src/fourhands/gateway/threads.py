"""Which thread of the agent a request belongs to: its main loop, or one of its sub-agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from fourhands.gateway.traits import AgentTraits
from fourhands.model.event import MAIN_THREAD
from fourhands.model.sandbox import WORKDIR
from fourhands.wire.document import Document
from fourhands.wire.history import History
from fourhands.wire.types import Action, Wire

__all__ = ["PendingReply", "Thread", "Threads"]

_OPENING: int = 4
"""Items that tell one conversation's opening from another's: instructions, surroundings, the first words."""


@dataclass(frozen=True, slots=True)
class PendingReply:
    """A reply of which it is not yet known whether the agent carries on from it.

    ``step`` is of the main loop; ``items`` is the length of the history that it answered.
    """

    step: int | None
    calls: tuple[str, ...]
    replies: int
    items: int
    id: str

    def is_accepted_by(self, document: Document, history: History, kept: int) -> bool:
        """Whether the request goes on from this reply; ``kept`` items of its history are as they were.

        Where the history was shortened its actions are gone from it, and have run all the same: whoever only asks
        again sends what was sent before.
        """
        if document.previous is not None:
            return document.previous == self.id
        if self.calls:
            return history.has_called(self.calls) or kept < self.items
        return history.replies > self.replies


@dataclass(slots=True)
class Thread:
    """One conversation between the agent and the model."""

    name: str
    history: History
    pending: list[PendingReply] = field(default_factory=list)
    folder: str = WORKDIR
    """Where its shell stands, if the agent keeps one."""
    delegated: frozenset[str] = frozenset()
    """Calls of its last reply that started a sub-agent, and whose results have not come back."""

    @property
    def is_main(self) -> bool:
        """Whether it is the agent's main loop, which is where a user speaks."""
        return self.name == MAIN_THREAD


class Threads:
    """All threads of one trial, told apart by headers where the agent sends them, else by the calls they hold."""

    def __init__(self, traits: AgentTraits) -> None:
        self._traits = traits
        self._threads: list[Thread] = []
        self._by_header: dict[tuple[str, ...], Thread] = {}
        self._by_reply: dict[str, Thread] = {}
        self._by_call: dict[str, Thread] = {}
        self._by_opening: dict[bytes, Thread] = {}
        self._prompts: list[str] = []
        """What sub-agents were told when they were started."""

    def of(self, document: Document, headers: Mapping[str, str]) -> Thread:
        """The thread of a request that is no side request; a new one where it begins one."""
        key = tuple(headers.get(name, "") for name in self._traits.thread_headers)
        if any(key):
            thread = self._by_header.get(key) or self._of_headers(document, headers)
            self._by_header[key] = thread
            return thread
        if document.previous in self._by_reply:
            return self._by_reply[document.previous]
        for call in _last_calls(document):
            if call in self._by_call:
                return self._by_call[call]
        opening = b"\n".join(bytes(item) for item in document.items[:_OPENING])
        thread = self._by_opening.get(opening) or self._unknown(document)
        self._by_opening[opening] = thread
        return thread

    def replied(self, thread: Thread, reply: str, actions: Sequence[Action], calls: Sequence[str]) -> None:
        """Take in that the model answered in ``thread``, with the reply of that id (empty if it has none).

        ``calls`` are the names of its ``actions`` in the thread's history.
        """
        if reply:
            self._by_reply[reply] = thread
        for action in actions:
            self._by_call[action.call_id] = thread
        delegating = {
            call: action
            for call, action in zip(calls, actions, strict=True)
            if action.tool in self._traits.sub_agent_tools
        }
        thread.delegated = frozenset(delegating)
        self._prompts += [prompt for action in delegating.values() if (prompt := _prompt(action))]

    def _of_headers(self, document: Document, headers: Mapping[str, str]) -> Thread:
        name = self._traits.sub_agent_header
        if name is None or not self._threads:
            # Without such a header, any other name than the first is a sub-agent's.
            return self._new(document.wire)
        # The main loop goes by another name after a restart of the agent.
        return self._new(document.wire) if headers.get(name) else self._threads[0]

    def _unknown(self, document: Document) -> Thread:
        """A sub-agent begins while the main loop waits for it, or with what it was told when it was started.

        Else the main loop has lost its history.
        """
        if not self._threads or self._threads[0].delegated:
            return self._new(document.wire)
        words = _words(document)
        told = next((prompt for prompt in self._prompts if prompt in words), None)
        if told is None:
            return self._threads[0]
        self._prompts.remove(told)
        return self._new(document.wire)

    def _new(self, wire: Wire) -> Thread:
        name = f"sub-{len(self._threads)}" if self._threads else MAIN_THREAD
        thread = Thread(name, History(wire, text_actions=self._traits.text_actions))
        self._threads.append(thread)
        return thread


def _prompt(action: Action) -> str:
    """What a sub-agent is told: the longest text among its call's arguments."""
    given = action.arguments.values() if isinstance(action.arguments, Mapping) else (action.arguments,)
    return max((value.strip() for value in given if isinstance(value, str)), key=len, default="")


def _words(document: Document) -> str:
    """What a conversation opens with."""
    words = []
    for raw in document.items[:_OPENING]:
        try:
            words.append(document.wire.item(orjson.loads(memoryview(raw))).text)
        except (ValueError, TypeError, AttributeError, KeyError):
            return ""  # whoever reads it says what is wrong with it
    return "\n".join(words)


def _last_calls(document: Document) -> list[str]:
    """The ids of the calls and results that stand last in a request."""
    for raw in reversed(document.items):
        try:
            item = document.wire.item(orjson.loads(memoryview(raw)))
        except (ValueError, TypeError, AttributeError, KeyError):
            return []  # whoever reads it says what is wrong with it
        if item.results or item.calls:
            return [*(call for call, _ in item.results), *item.calls]
    return []
