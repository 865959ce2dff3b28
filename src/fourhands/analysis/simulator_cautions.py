"""What a reader must know of the users that were played."""

from __future__ import annotations

from collections.abc import Iterator

from fourhands.analysis.findings.simulators import simulator_pair_table, simulator_table
from fourhands.analysis.study import Study
from fourhands.analysis.words import listed

__all__ = ["simulator_cautions"]


def simulator_cautions(study: Study) -> Iterator[str]:
    """One of each row of the simulator card that is over a threshold."""
    runs = len({run.run for run in study.runs})
    for row in simulator_table(study):
        if row.over:
            where = f" of run {row.run}" if runs > 1 else ""
            yield f"The user {row.simulator} ({row.persona}){where} is marked: {listed(row.over)}."
    for pair in simulator_pair_table(study):
        if pair.over:
            who = pair.one if pair.kind == "again" else f"{pair.one} and {pair.other}"
            yield f"The user {who} ({pair.persona}), {pair.pairs} pairs of {pair.kind}: {listed(pair.over)}."
