"""The second pair of hands: a user folds events into a state and, when asked, decides what to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal, Protocol

from fourhands.model.event import Event
from fourhands.model.ledger_state import RequirementState
from fourhands.model.objection import ObjectionKind
from fourhands.model.persona import MoveKind
from fourhands.model.usage import Usage
from fourhands.model.view import WorkspaceView

__all__ = [
    "ACTION_MOMENTS",
    "Act",
    "Answer",
    "Intervene",
    "Moment",
    "MoveRequirement",
    "Occasion",
    "Rejection",
    "Speak",
    "Speaker",
    "TalkMove",
    "TalkOccasion",
    "User",
    "Utterance",
]


class Moment(StrEnum):
    """When a user is asked."""

    BEFORE_ACTION = "before_action"
    """The model has chosen its next action, and the agent has not carried it out yet."""
    AFTER_ACTION = "after_action"
    """The result of an action has come back, and the model has not seen it yet."""
    ASKED = "asked"
    """The agent has asked a question (an `asked` event) and waits for the answer."""
    STOPPED = "stopped"
    """The model has ended its work, and the agent has not been told yet: whoever speaks now makes it go on."""


ACTION_MOMENTS: Final = (Moment.BEFORE_ACTION, Moment.AFTER_ACTION)
"""The moments of which one is an intervention's."""


@dataclass(frozen=True, slots=True)
class Intervene:
    """Edit the workspace, say something, or both. ``patch`` is a git diff against the base commit.

    ``message`` are the fixed words; how they are put in the end is the user's `phrase`. With ``shadow_of`` nothing
    is done: it only records where the user of those conditions (labels) would have acted.
    """

    intervention_id: str
    patch: bytes | None
    message: str | None
    reason: str
    shadow_of: tuple[str, ...] = ()


class TalkOccasion(StrEnum):
    """What made a talking user speak: the first five as they took the agent's question."""

    PLAN = "plan"
    REVIEW = "review"
    QUESTION = "question"
    HANDOFF = "handoff"
    OTHER = "other"
    STOPPED = "stopped"
    """The agent wanted to end."""
    INTERRUPT = "interrupt"
    """The agent had worked for long without a word."""


@dataclass(frozen=True, slots=True)
class TalkMove:
    """What a talking user chose to do with a message, and which requirements it is about.

    ``why`` says by which rule, for whoever reads the record. ``occasion`` is missing where words are only tried.
    """

    kind: MoveKind
    requirements: tuple[str, ...] = ()
    why: str = ""
    occasion: TalkOccasion | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer the question that was asked last. ``source`` as in `Utterance`; ``move`` is a talking user's."""

    question_id: str
    said: Utterance
    move: TalkMove | None = None


@dataclass(frozen=True, slots=True)
class Speak:
    """Say something unasked: between two actions, or when the agent wants to end, which makes it go on."""

    said: Utterance
    move: TalkMove


@dataclass(frozen=True, slots=True)
class MoveRequirement:
    """Record that a requirement has come to another state. ``turn`` counts the exchanges of words, from 0.

    Acts are carried out in order: what a message reveals moves after it.
    """

    requirement: str
    before: RequirementState
    after: RequirementState
    turn: int
    evidence: Mapping[str, Any]


Act = Intervene | Answer | Speak | MoveRequirement


@dataclass(frozen=True, slots=True)
class Occasion:
    """What there is to speak of. ``fixed`` says it in fixed words; ``patch`` was just written, if any."""

    intervention: str
    fixed: str
    patch: bytes | None


@dataclass(frozen=True, slots=True)
class Rejection:
    """Words that a model proposed and that were not said, and why not.

    ``kinds`` tell the same for whoever counts; empty where no words came, or none of a talking user.
    """

    text: str
    reason: str
    kinds: tuple[ObjectionKind, ...] = ()


@dataclass(frozen=True, slots=True)
class Utterance:
    """What is said. ``fallback`` means that a model was asked and the fixed words had to serve.

    ``usage`` are the tokens that the user's own model took over all attempts; ``model`` is its name, if one was
    asked. ``exchanges`` are its requests and replies as JSON documents, which a replay of the user reads.
    ``objections`` are what a check has against words that are said all the same: those of a talking user's author, or
    of a model that decides by itself.
    """

    text: str
    source: Literal["fixed", "live", "fallback"] = "fixed"
    rejected: tuple[Rejection, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    exchanges: tuple[bytes, ...] = ()
    objections: tuple[ObjectionKind, ...] = ()


class Speaker(Protocol):
    """Puts what a user has to say into words."""

    def observe(self, event: Event) -> None:
        """Fold one event into the state: pure, so that any log rebuilds it."""
        ...

    async def phrase(self, occasion: Occasion) -> Utterance:
        """The words for an occasion. Never fails: whatever a model does, there are the fixed words."""
        ...


class User(Protocol):
    """Anyone who shares the agent's workspace: touching, talking, scripted, replayed, or a person."""

    @property
    def moments(self) -> Collection[Moment]:
        """When this user wants to be asked."""
        ...

    def observe(self, event: Event) -> None:
        """Fold one event into the state: pure, so that any log rebuilds it."""
        ...

    async def decide(self, moment: Moment, view: WorkspaceView) -> list[Act]:
        """What to do now. What became of an act comes back as an event."""
        ...

    async def phrase(self, occasion: Occasion) -> Utterance:
        """The words that go with an act, once its edit stands."""
        ...
