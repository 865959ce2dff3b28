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
    cost_performance,
    edit_frequency,
    forest,
    response_mode,
    revision,
    survival,
    transitions,
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
    }
)
"""By name, in the order in which a reader wants them."""


def figures(study: Study) -> tuple[Figure, ...]:
    """All that the study has something for, in that order."""
    return tuple(figure for draw in FIGURES.values() if (figure := draw(study)))
