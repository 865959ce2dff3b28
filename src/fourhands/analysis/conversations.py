"""The record of one conversation -> what it came to: who said how much, what was told, what the code held when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from fourhands.analysis.churn import Churn, churn
from fourhands.analysis.ledger_labels import Fate, fates, first_stop
from fourhands.analysis.objected import Objected, objected
from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.outcome import Verdict
from fourhands.model.persona import MoveKind

__all__ = ["SHOWN", "Conversation", "Score", "conversation", "is_talk", "plan_begun_with", "until_stop"]

SHOWN: Final = ["changes"]
"""The arguments of the look that a user does not choose: what changed."""


@dataclass(frozen=True, slots=True)
class Score:
    """What a checkpoint was worth, 0 to 100, and by whose word; ``None``: nobody could tell.

    ``turn`` is how many messages the user had said by then. ``is_new`` says whether it is of code that differs from
    that of the state before in more than tests.
    """

    checkpoint: str
    of: CheckpointKind
    score: float | None
    source: str | None
    turn: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class Conversation:
    """One trial of a talking user.

    ``at_will`` is the verdict on the state in which the agent first wanted to end, or was cut before it did, with
    its ``at_will_reward``; ``None`` in a record that does not tell. ``at_will_fates`` are the requirements in that
    state, ``fates`` in the final one.

    ``questions`` were put by the agent; ``said`` are all messages of the user, answers and unprompted ones, of which
    ``corrections`` said that something is not met; ``said_at_will`` and ``corrections_at_will`` are those of them
    before the agent first wanted to end. ``blocked`` wordings were refused before a message went out, and
    ``fallbacks`` messages said in fixed words in place of a model's. ``objected`` is what checks had against words.
    ``looks`` are what the user chose to look at, ``looks_at_will`` those before the agent first wanted to end,
    ``shown`` how often they were shown what changed. ``slips`` of protocol are kinds, in order.
    """

    at_will: Verdict | None
    at_will_reward: float | None
    fates: tuple[Fate, ...]
    at_will_fates: tuple[Fate, ...]
    questions: int
    said: int
    said_at_will: int
    corrections: int
    corrections_at_will: int
    blocked: int
    fallbacks: int
    objected: Objected
    looks: int
    looks_at_will: int
    shown: int
    slips: tuple[str, ...]
    scores: tuple[Score, ...]
    plan_score: float | None
    churn: Churn

    @property
    def held(self) -> tuple[str, ...]:
        """Requirements that the user never said."""
        return tuple(fate.requirement for fate in self.fates if not fate.told)

    @property
    def held_at_will(self) -> tuple[str, ...]:
        """Requirements that the user had not said when the agent first wanted to end."""
        return tuple(fate.requirement for fate in self.at_will_fates if not fate.told)

    @property
    def is_covered(self) -> bool:
        """Whether all was said in the end: then the final state is the one with full coverage."""
        return bool(self.fates) and not self.held

    @property
    def final_score(self) -> float | None:
        """Of the last state."""
        return next(
            (each.score for each in reversed(self.scores) if each.of is not CheckpointKind.PLAN), None
        )

    @property
    def is_verifier_informed(self) -> bool:
        """Whether a score was made with hidden tests."""
        return any(each.source == "hidden-tests" for each in self.scores)


def is_talk(event: Event) -> bool:
    """Whether the talking user says something: an answer, or a message that belongs to no intervention."""
    if event.kind is EventKind.MESSAGE_SENT:
        return event.body["intervention"] is None
    return event.kind is EventKind.ANSWERED


def conversation(events: Sequence[Event]) -> Conversation:
    """Fold the events of an attempt of a talking user, in order."""
    ended = next((event.body for event in reversed(events) if event.kind is EventKind.TRIAL_ENDED), {})
    at_will: Mapping[str, Any] = ended.get("at_will") or {}
    said = [event.body for event in events if is_talk(event)]
    early = [*until_stop(events)]
    said_at_will = [event.body for event in early if is_talk(event)]
    looked = [event.body["argv"] for event in events if event.kind is EventKind.LOOKED]
    looked_at_will = [event.body["argv"] for event in early if event.kind is EventKind.LOOKED]
    states = [event.body for event in events if event.kind is EventKind.CHECKPOINT]
    plan = plan_begun_with(events)
    return Conversation(
        at_will=Verdict(at_will["verdict"]) if at_will else None,
        at_will_reward=at_will.get("reward"),
        fates=fates(events),
        at_will_fates=fates(events, at_will=True),
        questions=sum(event.kind is EventKind.ASKED for event in events),
        said=len(said),
        said_at_will=len(said_at_will),
        corrections=sum(map(_corrects, said)),
        corrections_at_will=sum(map(_corrects, said_at_will)),
        blocked=sum(len(body.get("rejected", ())) for body in said),
        fallbacks=sum(body.get("source") == "fallback" for body in said),
        objected=objected(said),
        looks=sum(argv != SHOWN for argv in looked),
        looks_at_will=sum(argv != SHOWN for argv in looked_at_will),
        shown=sum(argv == SHOWN for argv in looked),
        slips=tuple(each["slip"] for each in ended.get("slips") or ()),
        scores=_scores(events),
        plan_score=plan["score"] if plan else None,
        churn=churn(states),
    )


def _corrects(body: Mapping[str, Any]) -> bool:
    return bool(body.get("move") == MoveKind.CORRECT)


def until_stop(events: Sequence[Event]) -> Iterator[Event]:
    """What happened until the agent first wanted to end; all of it, where it never did."""
    stop = first_stop(events)
    return (event for event in events if stop is None or event.seq < stop)


def _scores(events: Iterable[Event]) -> tuple[Score, ...]:
    """Of all checkpoints, in order."""
    found, turn = [], 0
    for event in events:
        turn += is_talk(event)
        if event.kind is not EventKind.CHECKPOINT:
            continue
        body = event.body
        of = CheckpointKind(body["of"])
        is_new = of is not CheckpointKind.PLAN and _is_new_code(body)
        found.append(Score(body["checkpoint"], of, body["score"], body["source"], turn, is_new))
    return tuple(found)


def _is_new_code(checkpoint: Mapping[str, Any]) -> bool:
    """Whether a state of the code, as its event's body, differs from the one before in more than tests."""
    return bool(checkpoint["additions"] + checkpoint["deletions"]) and not checkpoint["tests_only"]


def plan_begun_with(events: Iterable[Event]) -> Mapping[str, Any] | None:
    """The plan that the work began with, as its checkpoint: the last one before the agent's first changed line."""
    plan = None
    changed: dict[str, set[str]] = defaultdict(set)
    for event in events:
        body = event.body
        if event.kind is EventKind.WORKSPACE_CHANGED:
            changed[body["by"]].update(file["path"] for file in body["files"])
        elif event.kind is not EventKind.CHECKPOINT:
            continue
        elif body["of"] == CheckpointKind.PLAN:
            plan = body
        # What a touching user alone wrote is not the agent's work.
        elif (body["additions"] or body["deletions"]) and not (
            changed[Actor.USER] - changed[Actor.AGENT] >= set(body["files"])
        ):
            break
    return plan
