"""What of a table is shown to people, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fourhands.report.table import TableView

__all__ = ["brief", "group_starts", "shown_rows"]


def brief(view: TableView) -> TableView:
    """Without its details, and with a note that says where they are."""
    places = [place for place, column in enumerate(view.columns) if not column.is_detail]
    if len(places) == len(view.columns):
        return view
    return replace(
        view,
        columns=tuple(view.columns[place] for place in places),
        rows=tuple(tuple(cells[place] for place in places) for cells in view.rows),
        notes=(*view.notes, "Further columns: in the formats csv and json, and in the report."),
    )


def shown_rows(view: TableView) -> Iterator[list[str]]:
    """The texts of each row; those of the leading ``group`` columns only where they are not as in the row above."""
    above: tuple[str, ...] = ()
    for cells in view.rows:
        key = tuple(cell.text for cell in cells[: view.group])
        same = 0
        while same < len(above) and above[same] == key[same]:
            same += 1
        yield [""] * same + [cell.text for cell in cells[same:]]
        above = key


def group_starts(view: TableView) -> set[int]:
    """Numbers of the rows, from 0, at which another group begins; the first row is none."""
    keys = [[cell.text for cell in cells[: view.group]] for cells in view.rows]
    return {i for i in range(1, len(keys)) if keys[i] != keys[i - 1]}
