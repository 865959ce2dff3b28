"""``fourhands results``: what runs have shown, in words and in tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourhands.model.errors import InputError
from fourhands.report.formats import Format

if TYPE_CHECKING:
    from fourhands.analysis.study import Study
    from fourhands.report.export import Exporter

__all__ = ["results"]


def results(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs, or of plain Harbor jobs: they are combined.")
    ],
    form: Annotated[Format, typer.Option("--format", help="How it is told.")] = Format.TERMINAL,
    table: Annotated[
        str | None,
        typer.Option(
            help="One table only: main, conditions, delivery, after, causal, …, or a tidy one: trials, interventions,"
            " lines, events."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write files into this folder in place of printing.")
    ] = None,
    prices: Annotated[
        str | None,
        typer.Option(help="Price table: current, paper, or a file; default: each run's own."),
    ] = None,
) -> None:
    """Show the results of runs; needs no model and no sandbox.

    Example: fourhands results runs/a

    Example: fourhands results runs/a runs/b --table main --format latex

    Example: fourhands results runs/a --format parquet --out tables
    """
    from fourhands.cli.console import errors, output
    from fourhands.cli.destinations import see_that_folder_can_be
    from fourhands.report.export import Exporter, see_that_there_is
    from fourhands.report.loading import load_events, load_study
    from fourhands.report.prices import price_table
    from fourhands.report.rendering.terminal import terminal
    from fourhands.report.text import visible

    if table is not None:
        see_that_there_is(table)
    _see_that_it_has_a_place(form, table, out)
    if out is not None:
        see_that_folder_can_be(out, "--out")
    study = load_study(runs, None if prices is None else price_table(prices))
    exporter = Exporter(study, lambda: load_events(runs))
    if out is not None:
        for path in exporter.write(out, form, table):
            errors().print(visible(str(path)), markup=False, soft_wrap=True)
    elif table is None:
        _tell_all(study, runs, exporter, form)
    elif form is Format.TERMINAL:
        output().print(terminal(exporter.view(table)))
    else:
        output().file.write(exporter.text(table, form))


def _see_that_it_has_a_place(form: Format, table: str | None, out: Path | None) -> None:
    """See that what is asked for can be printed, or written.

    Raises:
        InputError: it cannot.
    """
    if form is Format.TERMINAL and out is not None:
        raise InputError("--out: what a terminal shows is no file: choose another --format")
    if form is Format.PARQUET and out is None:
        raise InputError("--format parquet: say with --out into which folder")
    if form is Format.CSV and out is None and table is None:
        raise InputError(
            "--format csv: say which with --table, or with --out into which folder all of them go"
        )


def _tell_all(study: Study, runs: Sequence[Path], exporter: Exporter, form: Format) -> None:
    """Print all that is told where no table is named."""
    from fourhands.cli.console import output
    from fourhands.cli.telling import document_text, tell
    from fourhands.report.rendering.summary import summary_markdown
    from fourhands.report.summary import summary

    match form:
        case Format.TERMINAL:
            tell(summary(study), study, runs)
        case Format.MARKDOWN:
            title = f"Run {', '.join(path.resolve().name for path in runs)}"
            output().file.write(summary_markdown(summary(study), title))
        case Format.JSON:
            output().file.write(document_text(study))
        case _:
            output().file.write("\n".join(exporter.texts(form)))
