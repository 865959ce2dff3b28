"""How far the goals are reached over the course of a conversation: states in their order -> steps on a fixed grid.

After the SWE-Interact paper's figure 4a, whose own computation is not public; ``docs/discovery.md`` has the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["GRID", "CodeState", "held", "revisions", "score_at_base", "step_hold"]

_STEPS: Final = 10
GRID: Final = tuple(step / _STEPS for step in range(_STEPS + 1))
"""Normalised progress, from the first state to the last."""


@dataclass(frozen=True, slots=True)
class CodeState:
    """One state of the code. ``score`` is from 0 to 100; ``None``: nobody could tell, or nobody was asked.

    ``is_new`` says whether the code differs from that of the state before in more than tests.
    """

    is_new: bool
    score: float | None


def revisions(states: Iterable[CodeState]) -> tuple[float | None, ...]:
    """The score of each revision of the code, from the agent's first; empty without states.

    States of one and the same code are one revision, and the last known score of them is its own. What stood before
    the agent changed anything is none, unless it never did: then that is the one there is.
    """
    found: list[float | None] = []
    has_begun = False
    for state in states:
        if state.is_new and has_begun:
            found.append(state.score)
        elif state.is_new or not found:
            found, has_begun = [state.score], state.is_new
        elif state.score is not None:
            found[-1] = state.score
    return tuple(found)


def score_at_base(states: Iterable[CodeState]) -> float | None:
    """What the code was worth before the agent changed any; ``None`` where no state tells."""
    for state in states:
        if state.is_new:
            return None
        if state.score is not None:
            return state.score
    return None


def held(states: int) -> tuple[int, ...]:
    """At each point of the `GRID`, which of so many states stands: the last that is not later.

    The first state is at 0, the last at 1, those between at equal distances; a single one stands all the time.
    """
    return tuple(step * (states - 1) // _STEPS for step in range(_STEPS + 1))


def step_hold(scores: Sequence[float | None]) -> tuple[float | None, ...]:
    """The score at each point of the `GRID`: of the state that stands there, or else the last known before.

    ``None`` up to the first that is known, and everywhere without states.
    """
    known: list[float | None] = []
    for score in scores:
        known.append(known[-1] if score is None and known else score)
    return tuple(known[index] for index in held(len(known))) if known else (None,) * len(GRID)
