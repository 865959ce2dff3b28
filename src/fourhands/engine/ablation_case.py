"""A failed touched trial, as causal ablation needs it, from its record."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fourhands.model.errors import InputError
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.text import Region
from fourhands.model.trial import TrialKey
from fourhands.trajectories.ablations import failed_after_edit
from fourhands.trajectories.aim import Aim, aim_of
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.earlier_states import EarlierStates, earlier_states
from fourhands.trajectories.run_folder import Attempt, Plan, PlannedTrial, RunFolder
from fourhands.workspace.attribution import Author
from fourhands.workspace.file_json import file_change
from fourhands.workspace.standing import RecordedChange

__all__ = ["Case", "read_case"]


@dataclass(frozen=True, slots=True)
class Case:
    """The final attempt at a trial that is scored, unresolved, and had an edit delivered.

    ``changes`` are all that agent and user wrote, in order, ``aim`` what the agent worked on; ``regions`` what the
    delivered interventions were about, in base coordinates; ``earlier`` states that were the agent's own.
    """

    key: TrialKey
    attempt: Attempt
    base_tree: str
    tree: str
    verdict_key: str
    changes: tuple[RecordedChange, ...]
    regions: tuple[Region, ...]
    user_lines: Mapping[str, int]
    aim: Aim
    earlier: EarlierStates


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
        changes=tuple(map(_recorded, _bodies(events, EventKind.WORKSPACE_CHANGED))),
        regions=tuple(
            region
            for each in planned
            if each.id in delivered
            for region in each.intervention().trigger.regions
        ),
        user_lines=events[-1].body["user_lines"],
        aim=aim_of(events),
        earlier=earlier_states(events, partial(_blob, attempt.blobs)),
    )


def _bodies(events: Sequence[Event], kind: EventKind) -> list[dict[str, Any]]:
    return [event.body for event in events if event.kind is kind]


def _blob(blobs: BlobStore, digest: str) -> bytes:
    try:
        return blobs.get(digest)
    except (
        OSError,
        zlib.error,
    ):  # missing or spoiled: an action that cannot be read ran no tests, for all we know
        return b""


def _recorded(body: dict[str, Any]) -> RecordedChange:
    author: Author = "user" if body["by"] == Actor.USER else "agent"
    return RecordedChange(author, body["intervention"], tuple(map(file_change, body["files"])))
