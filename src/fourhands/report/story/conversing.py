"""A conversation as a whole: what became of each requirement, turn by turn, and what it came to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from fourhands.analysis.conversations import conversation, is_talk, plan_begun_with
from fourhands.analysis.failure_labels import requirement_labels
from fourhands.analysis.ledger_labels import Fate, first_stop, with_labels
from fourhands.model.ablation import Ablation
from fourhands.model.condition import Condition
from fourhands.model.event import Event, EventKind
from fourhands.model.failure import LabelledFailure
from fourhands.model.ledger import Ledger
from fourhands.report.story.talk import GoalStory, LedgerStory, RequirementStory, Talk
from fourhands.report.story.talking import slips
from fourhands.trajectories.ledgers import recorded_ledger

__all__ = ["talk_of"]

_WITHOUT_TALK: Final[Mapping[bool | None, str]] = {True: "satisfied", False: "violated", None: "unknown"}
"""Where all was asked for at once, nothing was held: the final code alone tells."""


def talk_of(
    events: Sequence[Event],
    read_blob: Callable[[str], bytes],
    ablation: Ablation | None = None,
    failure: LabelledFailure | None = None,
) -> Talk | None:
    """What the conversation came to; ``None`` of a trial that neither was one nor was measured like one.

    Args:
        events: of the attempt.
        read_blob: the content of a blob of the attempt, by its hash; empty where it cannot be read.
        ablation: what causal ablation concluded on it.
        failure: its labels, if it is a conversation that failed.
    """
    is_conversation = _talks(events)
    has_states = any(event.kind is EventKind.CHECKPOINT for event in events)
    if not is_conversation and not has_states:
        return None
    found = conversation(events)
    ledger = recorded_ledger(events, read_blob)
    started = next((event.body for event in events if event.kind is EventKind.TRIAL_STARTED), {})
    turns = tuple(event.seq for event in events if is_talk(event))
    stop = first_stop(events)
    plan = plan_begun_with(events)
    fates, labels = found.fates, dict[str, str]()
    if is_conversation:
        why = failure or requirement_labels(events, read_blob, ablation=ablation)
        fates, labels = with_labels(fates, why), _labels(why)
    early = {fate.requirement: fate for fate in found.at_will_fates}
    requirements = tuple(
        RequirementStory(
            id=fate.requirement,
            text=_text(ledger, fate.requirement),
            moves=tuple(
                (event.body["turn"] + 1, str(event.body["to"]), event.seq)
                for event in events
                if event.kind is EventKind.REQUIREMENT_MOVED and event.body["requirement"] == fate.requirement
            ),
            fate=fate.state.value if is_conversation else _WITHOUT_TALK[fate.met],
            met=fate.met,
            told=None if fate.turn is None else fate.turn + 1,
            label=labels.get(fate.requirement),
            label_at_will=_label(early[fate.requirement]) if is_conversation else None,
        )
        for fate in fates
    )
    goals = tuple(GoalStory(goal.id, goal.text, goal.requirements) for goal in ledger.goals) if ledger else ()
    return Talk(
        is_talk=is_conversation,
        persona=started.get("persona"),
        at_will=found.at_will and found.at_will.value,
        stop=stop,
        held_at_will=found.held_at_will if is_conversation else (),
        held=found.held if is_conversation else (),
        said=found.said,
        blocked=found.blocked,
        looks=found.looks,
        verifier_informed=found.is_verifier_informed,
        plan=plan["checkpoint"] if plan else None,
        slips=tuple(slips(events)),
        ledger=LedgerStory(
            requirements, goals, turns, None if stop is None else sum(seq < stop for seq in turns) + 1
        ),
    )


def _labels(found: LabelledFailure) -> dict[str, str]:
    """By requirement why it is not met in the end: in words, where several hold all of them."""
    words: dict[str, list[str]] = {}
    for each in found.found:
        words.setdefault(each.requirement or "", []).append(each.label.value)
    for left in found.undecided:
        words.setdefault(left.requirement or "", []).append("undecided")
    return {requirement: ", ".join(dict.fromkeys(some)) for requirement, some in words.items()}


def _label(fate: Fate) -> str | None:
    return fate.label and fate.label.value


def _talks(events: Sequence[Event]) -> bool:
    labels = (event.body.get("condition") for event in events if event.kind is EventKind.TRIAL_STARTED)
    try:
        return any(Condition.parse(str(label)).talks for label in labels)
    except ValueError:  # of a later version, or spoiled
        return any(is_talk(event) for event in events)


def _text(ledger: Ledger | None, requirement: str) -> str | None:
    if ledger is None or requirement not in ledger.ids:
        return None
    return ledger[requirement].text
