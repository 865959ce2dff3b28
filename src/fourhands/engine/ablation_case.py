"""A failed touched trial, as causal ablation needs it, from its record."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fourhands.model.errors import InputError
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.text import LineRange, Region
from fourhands.model.trial import TrialKey
from fourhands.trajectories.ablations import failed_after_edit
from fourhands.trajectories.run_folder import Attempt, Plan, PlannedTrial, RunFolder
from fourhands.workspace.changes import Hunk
from fourhands.workspace.revert import FileEdit
from fourhands.workspace.tree import Entry

__all__ = ["Case", "read_case"]


@dataclass(frozen=True, slots=True)
class Case:
    """The final attempt at a trial that is scored, unresolved, and had an edit delivered.

    ``edits`` are all that the user wrote, file by file, the newest first; ``regions`` what the delivered
    interventions were about, in base coordinates.
    """

    key: TrialKey
    attempt: Attempt
    base_tree: str
    tree: str
    verdict_key: str
    edits: tuple[FileEdit, ...]
    regions: tuple[Region, ...]
    user_lines: Mapping[str, int]


def read_case(folder: RunFolder, plan: Plan, trial: PlannedTrial) -> Case | None:
    """The case that a planned trial is, or ``None`` where there is nothing to ablate.

    Raises:
        InputError: the trial's objects are gone.
    """
    attempt = folder.final_attempt(trial.key)
    if attempt is None:
        return None
    events = attempt.read().events
    if not failed_after_edit(events):
        return None
    if not attempt.objects_path.is_dir():
        raise InputError(f"{attempt.objects_path} is gone: without it nothing can be ablated; bring it back")
    verified = _bodies(events, EventKind.VERIFIED)[-1]
    delivered = {body["intervention"] for body in _bodies(events, EventKind.EDIT_APPLIED)}
    planned = [each for user in plan.users_of(trial.task, trial.condition) for each in user.interventions]
    return Case(
        key=trial.key,
        attempt=attempt,
        base_tree=_bodies(events, EventKind.TRIAL_STARTED)[0]["base_tree"],
        tree=verified["tree"],
        verdict_key=verified["key"],
        edits=tuple(
            _file_edit(file)
            for body in reversed(_bodies(events, EventKind.WORKSPACE_CHANGED))
            if body["by"] == Actor.USER
            for file in body["files"]
        ),
        regions=tuple(
            region
            for each in planned
            if each.id in delivered
            for region in each.intervention().trigger.regions
        ),
        user_lines=events[-1].body["user_lines"],
    )


def _bodies(events: Sequence[Event], kind: EventKind) -> list[dict[str, Any]]:
    return [event.body for event in events if event.kind is kind]


def _file_edit(file: dict[str, Any]) -> FileEdit:
    before, after = (
        None if mode is None or blob is None else Entry(mode, blob)
        for mode, blob in zip(file["modes"], (file["old"], file["new"]), strict=True)
    )
    hunks = tuple(Hunk(LineRange(a, b), LineRange(c, d)) for a, b, c, d in file["hunks"])
    return FileEdit(os.fsencode(file["path"]), before, after, hunks)
