"""One trial's events -> one row of facts. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from fourhands.analysis.costs import TrialCost, trial_cost
from fourhands.analysis.delivery import delivery_proofs
from fourhands.analysis.failures import failure_told
from fourhands.model.event import Event, EventKind
from fourhands.model.outcome import Outcome, Termination, Verdict
from fourhands.model.price import NO_PRICES, PriceTable
from fourhands.model.trial import TrialKey

__all__ = ["TrialRow", "trial_row"]


_DELIVERS: Final = frozenset({EventKind.EDIT_APPLIED, EventKind.MESSAGE_SENT})


@dataclass(frozen=True, slots=True)
class TrialRow:
    """What tables need of a trial. Counts are of interventions; ``tokens`` is input (cached too) plus output.

    ``delivered`` interventions are those whose edit the user wrote, or whose words alone were said.

    A trial without a final attempt has no ``outcome`` and counts of 0: planned, not run.
    """

    key: TrialKey
    attempt: int
    outcome: Outcome | None
    steps: int = 0
    tokens: int = 0
    uncounted_replies: int = 0
    """Replies whose tokens the provider did not tell: then ``tokens`` is a lower bound."""
    intended: int = 0
    """Interventions that the user planned."""
    triggered: int = 0
    shadowed: frozenset[str] = frozenset()
    """Under `vanilla`: labels of the conditions whose user would have acted at least once."""
    delivered: int = 0
    announced: int = 0
    """Edits of which the agent's own client told its model."""
    messages: int = 0
    fallback_messages: int = 0
    """Messages that a model was asked for and that were said in the fixed words."""
    never_carried: int = 0
    """Messages that no request ever carried: the agent ended first, or its history lost their place."""
    already_present: int = 0
    not_applied: int = 0
    user_lines_at_end: int = 0
    """Lines in the final state that the user wrote."""
    why: str = ""
    """What is known of why the trial has no outcome that counts."""
    applicable: bool = True
    """Whether the task has what the condition needs (an edit); else it is counted, and not scored."""
    cost: TrialCost = field(default_factory=TrialCost)

    @property
    def is_scored(self) -> bool:
        """Whether the trial enters rates."""
        return self.applicable and self.outcome is not None and self.outcome.is_scored

    @property
    def is_protocol_failure(self) -> bool:
        """Whether the agent broke its own protocol: strict rates count that as unresolved."""
        return self.outcome is not None and self.outcome.termination is Termination.PROTOCOL_FAILURE

    def as_json(self) -> dict[str, Any]:
        """For machines: what was run, and what came of it: the same whether or not it was cut and run again."""
        outcome = self.outcome
        return {
            "trial": self.key.slug,
            "task": self.key.task,
            "agent": self.key.agent.name,
            "model": self.key.agent.model,
            "condition": self.key.condition.label,
            "repeat": self.key.repeat,
            "applicable": self.applicable,
            "scored": self.is_scored,
            "verdict": outcome and outcome.verdict.value,
            "termination": outcome and outcome.termination.value,
            "reward": outcome and outcome.reward,
            "why": self.why or None,
            "steps": self.steps,
            "tokens": self.tokens,
            "uncounted_replies": self.uncounted_replies,
            "intended": self.intended,
            "triggered": self.triggered,
            "would_trigger": sorted(self.shadowed),
            "delivered": self.delivered,
            "announced": self.announced,
            "messages": self.messages,
            "never_carried": self.never_carried,
            "already_present": self.already_present,
            "not_applied": self.not_applied,
            "user_lines_at_end": self.user_lines_at_end,
        }

    @property
    def is_resolved(self) -> bool:
        """Whether the verifier was satisfied."""
        return self.outcome is not None and self.outcome.verdict is Verdict.RESOLVED


def trial_row(
    key: TrialKey,
    attempt: int,
    events: Iterable[Event],
    *,
    prices: PriceTable = NO_PRICES,
    applicable: bool = True,
) -> TrialRow:
    """Fold the events of a trial's final attempt."""
    events = list(events)
    ended = next((event.body for event in reversed(events) if event.kind is EventKind.TRIAL_ENDED), None)
    if ended is None:
        return TrialRow(key, attempt, None, applicable=applicable)
    kinds = [event.kind for event in events]
    planned = (
        event.body.get("interventions", 0) for event in events if event.kind is EventKind.TRIAL_STARTED
    )
    said = [event.body.get("source") for event in events if event.kind is EventKind.MESSAGE_SENT]
    missed = [event.body["outcome"] for event in events if event.kind is EventKind.EDIT_NOT_APPLIED]
    changed = [event.body for event in events if event.kind is EventKind.WORKSPACE_CHANGED]
    return TrialRow(
        key=key,
        attempt=attempt,
        outcome=Outcome(Verdict(ended["verdict"]), Termination(ended["termination"]), ended["reward"]),
        steps=ended["steps"],
        tokens=ended["tokens"]["total"],
        uncounted_replies=ended["uncounted_replies"],
        intended=next(planned, 0),
        triggered=kinds.count(EventKind.TRIGGER_FIRED),
        shadowed=frozenset(
            label
            for event in events
            if event.kind is EventKind.SHADOW_TRIGGER_FIRED
            for label in event.body["conditions"]
        ),
        delivered=len({event.body["intervention"] for event in events if event.kind in _DELIVERS}),
        announced=sum(bool(proof.announced) for proof in delivery_proofs(events)),
        messages=len(said),
        fallback_messages=said.count("fallback"),
        never_carried=len(
            _messages(events, EventKind.MESSAGE_SENT) - _messages(events, EventKind.MESSAGE_CARRIED)
        ),
        already_present=missed.count("already_present"),
        not_applied=sum(outcome != "already_present" for outcome in missed),
        user_lines_at_end=changed[-1]["lines"].get("user", 0) if changed else 0,
        why="" if Termination(ended["termination"]).is_scored else _why(events),
        applicable=applicable,
        cost=trial_cost(key.agent.model, events, prices),
    )


def _why(events: Iterable[Event]) -> str:
    """The last that the record says of a failure that is not the agent's."""
    return next((told for event in reversed(list(events)) if (told := failure_told(event))), "")


def _messages(events: Iterable[Event], kind: EventKind) -> set[str]:
    return {event.body["message"] for event in events if event.kind is kind}
