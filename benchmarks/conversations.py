"""Every table of 200 conversations of 30 turns, half of them failed, beside reading the same records alone.

Reading is what the product's own reader takes to parse and check each event; everything beyond it is analysis: what
became of each requirement and why it failed, churn, scores, and the tables with their intervals. In one process, so
that processors do not count; the product uses all.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Final

from fourhands.analysis.digest import digest
from fourhands.analysis.study import Study
from fourhands.analysis.tidy import Row, Tables
from fourhands.report.figures import FIGURES
from fourhands.report.sources import find_sources
from fourhands.report.views import VIEWS
from fourhands.trajectories.run_folder import attempts_in, last_ended
from measure import Figure, Outcome
from synthetic_talk import REQUIREMENTS, write_talks

__all__ = ["measure"]

_CONVERSATIONS: Final = 200
_TURNS: Final = 30
_PEER: Final = "reading the records"
_OF_TALK: Final = frozenset(
    {
        "conversations", "talk", "labels", "single-multi", "personas", "four-hands", "discovery", "goals-verifier",
        "requirement-states", "failures", "simulators", "simulator-pairs", "judged", "agreement",
    }
)  # fmt: skip
_DRAWN: Final = ("discovery", "goals-verifier", "requirement-states")


def measure() -> Outcome:
    """Writes the run into a temporary folder: about 100 MB."""
    with tempfile.TemporaryDirectory(prefix="conversations-") as folder:
        run = Path(folder, "run")
        events = write_talks(run, conversations=_CONVERSATIONS, turns=_TURNS)
        (source,), _ = find_sources([run])
        _first_call_is_slow(source.path)
        read = digested = 0.0
        rows, lines, interventions = list[Row](), list[Row](), list[Row]()
        for trial in source.own:
            attempt = last_ended(attempts_in(trial.folder))
            assert attempt
            start = time.process_time()
            record = attempt.read().events
            middle = time.process_time()
            found = digest(trial.subject, attempt.number, record, attempt.blobs.get)
            digested += time.process_time() - middle
            read += middle - start
            rows.append(found.trial)
            interventions += found.interventions
            lines += found.lines
        start = time.process_time()
        study = Study(Tables.of(rows, interventions, lines), (source.info,))
        seconds = {name: _seconds(lambda make=make: make(study)) for name, make in VIEWS.items()}
        tables = time.process_time() - start
        figures = {name: _seconds(lambda name=name: FIGURES[name](study)) for name in _DRAWN}
        failed = sum(row["resolved"] is False and row.get("requirements") is not None for row in rows)
    of_talk = sum(taken for name, taken in seconds.items() if name in _OF_TALK)
    size = (
        f"{len(rows)} trials, {_CONVERSATIONS} of them conversations of {_TURNS} turns with {REQUIREMENTS} "
        f"requirements, {failed} of these failed; {events:,} events"
    )
    slowest = sorted(seconds.items(), key=lambda each: -each[1])[:5]
    return Outcome(
        (
            Figure(
                "conversations read and all tables made, CPU",
                "s",
                read + digested + tables,
                read,
                _PEER,
                "seconds",
            ),
            Figure("what became of each trial, CPU", "s", digested, read, _PEER),
            Figure("tables of conversations, CPU", "s", of_talk, read, _PEER),
            Figure("all tables, CPU", "s", tables, read, _PEER),
            Figure("figures of goals, CPU", "s", sum(figures.values())),
        ),
        (
            size,
            "slowest tables: " + ", ".join(f"{name} {taken:.2f} s" for name, taken in slowest),
        ),
    )


def _seconds(make: object) -> float:
    assert callable(make)
    start = time.process_time()
    make()
    return time.process_time() - start


def _first_call_is_slow(run: Path) -> None:
    """Imports that wait for the first use are no cost of these records."""
    from matplotlib.figure import Figure as _Drawn  # noqa: F401, PLC0415
    from scipy import stats  # noqa: F401, PLC0415

    (source,), _ = find_sources([run])
    attempt = last_ended(attempts_in(source.own[0].folder))
    assert attempt
    digest(source.own[0].subject, attempt.number, attempt.read().events, attempt.blobs.get)
