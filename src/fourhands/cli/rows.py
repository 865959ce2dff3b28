"""A run folder -> rows of trials."""

from __future__ import annotations

from fourhands.analysis.trials import TrialRow, trial_row
from fourhands.trajectories.run_folder import RunFolder

__all__ = ["read_rows"]


def read_rows(folder: RunFolder) -> list[TrialRow]:
    """One row per planned trial, from its final attempt.

    Raises:
        InputError: the folder is no run.
    """
    plan = folder.plan()
    rows = []
    for trial in plan.trials:
        applicable = plan.user(trial.task, trial.condition).not_applicable is None
        attempt = folder.final_attempt(trial.key)
        events = attempt.read().events if attempt else ()
        number = attempt.number if attempt else 0
        rows.append(trial_row(trial.key, number, events, applicable=applicable))
    return rows
