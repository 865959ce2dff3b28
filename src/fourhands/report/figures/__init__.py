"""Every figure: a `Study` -> one SVG, or None where the study has nothing of it. One style, one file a figure.

A new figure is a file and a line in `FIGURES`. Importing this is cheap; matplotlib is imported when one is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from fourhands.analysis.study import Study
from fourhands.report.figures import (
    after_edit,
    at_will,
    churn,
    cost_performance,
    discovery,
    edit_frequency,
    failures,
    forest,
    goals_verifier,
    requirement_states,
    response_mode,
    revision,
    single_multi,
    survival,
    transitions,
    user_activity,
)
from fourhands.report.figures.figure import Figure

__all__ = ["FIGURES", "Figure", "figures"]

FIGURES: Final[Mapping[str, Callable[[Study], Figure | None]]] = MappingProxyType(
    {
        "forest": forest.of_study,
        "transitions": transitions.of_study,
        "cost-performance": cost_performance.of_study,
        "edit-frequency": edit_frequency.of_study,
        "response-mode": response_mode.of_study,
        "after-edit": after_edit.of_study,
        "survival": survival.of_study,
        "revision": revision.of_study,
        "single-multi": single_multi.of_study,
        "at-will": at_will.of_study,
        "user-activity": user_activity.of_study,
        "churn": churn.of_study,
        "failures": failures.of_study,
        "discovery": discovery.of_study,
        "goals-verifier": goals_verifier.of_study,
        "requirement-states": requirement_states.of_study,
    }
)
"""By name, in the order in which a reader wants them."""


def figures(study: Study) -> tuple[Figure, ...]:
    """All that the study has something for, in that order."""
    return tuple(figure for draw in FIGURES.values() if (figure := draw(study)))
