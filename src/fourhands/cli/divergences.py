"""Where a replay went another way than its recording, shown as a difference of two requests."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from fourhands.model.event import EventKind
from fourhands.trajectories.run_folder import RunFolder

__all__ = ["print_divergences"]

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def print_divergences(folder: RunFolder, console: Console) -> None:
    """Print the first request of each trial that differs from the recorded one; nothing where none does."""
    for trial in folder.plan().trials:
        attempt = folder.final_attempt(trial.key)
        for event in attempt.read().events if attempt else ():
            if attempt is None or event.kind is not EventKind.DIVERGED:
                continue
            request, expected = event.body["request"], event.body["expected"]
            then = "none was left" if expected is None else f"recorded as request {expected}"
            console.print(f"{trial.key.slug}: diverged at request {request} ({then}):", markup=False)
            for line in attempt.blobs.get(event.body["diff"]).decode().splitlines():
                console.print(Text(line, style=_STYLES.get(line[:1], "")), soft_wrap=True)
