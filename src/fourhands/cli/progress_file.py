"""``RUN/progress.json``: how a run stands, for other programs; its fields are described in ``docs/runs.md``."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from fourhands.analysis.costs import cost_json
from fourhands.cli.tally import Counts, Standing
from fourhands.trajectories.run_folder import write_atomically

__all__ = ["ProgressFile", "State", "standing_json", "utc"]

State = Literal["running", "interrupted", "failed", "budget", "finished"]

_EVERY: Final = 2.0
"""Seconds between two writings when no trial ends: one that is much older tells of a process that is gone."""


class ProgressFile:
    """Keeps a file up to date from a thread of its own, so that nothing else ever waits for the disk.

    Args:
        path: whole at any time; written every two seconds, and whenever it is `due`.
        document: what to write.
        complain: told, once, that it cannot be written. The run goes on without it.
    """

    def __init__(
        self, path: Path, document: Callable[[], dict[str, Any]], complain: Callable[[str], None]
    ) -> None:
        self._path = path
        self._document = document
        self._complain = complain
        self._due = threading.Event()
        self._is_closing = False
        self._is_broken = False
        self._thread = threading.Thread(target=self._keep, name="progress file", daemon=True)

    def start(self) -> None:
        """Write it, and go on doing so."""
        self._write()
        self._thread.start()

    def due(self) -> None:
        """Have it written now; from any thread, at no cost."""
        self._due.set()

    def close(self) -> None:
        """Write it for the last time."""
        self._is_closing = True
        self._due.set()
        self._thread.join()
        self._write()

    def _keep(self) -> None:
        while True:
            self._due.wait(_EVERY)
            self._due.clear()
            if self._is_closing:
                return
            self._write()

    def _write(self) -> None:
        try:
            write_atomically(self._path, orjson.dumps(self._document(), option=orjson.OPT_INDENT_2) + b"\n")
        except OSError as error:
            if not self._is_broken:
                self._is_broken = True
                self._complain(f"{self._path} cannot be kept up to date: {error}")


def standing_json(standing: Standing) -> dict[str, Any]:
    """What stands in the file of the run's trials; seconds to a tenth."""
    left = standing.seconds_left
    return {
        **_counts_json(standing.counts),
        "seconds_left": None if left is None else round(left, 1),
        "rows": [
            {
                "agent": row.agent,
                "model": row.model,
                "condition": row.condition,
                "under_way": row.running,
                **_counts_json(row.counts),
            }
            for row in standing.rows
        ],
        "running": [
            {
                "trial": each.key.slug,
                "step": each.step,
                "says": each.says,
                "seconds": round(each.seconds, 1),
            }
            for each in standing.running
        ],
    }


def utc() -> str:
    """The time now as it stands in the file: ISO 8601, whole seconds."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _counts_json(counts: Counts) -> dict[str, Any]:
    return {
        "total": counts.total,
        "done": counts.done,
        "scored": counts.scored,
        "resolved": counts.resolved,
        "intended": counts.intended,
        "delivered": counts.delivered,
        "invalid": counts.invalid,
        "infrastructure_errors": counts.infrastructure_errors,
        **cost_json("cost", counts.cost),
        **cost_json("user_cost", counts.user_cost),
    }
