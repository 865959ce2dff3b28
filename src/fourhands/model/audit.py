"""Audits: a question about trials that a judge model and people answer in the same words, to be compared.

An audit's labels and its question are declared here, once, for the judge's prompt, the people's sheet and the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from fourhands.model.failure import FailureLabel, FailureType
from fourhands.model.usage import Usage

__all__ = ["AUDITS", "TRUSTED_FROM", "Audit", "AuditLabel", "AuditName", "Choice", "Opinion", "OpinionLabel"]

TRUSTED_FROM: Final = 0.6
"""Cohen's κ with people below which nothing that a judge says makes a headline."""


class AuditName(StrEnum):
    """What is asked."""

    SWE_INTERACT = "swe-interact"
    """Why a conversation failed: any of five labels."""
    SWE_TOUCH = "swe-touch"
    """Why a trial failed under the user's hands: one of seven types."""
    GOALS = "goals"
    """How much of a goal a plan or a state of the code reaches: the rubric's score, in three steps."""


class Choice(StrEnum):
    """How many of its labels an answer has."""

    ONE = "one"
    ANY = "any"
    STEP = "step"
    """One, and the labels are in an order: it matters how far apart two answers are."""


@dataclass(frozen=True, slots=True)
class AuditLabel:
    """``name`` is what is recorded, ``meaning`` what judge and people are told it means."""

    name: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Audit:
    """``question`` is put to judge and people alike. ``version`` counts changes of any word of it."""

    name: AuditName
    version: int
    choice: Choice
    question: str
    labels: tuple[AuditLabel, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the labels, in order."""
        return tuple(label.name for label in self.labels)


@dataclass(frozen=True, slots=True)
class OpinionLabel:
    """A label that a judge gives. ``events`` exist in the record, and were shown to it; there is at least one.

    ``requirement`` is the one it is about, where the audit asks for it and the judge names one of the ledger's.
    """

    label: str
    events: tuple[int, ...]
    why: str
    requirement: str | None = None


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one judge said of one attempt in one audit.

    Attributes:
        audit: which.
        audit_version: of the question.
        judge: ``judge:MODEL``.
        prompt_version: of the prompt's other words.
        key: a hash of all that it was asked.
        labels: empty: none applies, which is an answer (of `Choice.ANY`).
        left_out: characters of the record that it was not shown.
        problem: why there is no opinion; then ``labels`` say nothing.
        usage: tokens that it took.
    """

    audit: AuditName
    audit_version: int
    judge: str
    prompt_version: int
    key: str
    labels: tuple[OpinionLabel, ...] = ()
    left_out: int = 0
    problem: str | None = None
    usage: Usage = field(default_factory=Usage)


_INTERACT: Final = Audit(
    AuditName.SWE_INTERACT,
    1,
    Choice.ANY,
    "The trial failed: hidden tests that it had to pass do not pass. Which of these show why? Give each that "
    "applies, and none that does not.",
    (
        AuditLabel(
            FailureLabel.TECHNICAL,
            "The user said what was wanted and the agent understood it, but the code it wrote is wrong.",
        ),
        AuditLabel(
            FailureLabel.FORGOTTEN,
            "The user said a requirement, and the final code does not attempt it.",
        ),
        AuditLabel(
            FailureLabel.REGRESSION,
            "An earlier state of the agent's code met a requirement, and a later change of the agent's broke it.",
        ),
        AuditLabel(
            FailureLabel.MISINTERPRETATION,
            "The agent took a requirement for something else than the user said, or assumed what nobody said.",
        ),
        AuditLabel(
            FailureLabel.MISSING,
            "Something that was needed was never said by the user, so that the agent could not know it.",
        ),
    ),
)
_TOUCH: Final = Audit(
    AuditName.SWE_TOUCH,
    1,
    Choice.ONE,
    "While the agent worked, its user edited the code in a way that conflicts with the task, and the trial failed: "
    "hidden tests that it had to pass do not pass. Which one of these describes best why?",
    (
        AuditLabel(
            FailureType.RETAINED_CONFLICT,
            "The final code still does what the user's edit does, and that conflicts with the task.",
        ),
        AuditLabel(
            FailureType.INCORRECT_REPLACEMENT,
            "The user's edit is gone from the final code, but what the agent put in its place is wrong.",
        ),
        AuditLabel(
            FailureType.INCOMPLETE_RECONCILIATION,
            "The agent put it right where the user had edited, but not in other places that depend on it.",
        ),
        AuditLabel(
            FailureType.OFF_TARGET,
            "The agent worked on something else, and never on what the task or the user's edit is about.",
        ),
        AuditLabel(
            FailureType.INSUFFICIENT_EVIDENCE,
            "What there is to read does not show why it failed.",
        ),
        AuditLabel(
            FailureType.VERIFICATION_BREAKDOWN,
            "The agent had it right, and then spoiled it while testing, cleaning up or handing over.",
        ),
        AuditLabel(FailureType.OTHER_DEFECT, "Another defect in the agent's code, none of the above."),
    ),
)
_GOALS: Final = Audit(
    AuditName.GOALS,
    1,
    Choice.STEP,
    "How much of the goal does this plan take up, or this change reach?",
    (
        AuditLabel("no", "Nothing of it, or what is there says or does otherwise."),
        AuditLabel("partly", "Some of it, and something that matters is missing or wrong."),
        AuditLabel("yes", "All of it: a plan says so in terms one could build from; code does it."),
    ),
)

AUDITS: Final[Mapping[AuditName, Audit]] = MappingProxyType(
    {each.name: each for each in (_INTERACT, _TOUCH, _GOALS)}
)
"""By name."""
