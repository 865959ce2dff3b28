"""Tables of a study in a format: to be printed, or as files in a folder."""

from __future__ import annotations

import difflib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

import orjson
import polars as pl

from fourhands.analysis.schema import TABLES, TABLES_SCHEMA
from fourhands.analysis.study import Study
from fourhands.model.errors import InputError
from fourhands.report.formats import ENDINGS, FOR_MACHINES, Format
from fourhands.report.rendering import TEXTS
from fourhands.report.rendering.frames import view_frame
from fourhands.report.table import TableView
from fourhands.report.views import NEEDS, VIEWS
from fourhands.trajectories.run_folder import write_atomically

__all__ = ["Exporter", "see_that_there_is"]


_FOLDER: Final = "tables"


def see_that_there_is(name: str) -> None:
    """See that there is such a table.

    Raises:
        InputError: there is none; names those that are most like it, or all.
    """
    names = list(dict.fromkeys([*VIEWS, *TABLES]))
    if name not in names:
        near = difflib.get_close_matches(name, names)
        remedy = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(names)}"
        raise InputError(f"--table: no table {name!r}: {remedy}")


@dataclass(frozen=True)
class Exporter:
    """The tables of a study; ``load_events`` reads the largest of them, where it is asked for."""

    study: Study
    load_events: Callable[[], pl.DataFrame]

    def text(self, name: str, form: Format) -> str:
        """One table as text.

        Raises:
            InputError: there is no such table, or these runs have nothing to show in it, or it is for programs.
        """
        if form is Format.CSV:
            return _flat(self._frame(name)).write_csv()
        if form is Format.JSON and name in TABLES:
            return orjson.dumps(self._tidy(name).rows(named=True), option=orjson.OPT_INDENT_2).decode() + "\n"
        return TEXTS[form](self.view(name))

    def view(self, name: str) -> TableView:
        """One table for people. Raises as `text`."""
        see_that_there_is(name)
        if name not in VIEWS:
            wide = f"{name!r} has {len(TABLES[name])} columns, for programs"
            raise InputError(f"--table: {wide}: choose --format csv, json or parquet")
        view = VIEWS[name](self.study)
        if view is None:
            needs = f": it needs {NEEDS[name]}" if name in NEEDS else ""
            raise InputError(f"--table: these runs have nothing to show in the table {name!r}{needs}")
        return view

    def texts(self, form: Format) -> Iterator[str]:
        """Each derived table that has anything to show, but for that of all trials."""
        for name in _derived(self.study):
            yield self.text(name, form)

    def write(self, folder: Path, form: Format, name: str | None = None) -> list[Path]:
        """Write one table, or all: the tidy ones for machines, the derived ones in a folder ``tables`` of their own.

        Each file is written whole or not at all. Raises as `text`.
        """
        if name is not None:
            see_that_there_is(name)
            return [self._write_one(folder, name, form)]
        (folder / _FOLDER).mkdir(parents=True, exist_ok=True)
        tidies = list(TABLES) if form in FOR_MACHINES else []
        written = [self._write_one(folder, each, form) for each in tidies]
        return written + [self._write_one(folder / _FOLDER, each, form) for each in _derived(self.study)]

    def _write_one(self, folder: Path, name: str, form: Format) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.{ENDINGS[form]}"
        if form is Format.PARQUET:
            out = io.BytesIO()
            self._frame(name).write_parquet(out, metadata={"fourhands.tables_schema": str(TABLES_SCHEMA)})
            write_atomically(path, out.getvalue())
        else:
            write_atomically(path, self.text(name, form).encode())
        return path

    def _frame(self, name: str) -> pl.DataFrame:
        return self._tidy(name) if name in TABLES else view_frame(self.view(name))

    def _tidy(self, name: str) -> pl.DataFrame:
        if name == "events":
            return self._events
        tables = self.study.tables
        return {"trials": tables.trials, "interventions": tables.interventions, "lines": tables.lines}[name]

    @cached_property
    def _events(self) -> pl.DataFrame:
        return self.load_events()


def _derived(study: Study) -> Iterator[str]:
    return (name for name, make in VIEWS.items() if name not in TABLES and make(study) is not None)


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Lists as JSON, for CSV has none."""
    lists = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.List)]
    told = [
        pl.Series(
            name, [None if v is None else orjson.dumps(v).decode() for v in frame[name].to_list()], pl.String
        )
        for name in lists
    ]
    return frame.with_columns(told)
