"""What the tables of conversations share: whose user it is, and a note on hidden tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fourhands.report.table import Cell
from fourhands.report.views.build import Field, OfAgent, field
from fourhands.report.views.conversations.notes import INFORMED

__all__ = ["Talked", "informed", "simulator_field"]


class Talked(OfAgent, Protocol):
    """A row of one simulator, or of several together."""

    @property
    def simulator(self) -> str:
        """Its name, or that they are pooled."""

    @property
    def verifier_informed(self) -> int:
        """Trials with a score by hidden tests."""


def simulator_field[Row: Talked](_: type[Row]) -> Field[Row]:
    """Who plays the user."""
    return field(
        "simulator",
        "user",
        lambda row: Cell(
            f"{row.simulator} (verifier-informed)" if row.verifier_informed else row.simulator,
            row.simulator,
            (row.verifier_informed,),
        ),
        "the model that plays the user, `grounded`, or `pooled`: all; and trials with a score by hidden tests",
        more=("verifier_informed",),
        numeric=False,
    )


def informed(rows: Sequence[Talked]) -> list[str]:
    """The note on hidden tests, where some row is of scores by them."""
    return [INFORMED] if any(row.verifier_informed for row in rows) else []
