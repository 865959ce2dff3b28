"""What is going on in a run: a live display in a terminal, a line per trial elsewhere."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from fourhands.analysis.failures import failure_told
from fourhands.model.event import Event, EventKind
from fourhands.model.outcome import Termination
from fourhands.model.trial import TrialKey

__all__ = ["Progress"]

_SAYS = {
    EventKind.TRIGGER_FIRED: "user: trigger fired",
    EventKind.EDIT_APPLIED: "user: edited the code",
    EventKind.EDIT_NOT_APPLIED: "user: edit does not fit, left alone",
    EventKind.MESSAGE_SENT: "user: spoke",
    EventKind.ACTION_SEEN: "agent: acts",
    EventKind.ACTION_RESULT: "agent: has its result",
    EventKind.VERIFIED: "verified",
    EventKind.TRIAL_STARTED: "agent starts",
}


@dataclass
class _Running:
    started: float = field(default_factory=time.monotonic)
    steps: int = 0
    says: str = "starts"
    failed: str = ""


class Progress:
    """Watches events from any thread. Use as a context manager.

    Args:
        total: trials that this run has.
        done: of them, those that have ended before.
        console: where to show it.
    """

    def __init__(self, total: int, done: int, console: Console) -> None:
        self._total = total
        self._console = console
        self._lock = threading.Lock()
        self._running: dict[TrialKey, _Running] = {}
        self._done = done
        self._live = (
            Live(get_renderable=self._render, console=console, refresh_per_second=4, transient=True)
            if console.is_terminal
            else None
        )

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def see(self, key: TrialKey, event: Event) -> None:
        """Take one event of one trial."""
        line = None
        with self._lock:
            running = self._running.setdefault(key, _Running())
            running.steps = event.body.get("step") or running.steps
            running.says = _SAYS.get(event.kind, running.says)
            if event.kind is EventKind.TRIAL_ENDED:
                del self._running[key]
                self._done += 1
                seconds = time.monotonic() - running.started
                outcome = f"{event.body['verdict']} ({event.body['termination']})"
                line = f"[{self._done}/{self._total}] {key}: {outcome}, {seconds:.0f} s"
                if not Termination(event.body["termination"]).is_scored and running.failed:
                    line += f": {running.failed}"
            else:
                running.failed = failure_told(event) or running.failed
        if line is not None:
            # Not under our lock: the display holds its own while it asks us what to render.
            self._console.print(line, markup=False, soft_wrap=True)

    def _render(self) -> RenderableType:
        with self._lock:
            grid = Table.grid(padding=(0, 2))
            for width in (None, 8, 34, 6):
                grid.add_column(no_wrap=True, width=width, overflow="ellipsis")
            for key, running in self._running.items():
                seconds = time.monotonic() - running.started
                name = Text(f"{key.task} · {key.condition.label}")
                grid.add_row(name, f"step {running.steps}", running.says, f"{seconds:.0f} s")
            bar = Table.grid(padding=(0, 2))
            bar.add_row(
                ProgressBar(total=self._total, completed=self._done, width=40),
                f"{self._done} of {self._total} trials",
            )
            return Group(grid, bar)
