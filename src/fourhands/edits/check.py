"""What must hold of a task and its edits, by execution: the verifier runs on each composed state."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from fourhands.edits.records import (
    NotApplicable,
    co_edit_interventions,
    counter_edit_interventions,
    load_record,
)
from fourhands.engine.session import base_objects
from fourhands.engine.verification import verify
from fourhands.model.intervention import Intervention
from fourhands.model.outcome import Verdict
from fourhands.tasks.folder import Task
from fourhands.tasks.prepare import prepare
from fourhands.workspace.compose import Conflict, compose
from fourhands.workspace.merge import regenerate
from fourhands.workspace.store import ObjectStore

__all__ = ["Check", "check_task"]


@dataclass(frozen=True, slots=True)
class Check:
    """One composed state. ``expected`` is what a sound task shows; ``None`` where either is legitimate."""

    state: str
    found: str
    expected: str | None
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether what was found is what a sound task shows."""
        return self.expected is None or self.found == self.expected


async def check_task(task: Task) -> AsyncIterator[Check]:
    """Verify the base, the reference, and every distinct edit alone and with the reference (three-way).

    A sound task fails on the base and is resolved by the reference; its Counter-Edit solves nothing alone and
    spoils the reference; its Co-Edit solves nothing alone. What a Co-Edit and the reference make together is
    reported, not expected.

    Raises:
        FourhandsError: the task cannot be prepared, or an edit does not apply to its base.
    """
    spec = await prepare(task.directory)
    objects, base = base_objects(spec.repository)
    with tempfile.TemporaryDirectory() as folder:
        store = ObjectStore(Path(folder) / "objects.git", base=objects)

        async def check(state: str, tree: str, expected: Verdict | None) -> Check:
            result = await verify(task, store, base, tree)
            report = result.report
            passed = sum(status.is_pass for status in report.fail_to_pass.values())
            detail = f"{passed} of {len(task.tests.decisive(task.tests.fail_to_pass))} to be fixed pass"
            if broken := [name for name in report.failed if name in report.pass_to_pass]:
                detail += f"; broken: {', '.join(broken[:3])}{'…' if len(broken) > 3 else ''}"  # noqa: PLR2004
            return Check(state, result.verdict.value, expected, detail)

        yield await check("base", base, Verdict.UNRESOLVED)
        reference = regenerate(store, base, task.reference).edited_tree
        yield await check("reference", reference, Verdict.RESOLVED)
        for name, patch, spoils in _edits(task):
            edited = regenerate(store, base, patch).edited_tree
            yield await check(f"{name} alone", edited, Verdict.UNRESOLVED)
            both = compose(store, base, edited, reference)
            state = f"{name}, then reference"
            if isinstance(both, Conflict):
                yield Check(state, "conflict", None, f"three-way merge of {', '.join(both.paths)}")
            else:
                yield await check(state, both.tree, Verdict.UNRESOLVED if spoils else None)


def _edits(task: Task) -> list[tuple[str, bytes, bool]]:
    """Distinct edits of the task's record: name, patch, and whether it must spoil the reference."""
    if task.record is None:
        return []
    record = load_record(task.record)
    counter = counter_edit_interventions(record, len(record.counter_edit.interventions))
    patches = list(dict.fromkeys(_patches(counter)))
    names = (
        ["Counter-Edit"] if len(patches) == 1 else [f"Counter-Edit {n}" for n in range(1, len(patches) + 1)]
    )
    edits = [(name, patch, True) for name, patch in zip(names, patches, strict=True)]
    return edits + [("Co-Edit", patch, False) for patch in _patches(co_edit_interventions(record))]


def _patches(planned: tuple[Intervention, ...] | NotApplicable) -> list[bytes]:
    if isinstance(planned, NotApplicable):
        return []
    return [intervention.patch for intervention in planned if intervention.patch is not None]
