"""One conversation: what is asked, what the work is worth by then, what the user says; each an event on record."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from fourhands.conversations.exporting.sidecar.checking import Checks
from fourhands.conversations.exporting.sidecar.repository import SharedRepository, State
from fourhands.language.taking_up import takes_up
from fourhands.model.checkpoint import CheckpointKind, CheckReport
from fourhands.model.errors import FourhandsError
from fourhands.model.event import Actor, EventKind
from fourhands.model.ledger import Ledger
from fourhands.model.outlasting import Outlasting
from fourhands.model.rubric import goal_scores, requirement_results, rubric_score
from fourhands.model.test_paths import is_test_path
from fourhands.model.user import Answer, Moment, MoveRequirement, User
from fourhands.model.view import Looked, WorkspaceDiff
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.events import EventLog
from fourhands.trajectories.talk_bodies import (
    moved_json,
    objections_json,
    rejected_json,
    talk_json,
    usage_json,
)

__all__ = ["SidecarConversation"]

_MOST_DIFF: Final = 60_000
"""Characters of a diff that a user sees."""
_MOST_PATHS: Final = 1000


class SidecarConversation:
    """Puts questions to a user, one after the other."""

    def __init__(
        self,
        ledger: Ledger,
        user: User,
        *,
        repository: SharedRepository,
        checks: Checks | None,
        log: EventLog,
        blobs: BlobStore,
    ) -> None:
        """Nothing was said yet.

        Args:
            ledger: of the task.
            user: sees every event of ``log``, which hands them on.
            repository: already started.
            checks: ``None``: what was told is taken to be met.
            log: the record.
            blobs: its large payloads.
        """
        self._ledger = ledger
        self._user = user
        self._repository = repository
        self._checks = checks
        self._log = log
        self._blobs = blobs
        self._began = 0.0
        self._turn = asyncio.Lock()
        self._asked = 0
        self._taken = 0
        self._plan: str | None = None
        self._measured = (repository.base, True)
        self._is_measured = True
        self._shown = repository.base
        self._noted = repository.base
        self._answers = Outlasting()

    async def ask(self, question: str) -> str:
        """The user's answer.

        An agent that hangs up takes nothing back: what is measured for its question, and what the user says to it,
        is on record all the same, and the next question finds it so.

        Raises:
            FourhandsError: nobody answers.
        """
        return await self._answers.wait_for(self._be_asked(question))

    async def _be_asked(self, question: str) -> str:
        async with self._turn:  # one after another, as a person would
            self._asked += 1
            name = f"q{self._asked}"
            self._began = time.monotonic()
            self._log.append(
                Actor.AGENT, EventKind.ASKED, {"question": name, "text": question, "elapsed": 0.0}
            )
            diff = await asyncio.to_thread(self._look)
            acts = await self._user.decide(Moment.ASKED, _Diff(diff))
            answer: str | None = None
            for act in acts:
                if isinstance(act, MoveRequirement):
                    self._move(act)
                elif isinstance(act, Answer):
                    answer = act.said.text
                    self._answer(name, act)
            if answer is None:
                raise FourhandsError("nobody is there to answer")
            return answer

    def _look(self) -> WorkspaceDiff:
        """Measure what is new, and see what changed."""
        try:
            state = self._repository.read()
            self._note_change(state)
            self._take_plan(state)
            self._take_code(state)
            since = self._repository.diff(self._shown, state.tree)[:_MOST_DIFF]
            total = self._repository.diff(self._repository.base, state.tree)[:_MOST_DIFF]
            self._shown = state.tree
            return WorkspaceDiff(since, total, self._repository.paths(self._repository.base, state.tree))
        except (FourhandsError, OSError) as error:  # the conversation goes on, and approves of nothing
            self._take_nothing(str(error))
            return WorkspaceDiff("", "", ())

    def _note_change(self, state: State) -> None:
        """Say that the agent's files are others than when they were last read: nobody else writes there."""
        if state.tree == self._noted:
            return
        before, self._noted = self._noted, state.tree
        body: dict[str, Any] = {
            "by": Actor.AGENT.value,
            "intervention": None,
            "tree": state.tree,
            "files": [asdict(each) for each in self._repository.changes(before, state.tree)[:_MOST_PATHS]],
            "lines": {},
        }
        self._log.append(Actor.AGENT, EventKind.WORKSPACE_CHANGED, body)

    def _take_plan(self, state: State) -> None:
        if state.plan is None or state.plan == self._plan:
            return
        self._plan = state.plan
        words = {each.id: takes_up(each, state.plan) for each in self._ledger.requirements}
        text = self._blobs.put(state.plan.encode("utf-8", "surrogatepass"))
        self._emit(CheckpointKind.PLAN, self._measured[0], state, words, {"source": "words", "text": text})

    def _take_code(self, state: State) -> None:
        now = (state.tree, state.is_committed)
        if now == self._measured and self._is_measured:
            return
        before, self._measured = self._measured[0], now
        report = CheckReport() if self._checks is None else self._checks.run(state.tree)
        self._is_measured = report.problem is None
        kind = CheckpointKind.COMMIT if state.is_committed else CheckpointKind.WORKING
        requirements = requirement_results(self._ledger, report.results)
        results = dict(report.results) or None
        facts = {"source": results and "checks", "checks": results, "problem": report.problem}
        self._emit(kind, before, state, requirements, facts)

    def _take_nothing(self, problem: str) -> None:
        """The repository cannot be read: nothing is known of what it holds now."""
        tree, self._is_measured = self._measured[0], False
        requirements = dict.fromkeys(self._ledger.ids)
        state = State(tree, None, (), None)
        self._emit(CheckpointKind.WORKING, tree, state, requirements, {"source": None, "problem": problem})

    def _emit(
        self,
        kind: CheckpointKind,
        before: str,
        state: State,
        requirements: Mapping[str, bool | None],
        facts: Mapping[str, Any],
    ) -> None:
        """``facts`` are fields of the event; a plan has no difference of its own."""
        self._taken += 1
        after = before if kind is CheckpointKind.PLAN else state.tree
        goals = goal_scores(self._ledger, requirements)
        paths: tuple[str, ...] = ()
        lines, diff = (0, 0), ""
        if before != after:
            paths = self._repository.paths(before, after)
            lines = self._repository.lines(before, after)
            diff = self._repository.diff(before, after)
        body = {
            "checkpoint": f"c{self._taken}",
            "of": kind.value,
            "commit": state.head if state.is_committed and kind is CheckpointKind.COMMIT else None,
            "subject": None,
            "amended": False,
            "merge": False,
            "tree": state.tree,
            "before": before,
            "diff": self._blobs.put(diff.encode()),
            "additions": lines[0],
            "deletions": lines[1],
            "files": list(paths[:_MOST_PATHS]),
            "tests_only": bool(paths) and all(map(is_test_path, paths)),
            "uncommitted": list(state.uncommitted[:_MOST_PATHS]),
            "checks": None,
            "requirements": dict(requirements),
            "goals": goals,
            "score": rubric_score(self._ledger, goals),
            "problem": None,
            **facts,
            "elapsed": self._elapsed(),
        }
        self._log.append(Actor.HARNESS, EventKind.CHECKPOINT, body)

    def _elapsed(self) -> float:
        """Seconds since the question."""
        return round(time.monotonic() - self._began, 3)

    def _move(self, act: MoveRequirement) -> None:
        self._log.append(Actor.USER, EventKind.REQUIREMENT_MOVED, moved_json(act))

    def _answer(self, question: str, act: Answer) -> None:
        said = act.said
        body: dict[str, Any] = {
            "question": question,
            "text": said.text,
            "source": said.source,
            "rejected": rejected_json(said.rejected),
            **objections_json(said),
            "elapsed": self._elapsed(),
        }
        if said.model is not None:
            body |= {"model": said.model, "usage": usage_json(said.usage)}
            body["exchanges"] = [self._blobs.put(each) for each in said.exchanges]
        self._log.append(Actor.USER, EventKind.ANSWERED, body | talk_json(act.move), durable=True)


class _Diff:
    """What changed, and no further looks: the user's container has no view but this."""

    def __init__(self, diff: WorkspaceDiff) -> None:
        self._diff = diff

    async def changes(self) -> WorkspaceDiff:
        return self._diff

    async def look(self, argv: Sequence[str]) -> Looked:
        del argv
        return Looked("", refused="here there is nothing to look at but the diff")
