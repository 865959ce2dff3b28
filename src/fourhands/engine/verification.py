"""A final state of a repository -> a verdict, in a sandbox that the agent has never been in."""

from __future__ import annotations

from dataclasses import dataclass

from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.outcome import Verdict
from fourhands.tasks.cache import cache_root
from fourhands.tasks.folder import Task
from fourhands.tasks.prepare import prepare
from fourhands.tasks.testrun import TestReport, run_tests, verdict_key
from fourhands.workspace.layout import lay_tree
from fourhands.workspace.store import ObjectStore

__all__ = ["Verification", "verify"]


@dataclass(frozen=True, slots=True)
class Verification:
    """What the verifier found. ``key`` names the repository state, the verifier and the environment it ran in."""

    key: str
    verdict: Verdict
    reward: float
    report: TestReport


async def verify(task: Task, store: ObjectStore, base_tree: str, tree: str) -> Verification:
    """Lay ``tree`` over the task's repository in a fresh sandbox and run the hidden tests there.

    Raises:
        FourhandsError: the environment cannot be prepared, or the sandbox failed.
    """
    spec = await prepare(task.directory)
    sandbox = LocalSandbox(spec, cache_root() / "sandboxes")
    await sandbox.start()
    try:
        await lay_tree(sandbox, store, base_tree, tree)
        report = await run_tests(sandbox, task)
    finally:
        await sandbox.stop()
    verdict = Verdict.RESOLVED if report.resolved else Verdict.UNRESOLVED
    return Verification(verdict_key(tree, task), verdict, float(report.resolved), report)
