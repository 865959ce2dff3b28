"""How many requirements of a conversation were in which state, message by message of the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from fourhands.analysis.ledger_labels import Fate
from fourhands.model.event import Event
from fourhands.model.ledger_state import LedgerState, RequirementState

__all__ = ["state_counts"]


def state_counts(
    events: Iterable[Event], fates: Sequence[Fate], *, messages: int
) -> tuple[dict[str, int], ...]:
    """Of each state how many requirements are in it, in ``messages`` + 2 entries.

    Entry ``n`` is once the user has said ``n`` messages, with what was seen and told up to then; the last is the
    final state, settled by its checks. Empty where no requirement is known.

    Args:
        events: of the attempt.
        fates: of the requirements in the final state, once it is known why what is not met is not met.
        messages: that the talking user said.
    """
    if not fates:
        return ()
    ledger = LedgerState.of(fate.requirement for fate in fates)
    for event in events:
        ledger.observe(event)
    states = dict.fromkeys(ledger.states, RequirementState.HELD)
    moves = iter(ledger.moves)
    move = next(moves, None)
    found = []
    for said in range(messages + 1):
        # What belongs to the exchange that a message ended bears the number of messages before it.
        while move and move.turn < said:
            states[move.requirement] = move.after
            move = next(moves, None)
        found.append(_counts(states.values()))
    return (*found, _counts(fate.state for fate in fates))


def _counts(states: Iterable[RequirementState]) -> dict[str, int]:
    found = Counter(states)
    return {state.value: found[state] for state in RequirementState}
