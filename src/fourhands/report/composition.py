"""Why an agent's trials failed, in the few columns and rows that a summary has room for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from fourhands.analysis.findings.failures import ALL, UNDECIDED
from fourhands.model.audit import AuditName
from fourhands.report.table import Cell, TableView

__all__ = ["compositions"]

_TITLES: Final = {
    AuditName.SWE_INTERACT: "why conversations failed, by what shows it",
    AuditName.SWE_TOUCH: "why trials failed under the user's hands, of tasks lost to them",
}
_PLAIN: Final = {
    "label": "label",
    "trials": "trials",
    "by_execution": "exec.",
    "by_events": "events",
    "share": "of labels",
}
_HEARD: Final = {
    "judge": "as read by",
    "label": "label",
    "trials": "trials",
    "by_execution": "exec.",
    "by_events": "events",
    "by_judge": "judge",
    "share": "of labels",
}


def compositions(view: TableView, agent: tuple[Any, Any]) -> Iterator[TableView]:
    """Of the table ``failures`` what an agent with its model has, over its conditions: one table for each scheme.

    Of conversations of several kinds one for each kind.

    Labels that no trial has are left out, and a scheme of which nothing is known. Where judges were heard, with
    each of them.
    """
    at = {column.name: place for place, column in enumerate(view.columns)}
    own = [cells for cells in view.rows if (cells[at["agent"]].value, cells[at["model"]].value) == agent]
    for scheme, title in _TITLES.items():
        known = [cells for cells in own if cells[at["scheme"]].value == scheme]
        conditions = [*dict.fromkeys(str(cells[at["condition"]].value) for cells in known)]
        # The rows of an agent over its conditions, or over those of a kind, come before those of each.
        kinds = [each for each in conditions if each.startswith(f"{ALL}[")]
        for over in kinds or conditions[:1]:
            rows = [cells for cells in known if cells[at["condition"]].value == over]
            rows = [cells for cells in rows if cells[at["trials"]].value]
            heard = [cells for cells in rows if cells[at["judge"]].value]
            if any(cells[at["label"]].value != UNDECIDED for cells in rows):
                words = f"{title}: {over}" if kinds else title
                yield _shown(view, heard or rows, _HEARD if heard else _PLAIN, words)


def _shown(view: TableView, rows: list[tuple[Cell, ...]], titles: dict[str, str], title: str) -> TableView:
    at = {column.name: place for place, column in enumerate(view.columns)}
    return TableView(
        name=view.name,
        title=title,
        columns=tuple(replace(view.columns[at[name]], title=short) for name, short in titles.items()),
        rows=tuple(tuple(cells[at[name]] for name in titles) for cells in rows),
        group=int("judge" in titles),
    )
