"""A population -> a sheet: which items, what of each is shown, and the key."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from fourhands.engine.planned import unchanged_task
from fourhands.judge.audit.attempt_text import attempt_text
from fourhands.judge.people.goal_texts import goal_texts
from fourhands.judge.people.key_file import Key, KeyEntry, KeyRun, Sampled
from fourhands.judge.people.population import JudgeAnswers, Population, Unit, attempt_of
from fourhands.judge.people.sampling import ONE_STRATUM, draw_halves, see_that_both_are_drawn, strata_of
from fourhands.model.agreement import LEAST_ITEMS
from fourhands.model.audit import Audit, AuditName
from fourhands.model.errors import InputError
from fourhands.tasks.folder import Task
from fourhands.tasks.ledger_file import load_ledger
from fourhands.trajectories.run_folder import RunFolder

__all__ = [
    "ShownItem",
    "draw_key",
    "record_digest",
    "see_that_records_are_the_same",
    "shown_items",
    "unit_of",
]

_BUDGET: Final = 60_000
"""Characters of a record that a person is shown: half an hour's reading. A judge is shown more."""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """What a person sees of an item: ``asks`` is what it is asked about beyond the audit's question, or empty."""

    name: str
    asks: str
    text: str
    left_out: int = 0


def draw_key(
    folders: Sequence[RunFolder],
    audit: Audit,
    population: Population,
    judge: JudgeAnswers | None,
    *,
    size: int | None,
    seed: int,
    out: Path,
) -> Key:
    """Draw items, and write down which they are. The same arguments draw the same.

    Args:
        folders: the runs.
        audit: what is asked.
        population: all that can be asked about.
        judge: by whose answers items are drawn, of those that it has read: others cannot be compared with it.
        size: how many; ``None``: all.
        seed: of the sample.
        out: the sheet's folder, to which the key names the runs' places.

    Raises:
        InputError: there is nothing to ask about, or too little for a sample from which one can tell.
    """
    units, left = population.units, population.left
    if not units:
        raise InputError(f"nothing to ask about: the runs have no items of {audit.name}")
    answers = [judge.answers.get(unit) if judge else None for unit in units]
    readable = [place for place, answer in enumerate(answers) if answer is not None or judge is None]
    if judge:
        _see_that_there_is_enough(judge, audit, len(readable), size)
    wanted = len(readable) if size is None else size
    is_left = [left is not None and unit in left for unit in units]
    strata = strata_of(audit, answers) if judge and wanted < len(units) else [ONE_STRATUM] * len(units)
    if len(set(is_left)) > 1:
        strata = [
            f"{name}, {'open' if own else 'decided'}" for name, own in zip(strata, is_left, strict=True)
        ]
    drawn = draw_halves([strata[at] for at in readable], [is_left[at] for at in readable], wanted, seed)
    chosen = [readable[at] for at in drawn]
    sampled: Sampled = "random"
    if len(chosen) == len(units):
        sampled = "all"
    elif len(set(strata)) > 1:
        sampled = "stratified"
    if judge:
        see_that_both_are_drawn(audit, answers, chosen, "give a larger --size")
    mark = _mark(audit, units, chosen)
    names = {place: f"s{mark}-{number:03d}" for number, place in enumerate(chosen, start=1)}
    base = out.resolve()
    return Key(
        audit=audit.name,
        audit_version=audit.version,
        sampled=sampled,
        by=judge.judge if judge and sampled == "stratified" else None,
        seed=seed,
        runs=tuple(
            KeyRun(run=folder.plan().run_id, path=os.path.relpath(folder.path.resolve(), base))
            for folder in folders
        ),
        population=tuple(
            KeyEntry(
                run=unit.run,
                trial=unit.trial,
                attempt=unit.attempt,
                task=unit.task,
                stratum=stratum,
                left=None if left is None else unit in left,
                checkpoint=unit.checkpoint,
                goal=unit.goal,
                item=names.get(place),
                record=record_digest(folders[unit.run], unit) if place in names else None,
            )
            for place, (unit, stratum) in enumerate(zip(units, strata, strict=True))
        ),
    )


def _see_that_there_is_enough(judge: JudgeAnswers, audit: Audit, read: int, size: int | None) -> None:
    if read < LEAST_ITEMS:
        remedy = "conversations score" if audit.name is AuditName.GOALS else "audit judge --on all"
        raise InputError(
            f"{judge.judge} has read {read} of the items: {LEAST_ITEMS} are needed to compare it with people; have "
            f"it read more, with fourhands {remedy}"
        )
    if size is not None and size < LEAST_ITEMS:
        raise InputError(
            f"--size {size}: {LEAST_ITEMS} items are needed to compare {judge.judge} with people"
        )


def record_digest(folder: RunFolder, unit: Unit) -> str:
    """A hash of an attempt's events, which name all payloads by theirs.

    Raises:
        InputError: they are gone.
    """
    path = attempt_of(folder, unit).events_path
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        raise InputError(f"{path} is gone: bring it back, or draw another sheet") from None


def see_that_records_are_the_same(folders: Sequence[RunFolder], key: Key) -> None:
    """See that what people read is what stands there now.

    Raises:
        InputError: an item's record has changed, or is gone.
    """
    for place, name in key.drawn:
        entry = key.population[place]
        if record_digest(folders[entry.run], unit_of(entry)) != entry.record:
            path = attempt_of(folders[entry.run], unit_of(entry)).events_path
            raise InputError(
                f"{path}: has changed since {name} was drawn of it: bring it back, or draw another sheet"
            )


def shown_items(folders: Sequence[RunFolder], key: Key) -> Iterator[ShownItem]:
    """What is shown of each item, in the sheet's order. None of it says whose it is.

    Raises:
        InputError: a task is not what it was.
        FourhandsError: a task's repository cannot be made here.
    """
    plans = [folder.plan() for folder in folders]

    @cache
    def task_of(run: int, name: str) -> Task:
        return unchanged_task(folders[run], plans[run], name)

    @cache
    def texts(unit: Unit) -> dict[str, str]:
        return goal_texts(attempt_of(folders[unit.run], unit), task_of(unit.run, unit.task))

    for place, name in key.drawn:
        unit = unit_of(key.population[place])
        if unit.goal is None:
            record = attempt_text(
                attempt_of(folders[unit.run], unit), task_of(unit.run, unit.task), budget=_BUDGET
            )
            yield ShownItem(name, "", record.text, record.left_out)
        else:
            whole = texts(Unit(unit.run, unit.trial, unit.attempt, unit.task))[unit.checkpoint or ""]
            yield ShownItem(
                name,
                _goal(task_of(unit.run, unit.task), unit.goal),
                whole[:_BUDGET],
                max(0, len(whole) - _BUDGET),
            )


def unit_of(entry: KeyEntry) -> Unit:
    """What an entry of a key is of."""
    return Unit(entry.run, entry.trial, entry.attempt, entry.task, entry.checkpoint, entry.goal)


def _goal(task: Task, name: str) -> str:
    assert task.ledger, "its goals are of a ledger"
    ledger = load_ledger(task.ledger, task.instruction)
    goal = next(each for each in ledger.goals if each.id == name)
    return f"{goal.text}\nShown by: {goal.evidence}" if goal.evidence else goal.text


def _mark(audit: Audit, units: Sequence[Unit], chosen: Sequence[int]) -> str:
    """What makes names of items the sheet's own, so that answers to another sheet are seen to be such."""
    content = repr((audit.name, audit.version, [units[place] for place in chosen]))
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:5]
