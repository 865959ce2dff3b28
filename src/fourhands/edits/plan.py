"""Tasks, agents and conditions -> the plan of a run."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence

from fourhands.edits.records import (
    NotApplicable,
    Record,
    co_edit_interventions,
    counter_edit_interventions,
    load_record,
)
from fourhands.model.errors import InputError
from fourhands.model.intervention import Intervention
from fourhands.model.trial import AgentSpec, Condition, ConditionName
from fourhands.tasks.folder import Task
from fourhands.trajectories.run_folder import (
    Plan,
    PlannedIntervention,
    PlannedTask,
    PlannedTrial,
    PlannedUser,
    Settings,
)

__all__ = ["plan_run"]


def plan_run(
    *,
    tasks: Sequence[Task],
    agents: Sequence[AgentSpec],
    conditions: Sequence[Condition],
    repeats: int,
    settings: Settings,
) -> Plan:
    """Plan every trial: repeats, then agents, then conditions, then tasks.

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
            _user(task.name, condition, records[task.name]) for task in tasks for condition in conditions
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


def _user(task: str, condition: Condition, record: Record | None) -> PlannedUser:
    planned = _interventions(condition, record)
    # Without a record, vanilla is still vanilla: it has nothing to log a shadow of.
    missing = isinstance(planned, NotApplicable) and condition.name is not ConditionName.VANILLA
    return PlannedUser(
        task=task,
        condition=condition.label,
        shadow=condition.name is ConditionName.VANILLA,
        interventions=()
        if isinstance(planned, NotApplicable)
        else tuple(PlannedIntervention.of(intervention) for intervention in planned),
        not_applicable=planned.reason if missing and isinstance(planned, NotApplicable) else None,
    )


def _interventions(condition: Condition, record: Record | None) -> tuple[Intervention, ...] | NotApplicable:
    if record is None:
        return NotApplicable("the task has no record of edits")
    if condition.name is ConditionName.CO_EDIT:
        return co_edit_interventions(record)
    return counter_edit_interventions(record, condition.k)
