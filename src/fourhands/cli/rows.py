"""A run folder -> rows of trials, and what followed the user's interventions in each."""

from __future__ import annotations

from fourhands.analysis.ablation import ablated_trial
from fourhands.analysis.aftermath import Aftermath
from fourhands.analysis.lines import follow_user_lines
from fourhands.analysis.responses import responses
from fourhands.analysis.trials import TrialRow, trial_row
from fourhands.trajectories.ablations import read_ablation
from fourhands.trajectories.run_folder import Plan, PlannedTrial, RunFolder

__all__ = ["read_rows", "read_trials"]


def read_trials(folder: RunFolder) -> list[tuple[TrialRow, Aftermath]]:
    """Each planned trial, from its final attempt.

    Raises:
        InputError: the folder is no run.
    """
    plan = folder.plan()
    return [_read(folder, plan, trial) for trial in plan.trials]


def read_rows(folder: RunFolder) -> list[TrialRow]:
    """The rows alone. Raises as `read_trials`."""
    return [row for row, _ in read_trials(folder)]


def _read(folder: RunFolder, plan: Plan, trial: PlannedTrial) -> tuple[TrialRow, Aftermath]:
    key, attempt = trial.key, folder.final_attempt(trial.key)
    events = attempt.read().events if attempt else ()
    row = trial_row(
        key, attempt.number if attempt else 0, events, applicable=plan.not_applicable(trial) is None
    )
    aftermath = Aftermath(
        key=key,
        lines=follow_user_lines(events),
        responses=responses(events, attempt.blobs.get) if attempt else (),
        ablated=ablated_trial(key, events, read_ablation(attempt) if attempt else None),
    )
    return row, aftermath
