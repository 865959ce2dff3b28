"""T10 and F6: which tasks change sides between vanilla and a condition, by majority vote."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from fourhands.analysis.findings.arms import agents_of
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import is_majority, mcnemar
from fourhands.analysis.study import Study

__all__ = ["TransitionRow", "transition_table"]


@dataclass(frozen=True, slots=True)
class TransitionRow:
    """One agent and model, vanilla × one condition, in tasks that are scored under both: ``tasks`` of them.

    Solved is: more than half of a task's scored repeats; ``ties`` are tasks with a tie on a side, which is unsolved
    there. ``p`` is McNemar's, exact, of the tasks that change sides. ``few_repeats``: a majority is of fewer than
    three scored repeats.
    """

    agent: str
    model: str
    condition: str
    tasks: int
    solved_kept: int
    solved_to_unresolved: int
    unresolved_to_solved: int
    unresolved_kept: int
    ties: int
    incomplete_pairs: int
    p: float
    few_repeats: bool


@kept
def transition_table(study: Study) -> tuple[TransitionRow, ...]:
    """One row per agent, model and condition that has a pair with vanilla."""
    rows = []
    for agent in agents_of(study):
        for arm in agent.others:
            pairing = agent.pairings.get(arm.condition)
            if pairing is None or not pairing.tasks:
                continue
            sides = list(zip(pairing.before, pairing.after, strict=True))
            found = Counter((is_majority(before), is_majority(after)) for before, after in sides)
            rows.append(
                TransitionRow(
                    agent=arm.agent,
                    model=arm.model,
                    condition=arm.condition,
                    tasks=len(sides),
                    solved_kept=found[True, True],
                    solved_to_unresolved=found[True, False],
                    unresolved_to_solved=found[False, True],
                    unresolved_kept=found[False, False],
                    ties=sum(any(2 * sum(side) == len(side) for side in both) for both in sides),
                    incomplete_pairs=len(pairing.incomplete),
                    p=mcnemar(found[True, False], found[False, True]),
                    few_repeats=pairing.has_few_repeats,
                )
            )
    return tuple(rows)
