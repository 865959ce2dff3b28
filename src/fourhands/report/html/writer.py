"""A study -> ``report.html``, whole or not at all, and a folder of stories beside it where they are many.

FILE.html                 the page: the old one, or the new one
FILE_stories/NAME.js      the stories, some in each file; only if the page would be too large with them

A page that waits for its stories is written last. Of very many stories the page comes first; those that an
interrupt has left untold are told by the next report.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

from fourhands.analysis.cautions import cautions
from fourhands.analysis.headline import headline
from fourhands.analysis.study import Study
from fourhands.model.errors import InputError
from fourhands.report.figures import Figure, figures
from fourhands.report.html.exhibits import exhibits
from fourhands.report.html.facts import run_facts
from fourhands.report.html.page import Page, page_text
from fourhands.report.html.shelves import PER_SHELF, Shelf, find_shelves, packed_text, write_shelves
from fourhands.report.html.trial_data import StoryPlaces, trial_data
from fourhands.report.table import TableView
from fourhands.report.views import VIEWS
from fourhands.trajectories.run_folder import write_atomically

__all__ = ["MOST_INLINE", "MOST_WAITED_FOR", "StoriesAlone", "write_html_report"]

MOST_INLINE: Final = 25_000_000
"""Bytes of stories, compressed, that stand in the page itself."""
MOST_WAITED_FOR: Final = 500
"""Stories that a page waits for; of more, they are put beside it while it can be read already."""
_SHELF: Final = re.compile(r"[0-9a-f]{20}")
_TRIALS_VIEW: Final = "trials"
"""The page lists trials by itself: filtered, and with their stories."""


@dataclass(frozen=True, slots=True)
class StoriesAlone:
    """What a page is that shows some trials of a study, of which no headline and no table would be true.

    ``title`` says so, ``whole`` is the study that they are of, which is told as what was run, and ``start`` the part
    of the address behind ``#`` at which the page opens by itself.
    """

    title: str
    whole: Study
    start: str


def write_html_report(
    study: Study,
    out: Path,
    *,
    drawn: Sequence[Figure] | None = None,
    stories_alone: StoriesAlone | None = None,
    sessions: Sequence[Mapping[str, Any]] = (),
    most_inline: int = MOST_INLINE,
    most_waited_for: int = MOST_WAITED_FOR,
    done: Callable[[int, int], None] = lambda _done, _total: None,
    page_is_there: Callable[[], None] = lambda: None,
) -> None:
    """Write the page, and the folder of stories beside it where they are many or large.

    Args:
        study: what to report.
        out: the file; what was there before is replaced, also its stories.
        drawn: the figures of the study, where they are drawn already.
        stories_alone: the page is of some trials only, and says nothing of results.
        sessions: real ones, as `session_data` makes them, that may stand beside trials' talks.
        most_inline: bytes of stories that may stand in the page itself.
        most_waited_for: of more stories than so many, the page is there before they are told.
        done: is told how many stories of how many are told, now and then.
        page_is_there: is called once the page can be opened.

    Raises:
        InputError: the file cannot be written there.
    """
    recorded = _recorded(study)
    shelves = find_shelves([attempt for _, attempt in recorded])
    place = out.with_name(f"{out.stem}_stories")
    rows = tuple(row for row, _ in recorded)
    names = tuple(shelf.name for shelf in shelves)
    texts: list[tuple[str, str]] = []
    inline = False

    def write_page() -> None:
        places = StoryPlaces(rows, names, folder=None if inline else place.name)
        data = trial_data(study, places, sessions)
        if stories_alone is None:
            page = Page(
                title=_title(study),
                headline=headline(study),
                cautions=cautions(study),
                runs=run_facts(study),
                skipped=study.skipped,
                views=_views(study),
                figures=tuple(figures(study) if drawn is None else drawn),
                data=data,
                shelves=texts,
                exhibits=exhibits(study, len(sessions)),
            )
        else:
            page = Page(
                title=stories_alone.title,
                runs=run_facts(stories_alone.whole),
                skipped=study.skipped,
                data=data | {"start": stories_alone.start},
                shelves=texts,
            )
        write_atomically(out, page_text(page).encode())
        page_is_there()

    def told(count: int) -> None:
        done(count, len(recorded))

    with _scratch(place) as scratch:
        if len(recorded) > most_waited_for:
            write_page()
            place.mkdir(exist_ok=True)
            _told(shelves, place, place, told)
        else:
            paths = _told(shelves, place, scratch, told)
            inline = sum(path.stat().st_size for path in paths.values()) <= most_inline
            if inline:
                texts += [(name, packed_text(path)) for name, path in paths.items()]
            else:
                _settle(paths, place)
            write_page()
    _clear(place, keep=frozenset() if inline else frozenset(names))


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
