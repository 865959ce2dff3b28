"""A run folder -> rows of trials, and what followed the user's interventions in each."""

from __future__ import annotations

from collections.abc import Iterator

from fourhands.analysis.ablation import ablated_trial
from fourhands.analysis.aftermath import Aftermath
from fourhands.analysis.delivery import delivery_proofs
from fourhands.analysis.lines import follow_user_lines
from fourhands.analysis.responses import responses
from fourhands.analysis.trials import TrialRow, trial_row
from fourhands.model.event import Event
from fourhands.model.price import NO_PRICES, PriceTable
from fourhands.trajectories.ablations import read_ablation
from fourhands.trajectories.run_folder import Attempt, RunFolder

__all__ = ["read_rows", "read_trials"]


def read_trials(folder: RunFolder, prices: PriceTable) -> list[tuple[TrialRow, Aftermath]]:
    """Each planned trial, from its final attempt, with its costs by ``prices``.

    Raises:
        InputError: the folder is no run.
    """
    return [(row, _aftermath(row, attempt, events)) for row, attempt, events in _read(folder, prices)]


def read_rows(folder: RunFolder) -> list[TrialRow]:
    """The rows alone, without costs, which need the events and nothing else. Raises as `read_trials`."""
    return [row for row, _, _ in _read(folder, NO_PRICES)]


def _read(
    folder: RunFolder, prices: PriceTable
) -> Iterator[tuple[TrialRow, Attempt | None, tuple[Event, ...]]]:
    plan = folder.plan()
    for trial in plan.trials:
        attempt = folder.final_attempt(trial.key)
        events = attempt.read().events if attempt else ()
        applicable = plan.not_applicable(trial) is None
        number = attempt.number if attempt else 0
        row = trial_row(trial.key, number, events, prices=prices, applicable=applicable)
        yield row, attempt, events


def _aftermath(row: TrialRow, attempt: Attempt | None, events: tuple[Event, ...]) -> Aftermath:
    return Aftermath(
        key=row.key,
        lines=follow_user_lines(events),
        responses=responses(events, attempt.blobs.get) if attempt else (),
        ablated=ablated_trial(row.key, events, read_ablation(attempt) if attempt else None),
        proofs=delivery_proofs(events),
    )
