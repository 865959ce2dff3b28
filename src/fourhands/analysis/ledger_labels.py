"""What became of each requirement of a conversation, as far as the states of the code and the ledger show it.

Of what no check can show, the user's own model has the last word, where it was asked. Why a requirement that was told
was never met is in the agent's words: `fourhands.analysis.failure_labels` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.failure import FailureLabel, LabelledFailure
from fourhands.model.ledger_state import LedgerState, RequirementState
from fourhands.model.outcome import Termination

__all__ = [
    "Fate",
    "acts_after",
    "by_label",
    "code_states",
    "fate_json",
    "fates",
    "first_stop",
    "was_cut",
    "with_labels",
]

_BY_ITSELF: Final = frozenset({Termination.FINISHED, Termination.PROTOCOL_FAILURE})


@dataclass(frozen=True, slots=True)
class Fate:
    """One requirement in one state of the repository.

    ``told`` says whether the user had said it by then, ``turn`` after how many exchanges of words. ``met`` is what
    its checks found there, or a judge before; ``None``: nobody can tell. ``label`` is why it is not met: that it was
    never said, or that an earlier state had it; ``None`` where it is met, where nobody can tell, and where the
    agent's words would have to be read, or where the trial was cut before it was said. ``state`` is the ledger's,
    brought up to what the checks of that state found of what was told.
    """

    requirement: str
    told: bool
    turn: int | None
    met: bool | None
    state: RequirementState
    label: FailureLabel | None


def fates(events: Sequence[Event], *, at_will: bool = False) -> tuple[Fate, ...]:
    """Each requirement, in the ledger's order, in the final state; ``at_will``: where the agent first wanted to end.

    An agent that never wanted to end, for a limit cut it, is judged where it was cut.
    """
    until = first_stop(events) if at_will else None
    seen = [event for event in events if until is None or event.seq <= until]
    ledger = LedgerState.of(_names(events))
    for event in seen:
        ledger.observe(event)
    code = [event.body["requirements"] for event in code_states(seen)]
    is_cut = was_cut(events)
    return tuple(_fate(name, ledger, code, seen, is_cut=is_cut) for name in ledger.states)


def was_cut(events: Sequence[Event]) -> bool:
    """Whether something else than the agent ended the trial, before it first wanted to end."""
    ended = next((event.body for event in reversed(events) if event.kind is EventKind.TRIAL_ENDED), None)
    return (
        ended is not None
        and Termination(ended["termination"]) not in _BY_ITSELF
        and first_stop(events) is None
    )


def acts_after(events: Iterable[Event], seq: int) -> bool:
    """Whether the agent did anything behind an event: in a step of its own, or as seen in the files."""
    return any(event.seq > seq and _is_act(event) for event in events)


def _is_act(event: Event) -> bool:
    match event.kind:
        case EventKind.MODEL_CALLED:
            return event.body["step"] is not None
        case EventKind.WORKSPACE_CHANGED | EventKind.ASKED:
            return event.actor is Actor.AGENT
        case EventKind.CHECKPOINT:
            return event.body["of"] in {CheckpointKind.PLAN, CheckpointKind.COMMIT}
        case _:
            return False


def first_stop(events: Iterable[Event]) -> int | None:
    """The number of the event that holds the state in which the agent first wanted to end."""
    return next(
        (
            event.seq
            for event in events
            if event.kind is EventKind.CHECKPOINT and event.body["of"] == CheckpointKind.STOP
        ),
        None,
    )


def _names(events: Iterable[Event]) -> tuple[str, ...]:
    """All requirements: a checkpoint names them in the ledger's order, the end names all."""
    found: dict[str, None] = {}
    for event in events:
        match event.kind:
            case EventKind.CHECKPOINT:
                found.update(dict.fromkeys(event.body["requirements"]))
            case EventKind.REQUIREMENT_MOVED:
                found[event.body["requirement"]] = None
            case EventKind.TRIAL_ENDED:
                coverage = event.body.get("coverage") or {}
                found.update(dict.fromkeys((*coverage.get("told", ()), *coverage.get("held", ()))))
            case _:
                pass
    return tuple(found)


def code_states(events: Iterable[Event]) -> tuple[Event, ...]:
    """The checkpoints of code, in order: all but plans."""
    return tuple(
        event
        for event in events
        if event.kind is EventKind.CHECKPOINT and event.body["of"] != CheckpointKind.PLAN
    )


def _is_plan(event: Event) -> bool:
    return event.kind is EventKind.CHECKPOINT and event.body["of"] == CheckpointKind.PLAN


def _fate(
    name: str,
    ledger: LedgerState,
    code: Sequence[Mapping[str, bool | None]],
    seen: Sequence[Event],
    *,
    is_cut: bool,
) -> Fate:
    told = next((move for move in ledger.moves if move.requirement == name), None)
    met = _met(name, ledger, code)
    was_met = any(found.get(name) for found in code) or ledger.ever(name, RequirementState.SATISFIED)
    is_taken_up = told is not None and (
        ledger.ever(name, RequirementState.ACKNOWLEDGED)
        or any(
            each.seq > told.seq and _is_plan(each) and each.body["requirements"].get(name) for each in seen
        )
    )
    if was_met or is_taken_up:
        unmet = RequirementState.VIOLATED
    else:
        is_late = told is None or not acts_after(seen, told.seq)
        unmet = RequirementState.REVEALED if is_late else RequirementState.FORGOTTEN
    return Fate(
        requirement=name,
        told=told is not None,
        turn=told.turn if told else None,
        met=met,
        state=_settled(ledger.states[name], met, unmet),
        label=_label(told=told is not None, met=met, was_met=was_met, is_cut=is_cut),
    )


def _met(name: str, ledger: LedgerState, code: Sequence[Mapping[str, bool | None]]) -> bool | None:
    """By the checks of the last state; where no check can ever show it, by what a judge last said."""
    if any(found.get(name) is not None for found in code):
        return code[-1].get(name)
    return _JUDGED.get(ledger.states[name])


_JUDGED: Final[Mapping[RequirementState, bool]] = {
    RequirementState.SATISFIED: True,
    RequirementState.VIOLATED: False,
}


def _label(*, told: bool, met: bool | None, was_met: bool, is_cut: bool) -> FailureLabel | None:
    if met is not False:
        return None
    if not told:
        return None if is_cut else FailureLabel.MISSING
    return FailureLabel.REGRESSION if was_met else None


def _settled(state: RequirementState, met: bool | None, unmet: RequirementState) -> RequirementState:
    """The user is not asked after the end: what the checks of that state found is not in the ledger yet."""
    if state is RequirementState.HELD or met is None:
        return state
    return RequirementState.SATISFIED if met else unmet


def by_label(found: Iterable[Fate], label: FailureLabel) -> list[str]:
    """The requirements of that label, in order."""
    return [fate.requirement for fate in found if fate.label is label]


def with_labels(fates: Iterable[Fate], found: LabelledFailure) -> tuple[Fate, ...]:
    """The same, each with the first label that was found of it: also what is in the agent's words.

    Its state goes with that: what is called forgotten bears that label, and nothing else does.
    """
    labels = {each.requirement: each.label for each in reversed(found.found)}
    return tuple(_labelled(fate, labels.get(fate.requirement)) for fate in fates)


def _labelled(fate: Fate, label: FailureLabel | None) -> Fate:
    state = fate.state
    if label is FailureLabel.FORGOTTEN:
        state = RequirementState.FORGOTTEN
    elif label is not None and fate.told:
        state = RequirementState.VIOLATED
    elif state is RequirementState.FORGOTTEN:
        state = RequirementState.REVEALED
    return replace(fate, label=label, state=state)


def fate_json(fate: Fate) -> dict[str, Any]:
    """As the tidy table holds it."""
    return {
        "requirement": fate.requirement,
        "told": fate.told,
        "turn": fate.turn,
        "met": fate.met,
        "state": fate.state.value,
        "label": fate.label and fate.label.value,
    }
