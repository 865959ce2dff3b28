"""The checkpoints of a conversation: the plan, each commit, and the files as they stand, with what each is worth."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from fourhands.gateway.shared_workspace import SharedWorkspace
from fourhands.gateway.state_checks import StateChecks
from fourhands.gateway.users import Emit
from fourhands.model.checkpoint import PLAN_FILE, CheckpointKind
from fourhands.model.event import Actor, EventKind
from fourhands.model.ledger import Ledger
from fourhands.model.rubric import goal_scores, requirement_results, rubric_score
from fourhands.model.test_paths import is_test_path
from fourhands.trajectories.blobs import BlobStore
from fourhands.workspace.changes import FileChange
from fourhands.workspace.commits import Commit, CommitReader, Reading
from fourhands.workspace.root_file import root_file, with_root_file
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import SYMLINK, Entry

__all__ = ["ConversationCheckpoints"]

_MOST_PATHS: Final = 1000
"""Paths that one event names."""
_MOST_PLAN: Final = 1 << 18
"""Bytes of a plan that are read."""


@dataclass(frozen=True, slots=True)
class _State:
    """Files to be measured.

    ``tree`` is what the event names and the checks run on, ``code`` what is compared, which leaves out what no commit
    would hold; ``before`` is what ``code`` is compared to. ``facts`` are fields of the event.
    """

    kind: CheckpointKind
    tree: str
    code: str
    before: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Worth:
    """What a state is worth, and by whose word."""

    requirements: Mapping[str, bool | None]
    source: Literal["checks", "hidden-tests", "words"] | None
    checks: Mapping[str, bool | None] | None = None
    problem: str | None = None


class ConversationCheckpoints:
    """Writes the ``checkpoint`` events of one trial; the plan file is no part of any state's difference.

    The difference of a state is that to the state before: of a commit to what it took the place of (so that an
    amended commit counts what the amendment changed), or, begun elsewhere, to its first parent, unless the state
    before is nearer. So the changed lines
    of all states but plans are the lines that were written and taken out on the way to the last.
    """

    def __init__(
        self,
        *,
        workspace: SharedWorkspace,
        commits: CommitReader,
        store: ObjectStore,
        blobs: BlobStore,
        emit: Emit,
        ledger: Ledger,
        checks: StateChecks,
        words: Callable[[str], Mapping[str, bool]],
    ) -> None:
        """Nothing was taken yet.

        Args:
            workspace: whose snapshot has just been taken whenever a checkpoint is.
            commits: reads the agent's; already started.
            store: the trial's objects.
            blobs: where diffs and plans go.
            emit: writes the record.
            ledger: of the task.
            checks: run its checks on a tree.
            words: which requirements a text takes up, by id: what a plan is worth.
        """
        self._workspace = workspace
        self._commits = commits
        self._store = store
        self._blobs = blobs
        self._emit = emit
        self._ledger = ledger
        self._checks = checks
        self._words = words
        self._base = workspace.base_tree
        self._last = self._base
        self._is_open = False
        """Whether that state was, when it was last told, of files that are in no commit."""
        self._test_commits: list[str] = []
        self._newest: str | None = None
        self._trees: dict[str, str] = {}
        self._own = root_file(store, self._base, PLAN_FILE)
        """The base's file of the plan's name, mostly none: it is no plan of the agent's."""
        self._plans: list[Entry] = []
        self._noted: set[str] = set()
        self._taken = 0
        self._is_first_question = True

    async def take(self, kind: CheckpointKind, *, elapsed: float, question: str | None = None) -> None:
        """See `Checkpoints.take`: plans and commits that are new, then the files as they stand.

        These are left out when the agent asks and nothing but the plan has changed since the state before, nor
        whether it is committed.

        Raises:
            SandboxError: the agent's sandbox is gone.
        """
        tree = self._workspace.tree
        reading = await self._commits.read(tree)
        for problem in reading.problems:
            if problem not in self._noted:
                self._noted.add(problem)
                self._emit(Actor.HARNESS, EventKind.NOTE, {"note": "history_unreadable", "reason": problem})
        if reading.commits:  # they come first on record, and last in time
            standing = reading.standing.tree if kind is CheckpointKind.WORKING else tree
            newest_first = [standing, *(commit.tree for commit in reversed(reading.commits))]
            await self._look(newest_first, kind)
        for commit in reading.commits:
            await self._take_plan(commit.tree, commit.sha, elapsed)
            await self._take_commit(commit, elapsed)
        await self._take_plan(tree, None, elapsed)  # of all files: the repository may ignore its plan
        if question is not None:
            await self._take_words(question, reading, elapsed)
        await self._take_files(kind, tree, reading, elapsed)

    async def _take_plan(self, tree: str, commit: str | None, elapsed: float) -> None:
        """The plan file, if it is new or changed."""
        plan = await asyncio.to_thread(root_file, self._store, tree, PLAN_FILE)
        seen = {each.blob for each in (*self._plans, self._own) if each}
        if plan is None or plan.mode == SYMLINK or plan.blob in seen:
            return
        before = self._plans[-1] if self._plans else self._own
        self._plans.append(plan)
        text = await asyncio.to_thread(self._store.get_blob, plan.blob)
        diff = await asyncio.to_thread(self._plan_diff, before, plan)
        self._emit_plan(text, tree, diff=diff, files=[PLAN_FILE], commit=commit, elapsed=elapsed)

    async def _take_words(self, question: str, reading: Reading, elapsed: float) -> None:
        """What the agent says first stands for its plan, if it has neither saved one nor changed anything."""
        is_first, self._is_first_question = self._is_first_question, False
        code = await self._code(reading.standing.tree)
        has_begun = code != self._base and self._workspace.agent_has_changed
        if is_first and not self._plans and not self._trees and not has_begun:
            text = question.encode("utf-8", "surrogatepass")
            self._emit_plan(text, reading.standing.tree, diff=b"", files=[], commit=None, elapsed=elapsed)

    def _emit_plan(
        self, text: bytes, tree: str, *, diff: bytes, files: list[str], commit: str | None, elapsed: float
    ) -> None:
        taken_up = self._words(text[:_MOST_PLAN].decode("utf-8", "replace"))
        body = {
            "commit": commit,
            "subject": None,
            "amended": False,
            "merge": False,
            "tree": tree,
            "before": self._last,
            "diff": self._blobs.put(diff),
            "additions": 0,
            "deletions": 0,
            "files": files,
            "tests_only": False,
            "text": self._blobs.put(text),
        }
        requirements = {name: taken_up.get(name) for name in self._ledger.ids}
        self._emit_checkpoint(CheckpointKind.PLAN, body, _Worth(requirements, "words"), elapsed)

    async def _take_commit(self, commit: Commit, elapsed: float) -> None:
        first = commit.parents[0] if commit.parents else None
        code = await self._code(commit.tree)
        before = self._last
        if self._newest not in {first, commit.replaces, None}:
            begun = self._trees.get(commit.replaces or "") or self._trees.get(first or "") or self._base
            before = await asyncio.to_thread(self._nearer, begun, before, code)
        is_of_tests = await self._is_of_tests(commit, code)
        if is_of_tests:
            self._test_commits.append(commit.sha)
        facts = {
            "commit": commit.sha,
            "subject": commit.subject,
            "amended": commit.replaces is not None,
            "merge": commit.is_merge,
            "committed": commit.time,
            "commit_tests_only": is_of_tests,
        }
        await self._measure(_State(CheckpointKind.COMMIT, commit.tree, code, before, facts), elapsed)
        self._is_open = False
        self._newest, self._trees[commit.sha] = commit.sha, code

    def _nearer(self, begun: str, last: str, code: str) -> str:
        """Of where a commit began and the state before it, the one with fewer changed lines to it.

        A squashed commit took the place of its first, and still has written nothing anew.
        """
        begun_lines, last_lines = (
            sum(_lines(self._store.diff(before, code)).values()) for before in (begun, last)
        )
        return last if last_lines < begun_lines else begun

    async def _is_of_tests(self, commit: Commit, code: str) -> bool:
        """Whether a commit, as history has it, holds tests alone: whatever was seen of them before."""
        if commit.parent_tree is None or commit.is_merge:
            return False
        changes = await asyncio.to_thread(self._store.diff, await self._code(commit.parent_tree), code)
        return bool(changes) and all(is_test_path(change.path) for change in changes)

    async def _take_files(self, kind: CheckpointKind, tree: str, reading: Reading, elapsed: float) -> None:
        """The files as they stand: what a commit of all would hold when the agent asks, later all of them."""
        standing = reading.standing
        code = await self._code(standing.tree)
        if kind is CheckpointKind.WORKING:
            if code == self._last and self._is_open is not standing.is_clean:
                return
            tree = standing.tree
        if not reading.commits:
            await self._look([tree], kind)
        uncommitted = standing.uncommitted
        facts = {
            "commit": standing.head if standing.is_clean else None,
            "subject": None,
            "amended": False,
            "merge": False,
            "uncommitted": None if uncommitted is None else list(uncommitted[:_MOST_PATHS]),
            "has_base": standing.has_base,
            "test_commits": None
            if standing.head is None
            else [sha for sha in self._test_commits if sha in standing.history][:_MOST_PATHS],
        }
        problem = "; ".join(reading.problems) or None
        await self._measure(_State(kind, tree, code, self._last, facts), elapsed, problem)
        self._is_open = not standing.is_clean

    async def _measure(self, state: _State, elapsed: float, problem: str | None = None) -> None:
        report = self._checks[await self._code(state.tree)]
        compared = await asyncio.to_thread(self._compared, state.before, state.code)
        body = {**state.facts, "tree": state.tree, "before": state.before, **compared}
        source: Literal["checks", "hidden-tests"] | None = None
        if any(result is not None for result in report.results.values()):
            source = "hidden-tests" if self._ledger.is_verifier_informed else "checks"
        worth = _Worth(
            requirement_results(self._ledger, report.results),
            source,
            dict(report.results) or None,
            "; ".join(each for each in (problem, report.problem) if each) or None,
        )
        self._last = state.code
        self._emit_checkpoint(state.kind, body, worth, elapsed)

    def _compared(self, before: str, after: str) -> dict[str, Any]:
        changes = self._store.diff(before, after)
        paths = [change.path for change in changes]
        since_base = self._store.diff(self._base, after)
        return {
            "diff": self._blobs.put(self._store.patch(before, after)),
            **_lines(changes),
            "files": paths[:_MOST_PATHS],
            "tests_only": bool(paths) and all(map(is_test_path, paths)),
            "tests": _lines(_of_tests(changes)),
            "since_base": {**_lines(since_base), "tests": _lines(_of_tests(since_base))},
        }

    async def _look(self, trees: Sequence[str], kind: CheckpointKind) -> None:
        codes = [await self._code(tree) for tree in trees]
        await self._checks.look(codes, is_last=kind is CheckpointKind.END)

    def give_up_checks(self) -> None:
        """See `Checkpoints.give_up_checks`."""
        self._checks.give_up()

    async def _code(self, tree: str) -> str:
        """The tree with the base's plan file, mostly none, in the place of the agent's."""
        return await asyncio.to_thread(with_root_file, self._store, tree, PLAN_FILE, self._own)

    def _plan_diff(self, before: Entry | None, after: Entry) -> bytes:
        none = with_root_file(self._store, self._base, PLAN_FILE, before)
        return self._store.patch(none, with_root_file(self._store, self._base, PLAN_FILE, after))

    def _emit_checkpoint(
        self, kind: CheckpointKind, body: Mapping[str, Any], worth: _Worth, elapsed: float
    ) -> None:
        self._taken += 1
        goals = goal_scores(self._ledger, worth.requirements)
        self._emit(
            Actor.HARNESS,
            EventKind.CHECKPOINT,
            {
                "checkpoint": f"c{self._taken}",
                "of": kind.value,
                **body,
                "checks": None if worth.checks is None else dict(worth.checks),
                "requirements": dict(worth.requirements),
                "goals": goals,
                "score": rubric_score(self._ledger, goals),
                "source": worth.source,
                "problem": worth.problem,
                "elapsed": elapsed,
            },
        )


def _of_tests(changes: Sequence[FileChange]) -> list[FileChange]:
    return [change for change in changes if is_test_path(change.path)]


def _lines(changes: Sequence[FileChange]) -> dict[str, int]:
    return {
        "additions": sum(len(hunk.new) for change in changes for hunk in change.hunks),
        "deletions": sum(len(hunk.old) for change in changes for hunk in change.hunks),
    }
