"""What a conversation adds to a trial's story, as values: words and their reasons, states of the code, the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from fourhands.model.checkpoint import CheckpointKind
from fourhands.report.story.clipped import Clipped

__all__ = [
    "Blocked",
    "GoalStory",
    "LedgerStory",
    "Moved",
    "RequirementStory",
    "Slip",
    "Spoken",
    "State",
    "Talk",
]

_WORDS: Final[Mapping[str, str]] = {
    CheckpointKind.COMMIT: "commit",
    CheckpointKind.WORKING: "uncommitted work",
    CheckpointKind.STOP: "the agent first wants to end",
    CheckpointKind.END: "the end",
}


@dataclass(frozen=True, slots=True)
class Blocked:
    """A wording that was refused before it went out."""

    reason: str
    text: Clipped


@dataclass(frozen=True, slots=True)
class Spoken:
    """What there is to know of one message of the talking user.

    ``why`` names the rule by which it was said, ``occasion`` what the question was taken for. ``source`` is
    ``fixed``, ``live`` (a model's words) or ``fallback`` (the fixed words, in place of those of ``model``).
    """

    move: str | None
    requirements: tuple[str, ...] = ()
    why: str | None = None
    occasion: str | None = None
    source: str = "fixed"
    model: str | None = None
    blocked: tuple[Blocked, ...] = ()

    @property
    def move_words(self) -> str:
        """The move as one says it."""
        return (self.move or "says").replace("_", " ")

    @property
    def source_words(self) -> str:
        """Whose words they are."""
        match self.source:
            case "live":
                return f"put into words by {self.model}"
            case "fallback":
                return f"the fixed words, in place of {self.model}'s"
            case _:
                return "fixed words"


@dataclass(frozen=True, slots=True)
class Moved:
    """One step of a requirement in the ledger; ``by`` names what shows it, where the record tells."""

    seq: int
    requirement: str
    before: str
    after: str
    by: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """A checkpoint: a plan, or a state of the code, and what it was found to be worth.

    ``score`` is of 100, by ``source`` (``checks``, ``hidden-tests``, ``words``); ``None``: nobody could tell.
    ``met``, ``unmet`` and ``unknown`` are requirements, ``gained`` and ``lost`` how that differs from the state
    before of the same kind: plans are compared with plans. ``failed`` are checks by name, at most so many as the
    limits say. ``goals`` are 0 to 1.
    """

    name: str
    of: str
    commit: str | None = None
    subject: str | None = None
    marks: tuple[str, ...] = ()
    additions: int = 0
    deletions: int = 0
    score: float | None = None
    source: str | None = None
    met: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    checks: int = 0
    checks_passed: int = 0
    checks_unknown: int = 0
    failed: tuple[str, ...] = ()
    goals: Mapping[str, float | None] = field(default_factory=dict)
    problem: str | None = None

    @property
    def is_plan(self) -> bool:
        """Whether it is of words, not of code."""
        return self.of == CheckpointKind.PLAN

    @property
    def of_words(self) -> str:
        """What it is of."""
        return _WORDS.get(self.of, self.of)


@dataclass(frozen=True, slots=True)
class RequirementStory:
    """One requirement. ``text`` is the recorded ledger's; ``None``: the record does not tell it.

    ``moves`` are turn (from 1), state and event of each step. ``fate`` is its state in the end, as the checks of the
    final code have it (``unknown``: nobody talked, and no check tells); ``label`` says why it is not met there.
    ``told`` is the turn it was said in.
    """

    id: str
    text: str | None
    moves: tuple[tuple[int, str, int], ...]
    fate: str
    met: bool | None
    told: int | None
    label: str | None
    label_at_will: str | None


@dataclass(frozen=True, slots=True)
class GoalStory:
    """One goal of the recorded ledger."""

    id: str
    text: str
    requirements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LedgerStory:
    """The requirements, turn by turn. ``turns`` are the events of the user's messages: a turn ends with one.

    ``stop`` is the turn in which the agent first wanted to end.
    """

    requirements: tuple[RequirementStory, ...]
    goals: tuple[GoalStory, ...]
    turns: tuple[int, ...]
    stop: int | None


@dataclass(frozen=True, slots=True)
class Slip:
    """A slip of the working agreement, and the event that shows it."""

    kind: str
    seq: int

    @property
    def words(self) -> str:
        """As one says it."""
        return self.kind.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Talk:
    """What the conversation as a whole came to.

    ``is_talk``: somebody talked; of a converted task that was given as a whole there are states and a ledger alone.
    ``at_will`` is the verdict on the state in which the agent first wanted to end, ``stop`` the event of that state.
    ``plan`` is the checkpoint of the plan that the work began with.
    """

    is_talk: bool
    persona: str | None
    at_will: str | None
    stop: int | None
    held_at_will: tuple[str, ...]
    held: tuple[str, ...]
    said: int
    blocked: int
    looks: int
    verifier_informed: bool
    plan: str | None
    slips: tuple[Slip, ...]
    ledger: LedgerStory
