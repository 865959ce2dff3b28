"""How long the user's lines stand, in steps of the agent since each was written."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.findings.survival import Curve, survival_table
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.numbers import UNKNOWN, count, percent, word

__all__ = ["FIELDS", "survival"]

_STEPS: Final = (1, 2, 5, 10, 20, 50)


def _share(step: int) -> Field[Curve]:
    def share(curve: Curve) -> Cell:
        last = curve.points[-1] if curve.points else None
        # Beyond what was watched nothing is known, unless all of them have ended.
        is_known = last is not None and (last.step >= step or last.share == 0)
        return percent(curve.share_at(step)) if is_known else Cell(UNKNOWN)

    return field(
        f"share_after_{step}",
        f"after {step}",
        share,
        f"of the lines, by Kaplan and Meier's estimate: still so {step} steps after they were written",
    )


FIELDS: Final[tuple[Field[Curve], ...]] = (
    *agent_fields(Curve),
    field(
        "ending",
        "until",
        lambda curve: word(curve.ending),
        "revised: the agent first changed or removed the line; gone: it went, and is absent at the end",
        numeric=False,
    ),
    field("trials", "trials", lambda curve: count(curve.trials), "that the lines are of"),
    field("lines", "lines", lambda curve: count(curve.lines), "that the user wrote, and that were watched"),
    field("ended", "ended", lambda curve: count(curve.ended), "of them, within what was watched"),
    field(
        "unknown", "unknown", lambda curve: count(curve.unknown), "lines left out: their steps are not known"
    ),
    *map(_share, _STEPS),
)


def survival(study: Study) -> TableView | None:
    """Each agent, model and condition with lines of the user: until revised, and until gone."""
    said = ["Lines of a trial share their fate: they are fewer observations than they look."]
    curves = survival_table(study)
    return table("survival", "How long the user's lines stand", curves, FIELDS, notes=said, group=3)
