"""After a run: a judge reads the records of failed trials, and its opinions of why they failed stand beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from fourhands.engine.planned import unchanged_task
from fourhands.judge.audit.attempt_text import attempt_text, blob_reader
from fourhands.judge.audit.auditor import Auditor
from fourhands.judge.audit.blocks import RecordText
from fourhands.judge.audit.bodies import told_requirements
from fourhands.model.audit import Audit, Opinion
from fourhands.model.errors import FourhandsError
from fourhands.model.event import EventKind
from fourhands.model.trial import TrialKey
from fourhands.tasks.folder import Task
from fourhands.trajectories.audits import opinion_path, write_opinion
from fourhands.trajectories.ledgers import recorded_ledger
from fourhands.trajectories.run_folder import Attempt, RunFolder
from fourhands.user.completion import UNREACHABLE

__all__ = ["AuditedTrial", "Watch", "audit_trials"]


@dataclass(frozen=True, slots=True)
class AuditedTrial:
    """What a judge said of a trial's last ended attempt; ``cached``: it had said so before, and was not asked."""

    key: TrialKey
    opinion: Opinion
    cached: bool


Watch = Callable[[int, int, AuditedTrial], None]
"""Called when one is done: how many are, of how many, and which."""


async def audit_trials(
    folder: RunFolder,
    auditor: Auditor,
    audit: Audit,
    trials: Collection[str],
    *,
    concurrency: int,
    watch: Watch,
) -> tuple[AuditedTrial, ...]:
    """Ask about the trials of these folder names, in the plan's order; write their opinions beside their records.

    What the judge has been asked once, by content, is not asked again.

    Args:
        folder: of a run, held by this process.
        auditor: who is asked.
        audit: what is asked.
        trials: that have ended.
        concurrency: trials at once.
        watch: called in the order in which they are done.

    Raises:
        InputError: a task is not what it was.
        FourhandsError: a task's repository cannot be made here, or the judge's provider is not there.
    """
    plan = folder.plan()
    keys = [trial.key for trial in plan.trials if trial.key.slug in trials]
    tasks = {name: unchanged_task(folder, plan, name) for name in dict.fromkeys(key.task for key in keys)}
    auditing = _Auditing(auditor, audit, slots=concurrency, watch=watch, total=len(keys))
    cases = [(key, attempt) for key in keys if (attempt := folder.final_attempt(key))]
    try:
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(auditing.trial(key, attempt, tasks[key.task])) for key, attempt in cases
            ]
    except ExceptionGroup as errors:
        # The command line tells one error, and the first stopped the rest.
        raise errors.exceptions[0] from None
    return tuple(each.result() for each in asked)


class _Auditing:
    def __init__(self, auditor: Auditor, audit: Audit, *, slots: int, watch: Watch, total: int) -> None:
        self._auditor = auditor
        self._audit = audit
        self._watch = watch
        self._slots = asyncio.Semaphore(slots)
        self._total = total
        self._done = 0

    async def trial(self, key: TrialKey, attempt: Attempt, task: Task) -> AuditedTrial:
        async with self._slots:
            record, said = await asyncio.to_thread(_read, attempt, task)
            found = await self._auditor.ask(self._audit, record, said)
            opinion = found.opinion
            if UNREACHABLE in (opinion.problem or ""):  # the next trial would find nobody there either
                raise FourhandsError(f"{opinion.problem}: the same command goes on from what is done")
            path = opinion_path(attempt, self._audit.name, self._auditor.name)
            if (
                opinion.problem is None or not path.exists()
            ):  # no failure takes the place of an earlier opinion
                await asyncio.to_thread(write_opinion, path, opinion)
        done = AuditedTrial(key, opinion, found.cached)
        self._done += 1
        self._watch(self._done, self._total, done)
        return done


def _read(attempt: Attempt, task: Task) -> tuple[RecordText, dict[str, bool]]:
    """The record as the judge sees it; and the requirements that it may speak of, with whether the agent was told."""
    events = attempt.read().events
    ledger = recorded_ledger(events, blob_reader(attempt.blobs))
    moved = (event.body["requirement"] for event in events if event.kind is EventKind.REQUIREMENT_MOVED)
    ids: Sequence[str] = ledger.ids if ledger else tuple(dict.fromkeys(moved))
    told = told_requirements(events)
    return attempt_text(attempt, task, events=events), {name: name in told for name in ids}
