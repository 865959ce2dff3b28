"""T2: how large the user's edits are beside the reference repairs, in changed lines and files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from fourhands.analysis.study import Study, TaskInfo

__all__ = ["REFERENCE", "PatchSize", "PatchSizeRow", "patch_size", "patch_size_table"]

REFERENCE: Final = "reference"
"""What a row is of, where it is not a condition's edits."""

_HUNK: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class PatchSize:
    """``lines`` are added and removed ones, ``files`` the different ones, whose contents or names or modes change."""

    lines: int
    files: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class PatchSizeRow:
    """On one benchmark, the mean over ``tasks`` that have such a patch.

    ``of`` is ``reference``, or the label of a condition. Where every task's interventions repeat one patch it counts
    once; else the lines of all interventions are ``summed``, repeated or not. A file that several of them change is
    one.
    """

    benchmark: str | None
    of: str
    tasks: int
    lines: float
    files: float
    summed: bool


def patch_size(diff: str | bytes) -> PatchSize:
    """Measure a git diff.

    Hunks are read by the counts in their headers, so that a changed line which looks like a header is none.
    """
    lines = 0
    files: list[bytes] = []
    old = new = 0
    for line in (diff.encode("utf-8", "surrogateescape") if isinstance(diff, str) else diff).split(b"\n"):
        if old > 0 or new > 0:
            sign = line[:1]
            if sign == b"\\":  # "No newline at end of file" is about the line before
                continue
            lines += sign in {b"+", b"-"}
            old -= sign != b"+"
            new -= sign != b"-"
        elif hunk := _HUNK.match(line):
            old, new = (1 if count is None else int(count) for count in hunk.groups())
        elif line.startswith(b"diff --git "):
            files.append(_target(line.removeprefix(b"diff --git ")))
        elif line.startswith((b"rename to ", b"copy to ")):
            files[-1:] = [line.split(b" to ", 1)[1]]
    return PatchSize(lines, frozenset(files))


def patch_size_table(study: Study) -> list[PatchSizeRow]:
    """Per benchmark the reference, where it is told, and each condition's edits.

    A task of several runs counts once.
    """
    found: dict[tuple[str | None, str], dict[tuple[str, str], Sequence[str]]] = defaultdict(dict)
    for task in (task for run in study.runs for task in run.tasks):
        for of, patches in _patches(task):
            found[task.benchmark, of].setdefault((task.name, task.digest), patches)
    order = list(dict.fromkeys(benchmark for benchmark, _ in found))
    keys = sorted(found, key=lambda key: (order.index(key[0]), key[1] != REFERENCE))
    return [_row(benchmark, of, list(found[benchmark, of].values())) for benchmark, of in keys]


def _row(benchmark: str | None, of: str, tasks: Sequence[Sequence[str]]) -> PatchSizeRow:
    summed = any(len(set(patches)) > 1 for patches in tasks)
    sizes = [[patch_size(patch) for patch in (patches if summed else patches[:1])] for patches in tasks]
    return PatchSizeRow(
        benchmark=benchmark,
        of=of,
        tasks=len(tasks),
        lines=fmean(sum(size.lines for size in each) for each in sizes),
        files=fmean(len(frozenset[bytes]().union(*(size.files for size in each))) for each in sizes),
        summed=summed,
    )


def _patches(task: TaskInfo) -> Iterable[tuple[str, Sequence[str]]]:
    if task.reference:
        yield REFERENCE, (task.reference,)
    yield from ((label, patches) for label, patches in task.patches.items() if patches)


def _target(names: bytes) -> bytes:
    """The path after the change, of ``a/OLD b/NEW`` with equal halves; a rename tells its own."""
    half = len(names) // 2 + 1
    return names[half:].strip(b'"').removeprefix(b"b/")
