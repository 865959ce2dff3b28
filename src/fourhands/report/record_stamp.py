"""What tells whether that which was made of a record before is still as good as new."""

from __future__ import annotations

import os

from fourhands.trajectories.ablations import ablation_path
from fourhands.trajectories.audits import opinions_folder
from fourhands.trajectories.judgements import judgements_folder
from fourhands.trajectories.run_folder import Attempt

__all__ = ["record_stamp"]


def record_stamp(attempt: Attempt) -> str:
    """Changes when the events of an attempt, its ablation, or what judges said of it do; payloads never change."""
    stamps = []
    # What judges said is written whole, and a new file changes the time of its folder.
    folders = (judgements_folder(attempt), opinions_folder(attempt))
    for path in (attempt.events_path, ablation_path(attempt), *folders):
        try:
            found = os.stat(path)  # noqa: PTH116 - pathlib takes as long as the disk
        except OSError:
            stamps.append("-")
        else:
            stamps.append(f"{found.st_size}.{found.st_mtime_ns}")
    return " ".join(stamps)
