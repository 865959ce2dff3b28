"""CPU time of reading the records of trials, beside parsing the same bytes and looking at nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import orjson

from fourhands.trajectories.events import last_event, read_events
from measure import Figure, Outcome, summary

__all__ = ["measure"]

_RECORD: Final = Path(__file__).parents[1] / "tests" / "trajectories" / "records" / "counter-edit.jsonl"
_TRIALS: Final = 250
_EVENTS: Final = 200
"""A trial."""
_ROUNDS: Final = 7


def measure() -> Outcome:
    """Interleaved rounds over the same files, which are in the system's cache after the first."""
    with TemporaryDirectory() as folder:
        paths = [Path(folder, f"{number}.jsonl") for number in range(_TRIALS)]
        record = _record()
        for path in paths:
            path.write_bytes(record)
        readers: dict[str, Callable[[Path], object]] = {
            "whole": read_events,
            "end": last_event,
            "orjson": lambda path: [orjson.loads(line) for line in path.read_bytes().splitlines()],
        }
        found: dict[str, list[float]] = {name: [] for name in readers}
        for _ in range(_ROUNDS):
            for name, read in readers.items():
                start = time.process_time()
                for path in paths:
                    read(path)
                found[name].append((time.process_time() - start) / _TRIALS)
        assert len(read_events(paths[0]).events) == _EVENTS
    figures = (
        Figure(
            "a record read and checked, CPU",
            "ms",
            summary(found["whole"]),
            summary(found["orjson"]),
            "orjson, unchecked",
            "≤ 2 times",
        ),
        Figure(
            "whether a trial has ended, CPU",
            "ms",
            summary(found["end"]),
            summary(found["whole"]),
            "reading it whole",
        ),
    )
    return Outcome(
        figures, (f"{_TRIALS} trials of {_EVENTS} events, {len(record) // _EVENTS} bytes an event",)
    )


def _record() -> bytes:
    """A real record, its middle repeated until it is long enough."""
    first, *middle, last = [orjson.loads(line) for line in _RECORD.read_bytes().splitlines()]
    events = [first, *(middle[at % len(middle)] for at in range(_EVENTS - 2)), last]
    return b"".join(orjson.dumps({**event, "seq": seq}) + b"\n" for seq, event in enumerate(events))
