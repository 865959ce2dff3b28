"""Why a trial failed: the labels of both papers, and by what each was found.

The words are the papers'. Their rules were never published: those by which a label is found here without a judge are
ours, and stand in ``docs/failures.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "FailureLabel",
    "FailureType",
    "FailureTyping",
    "FoundBy",
    "FoundLabel",
    "LabelledFailure",
    "Undecided",
]


class FailureLabel(StrEnum):
    """Of a failed conversation, any subset: SWE-Interact, figure 5."""

    TECHNICAL = "technical implementation bug"
    """It was said and understood, and the code is wrong."""
    FORGOTTEN = "forgotten requirement"
    """It was said, and it is not in the code."""
    REGRESSION = "regression"
    """A state of the code held it, and the final one does not."""
    MISINTERPRETATION = "misinterpretation / bad assumption"
    """It was said, and the agent took it for something else."""
    MISSING = "missing user requirement"
    """The user never said it: the benchmark's lack, and not the agent's."""


class FailureType(StrEnum):
    """Of a trial that failed under the user's hands, exactly one: SWE-Touch, figure 4."""

    RETAINED_CONFLICT = "retained conflict"
    """The final state still carries the user's conflicting semantics."""
    INCORRECT_REPLACEMENT = "incorrect replacement"
    """The edit is gone, and what stands in its place is wrong."""
    INCOMPLETE_RECONCILIATION = "incomplete reconciliation"
    """It is right where the edit was, and not carried to what depends on it."""
    OFF_TARGET = "off-target"
    """The agent worked on something else."""
    INSUFFICIENT_EVIDENCE = "insufficient evidence"
    """The record does not show why."""
    VERIFICATION_BREAKDOWN = "verification breakdown"
    """A right change was spoiled by testing or handing over."""
    OTHER_DEFECT = "other defect"


class FoundBy(StrEnum):
    """By what a label was found, best first: the first that decides has the word."""

    EXECUTION = "execution"
    """Tests or checks were run on a state of the code."""
    EVENTS = "events"
    """The record shows it: what was said, read, written."""
    JUDGE = "judge"
    """A model read the record, and said so."""


@dataclass(frozen=True, slots=True)
class FoundLabel:
    """One label of a failed conversation, of one requirement (``None``: of the trial as a whole).

    ``by`` is the weakest kind of evidence that the label rests on. ``events`` are the numbers of those that show it,
    in order, and ``why`` says it in words.
    """

    label: FailureLabel
    by: FoundBy
    requirement: str | None
    events: tuple[int, ...]
    why: str

    @property
    def told_by(self) -> str:
        """In words, by what it was found: no judge of an audit gives such a label, but the user's own model may."""
        return "the user's own model, unaudited" if self.by is FoundBy.JUDGE else self.by.value


@dataclass(frozen=True, slots=True)
class Undecided:
    """What neither execution nor events decide: left for a judge. ``requirement`` as in `FoundLabel`.

    ``edit`` is the event of a user's edit that may be why: then causal ablation may tell. ``is_excused``: it has told
    that the edit is why. That is none of the five labels, and nothing is left for a judge.
    """

    requirement: str | None
    events: tuple[int, ...]
    why: str
    edit: int | None = None
    is_excused: bool = False


@dataclass(frozen=True, slots=True)
class LabelledFailure:
    """All that was found of one failed conversation; ``undecided`` is what was not."""

    found: tuple[FoundLabel, ...]
    undecided: tuple[Undecided, ...] = ()

    @property
    def labels(self) -> tuple[FailureLabel, ...]:
        """Each once, in the order of `FailureLabel`."""
        have = {each.label for each in self.found}
        return tuple(label for label in FailureLabel if label in have)


@dataclass(frozen=True, slots=True)
class FailureTyping:
    """The one type of a failed trial that was touched; ``type`` is ``None`` where a judge would have to say.

    ``by`` as in `FoundLabel`; ``None`` with ``type``.
    """

    type: FailureType | None
    by: FoundBy | None
    events: tuple[int, ...]
    why: str
