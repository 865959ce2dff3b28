"""The users of a trial at their moments: asked what they do, and what they decide carried out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from fourhands.gateway.shared_workspace import Changes, SharedWorkspace
from fourhands.gateway.spoken import SpokenMessages
from fourhands.gateway.threads import Thread
from fourhands.gateway.totals import Totals
from fourhands.model.errors import FourhandsError
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.ledger_state import LedgerState, RequirementState
from fourhands.model.user import (
    Act,
    Answer,
    Intervene,
    Moment,
    MoveRequirement,
    Occasion,
    Speak,
    TalkMove,
    User,
    Utterance,
)
from fourhands.model.view import NO_VIEW, WorkspaceView
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.talk_bodies import (
    moved_json,
    objections_json,
    rejected_json,
    talk_json,
    usage_json,
)

__all__ = ["Emit", "Users"]


class Emit(Protocol):
    """Appends an event to the trial's record."""

    def __call__(
        self,
        actor: Actor,
        kind: EventKind,
        body: dict[str, Any],
        *,
        thread: str = MAIN_THREAD,
        durable: bool = False,
    ) -> None:
        """Every user sees it."""


class Users:
    """All who share the workspace with the agent, in the order in which they are asked."""

    def __init__(
        self,
        users: Sequence[User],
        *,
        emit: Emit,
        workspace: SharedWorkspace,
        totals: Totals,
        blobs: BlobStore,
        framing: str | None = None,
        view: Callable[[Emit], WorkspaceView] | None = None,
    ) -> None:
        """Nothing was decided yet.

        Args:
            users: each sees every event.
            emit: writes the record.
            workspace: which they edit.
            totals: in which their acts are counted.
            blobs: where large payloads go.
            framing: how a message is worded, with ``{message}`` in it; as it is when ``None``.
            view: makes what they see of the workspace; nothing when ``None``.
        """
        self._users = tuple(users)
        self._emit = emit
        self._workspace = workspace
        self._totals = totals
        self._blobs = blobs
        self._framing = framing
        self._view = NO_VIEW if view is None else view(emit)
        self._requirements = LedgerState.of(())
        self.spoken = SpokenMessages(lambda kind, body: emit(Actor.HARNESS, kind, body))

    def want(self, moment: Moment) -> bool:
        """Whether any of them is to be asked at this moment."""
        return any(moment in user.moments for user in self._users)

    def observe(self, event: Event) -> None:
        """Let each see an event."""
        self._requirements.observe(event)
        for user in self._users:
            user.observe(event)

    def saw_change(
        self, changes: Changes, actor: Actor, intervention: str | None = None, *, thread: str = MAIN_THREAD
    ) -> None:
        """Record what changed in the workspace, if anything did."""
        if changes.files:
            self._emit(
                actor,
                EventKind.WORKSPACE_CHANGED,
                {
                    "by": actor.value,
                    "intervention": intervention,
                    "tree": changes.tree,
                    "files": changes.files,
                    "lines": changes.owners,
                    "user_lines": changes.user_lines,
                    "regions": changes.regions,
                },
                thread=thread,
            )

    async def act(self, moment: Moment, thread: Thread, batch: tuple[str, ...]) -> bool:
        """Ask what they do at this moment, of the actions in ``batch``, and carry it out.

        Returns:
            Whether anything was said.
        """
        has_spoken = False
        for user in self._users:
            if moment not in user.moments:
                continue
            for act in await user.decide(moment, self._view):
                match act:
                    case Intervene():
                        await self._intervene(user, act, moment, thread, batch)
                    case Speak():
                        self._say(None, act.said, thread, batch, act.move)
                        has_spoken = True
                    case MoveRequirement():
                        self._move(act)
                    case Answer():  # nothing was asked
                        pass
        return has_spoken

    async def decide_on_question(self) -> list[Act]:
        """What they do about the question that was asked last; carried out by `answer`."""
        return [
            act
            for user in self._users
            if Moment.ASKED in user.moments
            for act in await user.decide(Moment.ASKED, self._view)
        ]

    def answer(self, question: str, acts: Sequence[Act], elapsed: float) -> str:
        """Carry out what was decided on a question; the first answer to it counts.

        Raises:
            FourhandsError: nobody answers it.
        """
        said: Utterance | None = None
        for act in acts:
            if isinstance(act, MoveRequirement):
                self._move(act)
            elif isinstance(act, Answer) and act.question_id == question and said is None:
                said = act.said
                self._totals.user_usage += said.usage
                words = {"text": said.text, **self._source_json(said), "elapsed": elapsed}
                body = {"question": question, **words, **talk_json(act.move)}
                self._emit(Actor.USER, EventKind.ANSWERED, body, durable=True)
        if said is None:
            raise FourhandsError("nobody is there to answer")
        return said.text

    def _move(self, act: MoveRequirement) -> None:
        """Record a step, unless the requirement has left the state that it was decided on meanwhile."""
        held = RequirementState.HELD
        if self._requirements.states.get(act.requirement, held) is not act.before:
            return
        self._emit(Actor.USER, EventKind.REQUIREMENT_MOVED, moved_json(act))

    async def _intervene(
        self, user: User, act: Intervene, moment: Moment, thread: Thread, batch: tuple[str, ...]
    ) -> None:
        why = {
            "intervention": act.intervention_id,
            "moment": moment.value,
            "why": act.reason,
            "calls": list(batch),
        }
        if act.shadow_of:
            self._totals.interventions["shadow"] += 1
            body = {**why, "conditions": list(act.shadow_of)}
            self._emit(Actor.HARNESS, EventKind.SHADOW_TRIGGER_FIRED, body, thread=thread.name)
            return
        self._totals.interventions["triggered"] += 1
        self._emit(Actor.USER, EventKind.TRIGGER_FIRED, why, thread=thread.name, durable=True)
        if act.patch is not None:
            if moment is Moment.BEFORE_ACTION:  # the last look was before the model took its time
                self.saw_change(await self._workspace.observe(), Actor.AGENT, thread=thread.name)
            if not await self._edit(act.intervention_id, act.patch, thread):
                return
        if act.message is not None:
            said = await user.phrase(Occasion(act.intervention_id, act.message, act.patch))
            self._say(act.intervention_id, said, thread, batch)

    async def _edit(self, intervention: str, patch: bytes, thread: Thread) -> bool:
        """Make the user's edit; say whether the workspace now holds it because of that."""
        name = {"intervention": intervention}
        intended = {**name, "patch": self._blobs.put(patch)}
        self._emit(Actor.USER, EventKind.EDIT_INTENDED, intended, durable=True)
        done = await self._workspace.edit(intervention)
        self.saw_change(done.by_agent, Actor.AGENT, thread=thread.name)
        self.saw_change(done.by_user, Actor.USER, intervention)
        body = {**name, "outcome": done.outcome.value, "detail": done.detail}
        if not done.outcome.is_delivered:
            self._emit(Actor.USER, EventKind.EDIT_NOT_APPLIED, body, durable=True)
            return False
        self._totals.interventions["delivered"] += 1
        files = [
            {"path": file["path"], "lines": [hunk[2:] for hunk in file["hunks"]]}
            for file in done.by_user.files
        ]
        self._emit(Actor.USER, EventKind.EDIT_APPLIED, {**body, "files": files}, durable=True)
        return True

    def _say(
        self,
        intervention: str | None,
        said: Utterance,
        thread: Thread,
        batch: tuple[str, ...],
        move: TalkMove | None = None,
    ) -> None:
        """Say it to the main loop: at once, or with its next actions where a sub-agent gave the occasion."""
        text = self._framing.replace("{message}", said.text) if self._framing else said.text
        message_id = self.spoken.add(text, batch, adrift=not thread.is_main)
        self._totals.interventions["messages"] += 1
        self._totals.user_usage += said.usage
        body: dict[str, Any] = {
            "message": message_id,
            "intervention": intervention,
            "text": said.text,
            **({"framed": text} if self._framing else {}),
            "anchor": list(batch) if thread.is_main else [],
            **self._source_json(said),
            **talk_json(move),
        }
        self._emit(Actor.USER, EventKind.MESSAGE_SENT, body, durable=True)

    def _source_json(self, said: Utterance) -> dict[str, Any]:
        """Where words come from: fixed, or a model's, with what it took."""
        refused = rejected_json(said.rejected)
        if said.model is None:
            return {
                "source": said.source,
                **({"rejected": refused} if refused else {}),
                **objections_json(said),
            }
        return {
            "source": said.source,
            "model": said.model,
            "usage": usage_json(said.usage),
            "rejected": refused,
            **objections_json(said),
            **({"exchanges": [self._blobs.put(each) for each in said.exchanges]} if said.exchanges else {}),
        }
