"""A study -> ``report.html``, whole or not at all, and a folder of stories beside it where they are many.

FILE.html                 the page; written last, so that an interrupted report leaves the old one
FILE_stories/NAME.js      the stories, some in each file; only if the page would be too large with them
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import Final

from fourhands.analysis.cautions import cautions
from fourhands.analysis.headline import headline
from fourhands.analysis.study import Study
from fourhands.model.errors import InputError
from fourhands.report.figures import Figure, figures
from fourhands.report.html.facts import run_facts
from fourhands.report.html.page import Page, page_text
from fourhands.report.html.shelves import PER_SHELF, Shelf, find_shelves, packed_text, write_shelves
from fourhands.report.html.trial_data import StoryPlaces, trial_data
from fourhands.report.table import TableView
from fourhands.report.views import VIEWS
from fourhands.trajectories.run_folder import write_atomically

__all__ = ["MOST_INLINE", "write_html_report"]

MOST_INLINE: Final = 25_000_000
"""Bytes of stories, compressed, that stand in the page itself."""
_SHELF: Final = re.compile(r"[0-9a-f]{20}")
_TRIALS_VIEW: Final = "trials"
"""The page lists trials by itself: filtered, and with their stories."""


def write_html_report(
    study: Study,
    out: Path,
    *,
    drawn: Sequence[Figure] | None = None,
    most_inline: int = MOST_INLINE,
    done: Callable[[int, int], None] = lambda _done, _total: None,
) -> None:
    """Write the page, and the folder of stories beside it where they are more than ``most_inline`` bytes.

    Args:
        study: what to report.
        out: the file; what was there before is replaced, also its stories.
        drawn: the figures of the study, where they are drawn already.
        most_inline: bytes.
        done: is told how many stories of how many are told, now and then.

    Raises:
        InputError: the file cannot be written there.
    """
    recorded = _recorded(study)
    shelves = find_shelves([attempt for _, attempt in recorded])
    place = out.with_name(f"{out.stem}_stories")
    with _scratch(place) as scratch:
        paths = _told(shelves, place, scratch, lambda count: done(min(count, len(recorded)), len(recorded)))
        inline = sum(path.stat().st_size for path in paths.values()) <= most_inline
        texts = [(name, packed_text(path)) for name, path in paths.items()] if inline else []
        if not inline:
            _settle(paths, place)
    stories = StoryPlaces(
        rows=tuple(row for row, _ in recorded),
        shelves=tuple(shelf.name for shelf in shelves),
        folder=None if inline else place.name,
    )
    page = Page(
        title=_title(study),
        headline=headline(study),
        cautions=cautions(study),
        runs=run_facts(study),
        skipped=study.skipped,
        views=_views(study),
        figures=tuple(figures(study) if drawn is None else drawn),
        data=trial_data(study, stories),
        shelves=texts,
    )
    write_atomically(out, page_text(page).encode())
    _clear(place, keep=frozenset() if inline else frozenset(paths))


def _views(study: Study) -> tuple[TableView, ...]:
    found = (make(study) for name, make in VIEWS.items() if name != _TRIALS_VIEW)
    return tuple(view for view in found if view is not None and view.rows)


def _title(study: Study) -> str:
    names = [PurePath(run.path).name for run in study.runs]
    return f"Report of {', '.join(names)}" if names else "Report"


def _recorded(study: Study) -> list[tuple[int, Path]]:
    """The rows of trials of which an attempt has ended, and its folder."""
    folders = {run.run: Path(run.path) / "trials" for run in study.runs if run.kind == "run"}
    trials = study.tables.trials.select("run", "trial", "attempt").iter_rows()
    return [
        (row, folders[run] / trial / f"attempt-{attempt}")
        for row, (run, trial, attempt) in enumerate(trials)
        if run in folders and attempt
    ]


def _told(
    shelves: Sequence[Shelf], place: Path, scratch: Path, done: Callable[[int], None]
) -> dict[str, Path]:
    """Where each shelf is: beside the report from an earlier one, or just written into ``scratch``."""
    missing = {shelf.name: shelf for shelf in shelves if not shelf.path(place).exists()}
    have = len(shelves) - len(missing)
    write_shelves(list(missing.values()), scratch, lambda count: done(have * PER_SHELF + count))
    return {shelf.name: shelf.path(scratch if shelf.name in missing else place) for shelf in shelves}


@contextmanager
def _scratch(place: Path) -> Iterator[Path]:
    """An empty folder beside ``place``, removed in the end; those of processes that were killed are, too.

    Raises:
        InputError: it cannot be made there.
    """
    for left in place.parent.glob(f".{place.name}.*"):
        if not _runs(left.suffix[1:]):
            shutil.rmtree(left, ignore_errors=True)
    scratch = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        scratch.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{place.parent}: no report can be written there: {error.strerror}") from None
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _runs(process: str) -> bool:
    return process.isdigit() and Path(f"/proc/{process}").exists()


def _settle(paths: Mapping[str, Path], place: Path) -> None:
    """Move what was just written to where the page will look for it."""
    place.mkdir(exist_ok=True)
    for path in paths.values():
        if path.parent != place:
            path.replace(place / path.name)


def _clear(place: Path, *, keep: Collection[str]) -> None:
    """Remove the stories of earlier reports, and nothing else that may lie there."""
    if place.is_dir():
        for each in place.glob("*.js"):
            if each.stem not in keep and _SHELF.fullmatch(each.stem):
                each.unlink()
        with suppress(OSError):  # it is not empty
            place.rmdir()
