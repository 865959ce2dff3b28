"""Of rows by simulator, those that a figure shows: one a kind of conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from fourhands.analysis.findings.conversations.groups import POOLED
from fourhands.model.condition import Condition

__all__ = ["whole"]


class _Row(Protocol):
    @property
    def agent(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def condition(self) -> str: ...

    @property
    def simulator(self) -> str: ...


def whole[R: _Row](rows: Sequence[R]) -> list[R]:
    """The rows of all simulators together where there are several, and else those of the one there is."""
    pooled = {(row.agent, row.model, row.condition) for row in rows if row.simulator == POOLED}
    return [
        row
        for row in rows
        if row.simulator == POOLED or (row.agent, row.model, _kind(row.condition)) not in pooled
    ]


def _kind(condition: str) -> str:
    return replace(Condition.parse(condition), simulator="*").label
