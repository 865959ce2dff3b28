"""What is going on in a run: a live table in a terminal, a line per trial elsewhere, and a file for programs."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

from rich.console import Console, RenderableType
from rich.live import Live

from fourhands.cli.progress_file import ProgressFile, State, standing_json, utc
from fourhands.cli.progress_view import ended_line, live_view
from fourhands.cli.tally import Standing, tally_of
from fourhands.model.event import Event
from fourhands.model.price import PriceTable
from fourhands.model.trial import TrialKey
from fourhands.trajectories.run_folder import Plan, RunFolder

__all__ = ["Progress"]

_SCHEMA: Final = 1


class Progress:
    """Watches events from any thread. Use as a context manager.

    Args:
        folder: of the run; what its records hold already is counted.
        plan: of the run.
        prices: what costs are told by.
        at_once: trials that run side by side, at most.
        console: where to show it.
        is_stopped: whether the run begins no more trials: there is no money left.
        clock: seconds, from any beginning.
    """

    def __init__(
        self,
        folder: RunFolder,
        plan: Plan,
        *,
        prices: PriceTable,
        at_once: int,
        console: Console,
        is_stopped: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run_id = plan.run_id
        self._console = console
        self._is_stopped = is_stopped
        self._clock = clock
        self._began, self._started = clock(), utc()
        self._state: State = "running"
        self._lock = threading.Lock()
        self._tally = tally_of(folder, plan, prices=prices, at_once=at_once, clock=clock)
        self._file = ProgressFile(folder.progress_path, self._document, self._say)
        self._live = (
            Live(get_renderable=self._render, console=console, refresh_per_second=4, transient=True)
            if console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        self._file.start()
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()
        self._state = self._ending(kind)
        self._file.close()

    def see(self, key: TrialKey, event: Event) -> None:
        """Take one event of one trial."""
        with self._lock:
            ended = self._tally.see(key, event)
            standing = self._tally.standing() if ended else None
        if ended and standing:
            self._file.due()
            # Not under our lock: the display holds its own while it asks us what to render.
            self._say(ended_line(ended, standing))

    def _ending(self, error: type[BaseException] | None) -> State:
        if error is not None:
            return "interrupted" if issubclass(error, KeyboardInterrupt) else "failed"
        counts = self._standing().counts
        if counts.done == counts.total:
            return "finished"
        return "budget" if self._is_stopped() else "interrupted"

    def _standing(self) -> Standing:
        with self._lock:
            return self._tally.standing()

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)

    def _render(self) -> RenderableType:
        return live_view(self._standing(), *self._console.size)

    def _document(self) -> dict[str, Any]:
        state, standing = self._state, self._standing()
        if state != "running":  # what was cut is under way no more
            standing = standing.at_rest()
        return {
            "schema": _SCHEMA,
            "run": self._run_id,
            "state": state,
            "pid": os.getpid(),
            "started": self._started,
            "updated": utc(),
            "seconds_elapsed": round(self._clock() - self._began, 1),
            **standing_json(standing),
        }
