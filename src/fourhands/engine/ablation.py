"""Causal ablation: did the user's edit cause the failure? Decided by execution, without any judge.

Population: scored trials that are unresolved and into which at least one edit was delivered.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fourhands.engine.ablation_case import Case, read_case
from fourhands.engine.conclusion import conclude
from fourhands.engine.further_probes import probe_further
from fourhands.engine.planned import unchanged_task
from fourhands.engine.session import base_objects
from fourhands.engine.verdicts import Verdicts
from fourhands.model.ablation import Ablation, Probe, ProbeName, VerdictSource
from fourhands.model.errors import InputError
from fourhands.model.outcome import Verdict
from fourhands.model.trial import TrialKey
from fourhands.model.verifier_rubric import RubricJudge
from fourhands.tasks.folder import Task
from fourhands.tasks.repository import base_repository
from fourhands.tasks.testrun import verdict_key
from fourhands.trajectories.ablations import printable_path, read_ablation, write_ablation
from fourhands.trajectories.run_folder import RunFolder
from fourhands.workspace.compose import Conflict, MergedTree
from fourhands.workspace.counterfactual import Counterfactuals, counterfactuals
from fourhands.workspace.edit import CompiledEdit, regenerate
from fourhands.workspace.part import Scope
from fourhands.workspace.standing import user_edits
from fourhands.workspace.store import ObjectStore

__all__ = ["Ablated", "Watch", "ablate_run"]


@dataclass(frozen=True, slots=True)
class Ablated:
    """The ablation of one trial; ``kept`` if it had been done before."""

    key: TrialKey
    attempt: int
    ablation: Ablation
    kept: bool


Watch = Callable[[int, int, Ablated], None]
"""Called when one is done: how many are, of how many, and which."""


async def ablate_run(
    folder: RunFolder, *, concurrency: int, watch: Watch, rubric_judge: RubricJudge | None = None
) -> tuple[Ablated, ...]:
    """Ablate all failed touched trials of a run that are not ablated yet; write each attempt's ``ablation.json``.

    Args:
        folder: of a run, held by this process.
        concurrency: trials at once.
        watch: called in the order in which they are done.
        rubric_judge: the run's own, for tasks whose verifier has a rubric.

    Returns:
        Those of the whole population, in the plan's order.

    Raises:
        InputError: a task, its verifier or its environment is not what it was; or a file of the run is wrong.
        FourhandsError: the environment cannot be prepared, or a sandbox failed. What was done is kept.
    """
    plan = folder.plan()
    cases = [case for trial in plan.trials if (case := read_case(folder, plan, trial))]
    tasks = {
        name: unchanged_task(folder, plan, name) for name in dict.fromkeys(case.key.task for case in cases)
    }
    verdicts = Verdicts(rubric_judge=rubric_judge)
    slots = asyncio.Semaphore(concurrency)
    done = 0

    async def work(case: Case) -> Ablated:
        nonlocal done
        async with slots:
            there = read_ablation(case.attempt)
            if there and (there.tree, there.key) != (case.tree, case.verdict_key):
                there = None
            kept = there is not None and there.is_final and there.is_typed
            if there is None or not kept:
                known = there.probes if there else ()
                there = await _ablate(case, tasks[case.key.task], verdicts, rubric_judge, known)
                write_ablation(case.attempt, there)
        done += 1
        ablated = Ablated(case.key, case.attempt.number, there, kept)
        watch(done, len(cases), ablated)
        return ablated

    try:
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(work(case)) for case in cases]
    except ExceptionGroup as errors:
        # The command line tells one error, and the first stopped the rest.
        raise errors.exceptions[0] from None
    return tuple(task.result() for task in running)


async def _ablate(
    case: Case,
    task: Task,
    verdicts: Verdicts,
    rubric_judge: RubricJudge | None,
    known: Sequence[Probe],
) -> Ablation:
    judge = rubric_judge.version if rubric_judge and task.rubric else None
    if verdict_key(case.tree, task, judge=judge) != case.verdict_key:
        raise InputError(
            f"{case.attempt.path}: was verified by another verifier or in another environment than there is here "
            "now, so nothing could be compared with its verdict: ablate it where it ran, or run it again"
        )
    objects, base_tree = await asyncio.to_thread(_base, task)
    if base_tree != case.base_tree:
        raise InputError(
            f"{case.attempt.path}: started from {case.base_tree}, and the task's base is {base_tree}"
        )
    with tempfile.TemporaryDirectory() as scratch:
        ObjectStore(case.attempt.objects_path, base=objects)  # its base lies where this machine keeps it
        store = ObjectStore(Path(scratch) / "objects.git", base=case.attempt.objects_path)
        reference = await asyncio.to_thread(regenerate, store, case.base_tree, task.reference)
        states = await asyncio.to_thread(_compose, store, case, reference)
        paths = tuple(printable_path(os.fsdecode(file.path)) for file in reference.files)
        probing = _Probing(case, task, store, verdicts, known)
        found = await conclude(states, probing)
        # What ran out of time is done again before anything is built on it.
        is_sure = not any(probe.timed_out for probe in probing.done)
        # The types are of an edit that conflicts: of any other there is none to tell.
        if is_sure and case.key.condition.conflicts:
            await probe_further(
                states,
                found,
                probing,
                made=tuple(probing.done),
                earlier=case.earlier,
                is_off_target=case.aim.is_off(paths),
            )
    return Ablation(
        conclusion=found.conclusion,
        by=found.by,
        detail=found.detail + _out_of_time(probing.done),
        stood=states.stood,
        user_lines=case.user_lines,
        tree=case.tree,
        key=case.verdict_key,
        probes=tuple(probing.done),
        reference_paths=paths,
        is_typed=is_sure,
    )


def _base(task: Task) -> tuple[Path, str]:
    return base_objects(base_repository(task))


def _compose(store: ObjectStore, case: Case, reference: CompiledEdit) -> Counterfactuals:
    return counterfactuals(store, case.tree, user_edits(store, case.changes), reference, case.regions)


def _out_of_time(probes: Sequence[Probe]) -> str:
    names = ", ".join(dict.fromkeys(probe.name for probe in probes if probe.timed_out))
    return f"; the tests ran out of time on {names}: ablate again to be sure" if names else ""


@dataclass
class _Probing:
    """Verifies states of one trial, and keeps what was found; ``known`` is what was found of it before."""

    case: Case
    task: Task
    store: ObjectStore
    verdicts: Verdicts
    known: Sequence[Probe] = ()
    done: list[Probe] = field(default_factory=list)

    async def __call__(
        self,
        name: ProbeName,
        state: MergedTree | Conflict,
        scope: Scope | None = None,
        seq: int | None = None,
    ) -> Probe:
        probe = replace(await self._probe(name, state, scope), seq=seq)
        self.done.append(probe)
        return probe

    async def _probe(self, name: ProbeName, state: MergedTree | Conflict, scope: Scope | None) -> Probe:
        if isinstance(state, Conflict):
            return Probe(name, Verdict.NONE, scope=scope, conflicts=tuple(map(printable_path, state.paths)))
        if state.tree == self.case.tree:
            key = self.case.verdict_key
            return Probe(name, Verdict.UNRESOLVED, state.tree, key, source="trial", scope=scope)
        for before in self.known:
            if before.tree == state.tree and not before.timed_out:
                return replace(before, name=name, scope=scope, source="cache")
        known = await self.verdicts.of(self.task, self.store, self.case.base_tree, state.tree)
        source: VerdictSource = "cache" if known.cached else "verifier"
        return Probe(
            name,
            known.verdict,
            state.tree,
            known.key,
            known.seconds,
            source,
            scope,
            timed_out=known.timed_out,
        )
