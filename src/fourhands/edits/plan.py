"""Tasks, agents and conditions -> the plan of a run."""

from __future__ import annotations

import secrets
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from fourhands.edits.records import NotApplicable, Record, load_record
from fourhands.edits.schedule import NeutralEdits, schedule
from fourhands.model.condition import Condition, ConditionName, NeutralKind
from fourhands.model.errors import InputError
from fourhands.model.intervention import Intervention, Trigger
from fourhands.model.trial import AgentSpec
from fourhands.tasks.folder import Task
from fourhands.tasks.repository import base_repository
from fourhands.trajectories.run_folder import (
    Plan,
    PlannedIntervention,
    PlannedTask,
    PlannedTrial,
    PlannedUser,
    Settings,
)
from fourhands.workspace.store import ObjectStore

__all__ = ["plan_run"]


def plan_run(
    *,
    tasks: Sequence[Task],
    agents: Sequence[AgentSpec],
    conditions: Sequence[Condition],
    repeats: int,
    settings: Settings,
    progress_steps: Mapping[str, int] | None = None,
) -> Plan:
    """Plan every trial: repeats, then agents, then conditions, then tasks.

    ``progress_steps`` are, per task, what the fractions of a `progress` trigger are of; without one the step limit.

    Raises:
        InputError: a task's record is wrong (names the file and the field), or something is named twice.
    """
    _refuse_repeats("task", [task.name for task in tasks])
    _refuse_repeats("agent and model", [agent.label for agent in agents])
    _refuse_repeats("condition", [condition.label for condition in conditions])
    records = {task.name: load_record(task.record) if task.record else None for task in tasks}
    plan = Plan(
        run_id=secrets.token_hex(6),
        settings=settings,
        tasks=tuple(
            PlannedTask(
                name=task.name,
                path=task.directory,
                digest=task.digest,
                record_status=record.status if (record := records[task.name]) else None,
            )
            for task in tasks
        ),
        users=tuple(
            user
            for task in tasks
            for user in _users(
                task,
                records[task.name],
                conditions,
                (progress_steps or {}).get(task.name, settings.step_limit),
            )
        ),
        trials=tuple(
            PlannedTrial(
                task=task.name,
                agent=agent.name,
                model=agent.model,
                condition=condition.label,
                repeat=repeat,
            )
            for repeat in range(1, repeats + 1)
            for agent in agents
            for condition in conditions
            for task in tasks
        ),
    )
    _refuse_repeats("folder name", [trial.key.slug for trial in plan.trials])
    return plan


def _refuse_repeats(what: str, names: Sequence[str]) -> None:
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"{what} {twice[0]!r} stands for two: a run needs names that differ")


def _users(
    task: Task, record: Record | None, conditions: Sequence[Condition], progress_steps: int
) -> Iterator[PlannedUser]:
    neutral = _neutral_edits(task, record)
    planned = {
        condition: _interventions(condition, record, neutral, progress_steps)
        for condition in conditions
        if condition.name is not ConditionName.VANILLA
    }
    for condition in conditions:
        if condition.name is ConditionName.VANILLA:
            shadows = planned or {
                each: _interventions(each, record, neutral, progress_steps)
                for each in [Condition(ConditionName.COUNTER_EDIT)]
            }
            yield from _shadows(task.name, condition, shadows)
        else:
            found = planned[condition]
            yield PlannedUser(
                task=task.name,
                condition=condition.label,
                interventions=() if isinstance(found, NotApplicable) else _planned(found),
                not_applicable=found.reason if isinstance(found, NotApplicable) else None,
            )


def _neutral_edits(task: Task, record: Record | None) -> NeutralEdits:
    """Made when they are asked for: that needs the task's repository."""

    def make(kind: NeutralKind | None, k: int) -> tuple[Intervention, ...] | NotApplicable:
        from fourhands.edits.neutral import neutral_interventions  # noqa: PLC0415
        from fourhands.engine.session import base_objects  # noqa: PLC0415

        assert record is not None
        objects, base = base_objects(base_repository(task))
        with tempfile.TemporaryDirectory() as folder:
            store = ObjectStore(Path(folder) / "objects.git", base=objects)
            return neutral_interventions(record, store, base, task.reference, kind=kind, k=k)

    return make


def _shadows(
    task: str, vanilla: Condition, planned: Mapping[Condition, tuple[Intervention, ...] | NotApplicable]
) -> Iterator[PlannedUser]:
    """One shadow for all conditions that would trigger alike; a condition the task lacks casts none."""
    alike: dict[tuple[Trigger, ...], list[Condition]] = defaultdict(list)
    for condition, found in planned.items():
        if not isinstance(found, NotApplicable):
            alike[tuple(each.trigger for each in found)].append(condition)
    for triggers, conditions in alike.items():
        shadow = tuple(
            Intervention(f"shadow-{number}", trigger, None, None)
            for number, trigger in enumerate(triggers, 1)
        )
        yield PlannedUser(
            task=task,
            condition=vanilla.label,
            interventions=_planned(shadow),
            shadow_of=tuple(condition.label for condition in conditions),
        )


def _planned(interventions: Iterable[Intervention]) -> tuple[PlannedIntervention, ...]:
    return tuple(PlannedIntervention.of(intervention) for intervention in interventions)


def _interventions(
    condition: Condition, record: Record | None, neutral: NeutralEdits, progress_steps: int
) -> tuple[Intervention, ...] | NotApplicable:
    if record is None:
        return NotApplicable("the task has no record of edits")
    return schedule(condition, record, neutral, progress_steps)
