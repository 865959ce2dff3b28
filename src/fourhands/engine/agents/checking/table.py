"""What was checked, as a table for people who choose an agent. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fourhands.engine.agents.checking.check import Checked
from fourhands.engine.agents.registry import AGENTS

__all__ = ["markdown_table"]

_COLUMNS: Final = {
    "MB": "installed",
    "wire": "wire",
    "touched by": "touched",
    "spoken to": "spoken to",
    "sub-agent": "sub-agent",
    "asks by": "asks",
    "tokens": "counted",
    "when a file has changed since it was read": "changed file",
}
"""Column -> finding."""


def markdown_table(checked: Iterable[Checked]) -> str:
    """One row an agent, in the order given; a cell of what failed says so."""
    rows = [["agent", *_COLUMNS], ["---"] * (len(_COLUMNS) + 1)]
    for each in checked:
        cells = {finding.what: finding.cell if finding.ok else "**failed**" for finding in each.findings}
        name = f"{each.agent} {AGENTS[each.agent].version}"
        rows.append([name, *(cells.get(what, "") for what in _COLUMNS.values())])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
