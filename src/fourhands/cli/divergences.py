"""Where a replay went another way than its recording, shown as a difference of two requests."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from fourhands.model.event import Event, EventKind
from fourhands.trajectories.run_folder import RunFolder

__all__ = ["print_divergences"]

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_NAMED = 8
"""Requests that a message names."""


def print_divergences(folder: RunFolder, console: Console) -> None:
    """Print where each trial of a replay went another way than its recording; nothing where none does."""
    for trial in folder.plan().trials:
        attempt = folder.final_attempt(trial.key)
        for event in attempt.read().events if attempt else ():
            said = _told(event)
            if said is None or attempt is None:
                continue
            console.print(f"{trial.key.slug}: {said}", markup=False, soft_wrap=True)
            for line in attempt.blobs.get(event.body["diff"]).decode().splitlines():
                console.print(Text(line, style=_STYLES.get(line[:1], "")), soft_wrap=True)


def _told(event: Event) -> str | None:
    body = event.body
    if event.kind is EventKind.DIVERGED:
        expected = body["expected"]
        then = "the recording has no more" if expected is None else f"recorded as request {expected}"
        return f"diverged at request {body['request']} ({then}):"
    if event.kind is EventKind.NOTE and body["note"] == "replay_unfinished":
        left = ", ".join(map(str, body["left"][:_NAMED])) + (", …" if len(body["left"]) > _NAMED else "")
        return (
            f"ended after {body['asked']} requests; never asked for was what was recorded as request {left}:"
        )
    return None
