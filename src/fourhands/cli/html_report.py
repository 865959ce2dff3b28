"""``fourhands report``: everything on one page that opens from disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from fourhands.report.figures import Figure

__all__ = ["report"]


def report(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN…", help="Folders of runs, or of plain Harbor jobs.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The file to write; default: report.html in the folder of the run.")
    ] = None,
    prices: Annotated[
        str | None,
        typer.Option(help="Price table: current, paper, or a file; default: each run's own."),
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write each figure here as well, as NAME.svg.")
    ] = None,
    session: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Log of a real session (Claude Code, Codex, OpenCode, …), to stand beside the trials' talks; "
            "may be given several times.",
        ),
    ] = None,
) -> None:
    """Write one HTML page: what was run, tables, figures, and the story of every trial.

    Example: fourhands report runs/a

    Example: fourhands report runs/a --session ~/.claude/projects/shop/1c2e.jsonl
    """
    from fourhands.cli.console import output
    from fourhands.cli.destinations import see_that_file_can_be, see_that_folder_can_be
    from fourhands.model.errors import InputError
    from fourhands.report.figures import figures as draw
    from fourhands.report.html.sessions import session_data
    from fourhands.report.html.writer import write_html_report
    from fourhands.report.loading import load_study
    from fourhands.report.prices import price_table

    if out is None and len(runs) > 1:
        raise InputError("a report of several runs: say where it goes with --out FILE.html")
    target = runs[0] / "report.html" if out is None else out
    if out is not None or runs[0].is_dir():  # else it is the run that is wrong, and reading it says how
        see_that_file_can_be(target, "--out")
    if figures is not None:
        see_that_folder_can_be(figures, "--figures")
    sessions = session_data(session or [])
    with _progress() as told:
        study = load_study(
            runs, None if prices is None else price_table(prices), done=told("reading the records")
        )
        drawn = draw(study)
        write_html_report(
            study,
            target,
            drawn=drawn,
            sessions=sessions,
            done=told("telling the stories"),
            page_is_there=lambda: output().print(str(target), markup=False, soft_wrap=True),
        )
    if figures is not None:
        _write_figures(figures, drawn)


def _write_figures(folder: Path, drawn: Sequence[Figure]) -> None:
    from fourhands.trajectories.run_folder import write_atomically

    for figure in drawn:
        write_atomically(folder / f"{figure.name}.svg", figure.svg.encode())


@contextmanager
def _progress() -> Iterator[Callable[[str], Callable[[int, int], None]]]:
    """Shows on a terminal, while it lasts, how far each of several parts is."""
    from fourhands.cli.console import errors

    with errors().status("…") as status:

        def told(what: str) -> Callable[[int, int], None]:
            status.update(what)
            return lambda done, total: status.update(f"{what}: {done:,} of {total:,}")

        yield told
