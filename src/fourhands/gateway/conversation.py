"""A trial as a conversation of events between two pairs of hands over one repository.

The gateway tells it of every request and reply; it folds them into events, asks the users at their moments,
carries out what they decide, and says which messages of theirs a request must carry.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from fourhands.gateway.exchanges import ExchangeRecorder
from fourhands.gateway.shared_workspace import Changes, SharedWorkspace
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.usage import Usage
from fourhands.model.user import Intervene, Moment, Occasion, User, Utterance
from fourhands.touch.actions import action_touches, read_observation
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.events import EventLog
from fourhands.wire.types import Action, ActionResult, Insertion, Json, Reply, Request, Wire

__all__ = ["Admitted", "Conversation", "Totals"]


class Totals:
    """Steps and tokens of a trial so far, counted at the gateway and so the same way for every agent."""

    def __init__(self) -> None:
        self.steps = 0
        self.side_calls = 0
        self.retries = 0
        self.usage = Usage()
        self.uncounted = 0
        """Replies whose provider did not tell their usage: then the tokens are a lower bound."""
        self.provider_failed = False
        """Whether the last call failed by the provider: an agent that ends on that ended because of it."""
        self.interventions = {"triggered": 0, "shadow": 0, "delivered": 0, "messages": 0}
        self.user_usage = Usage()
        """Tokens of the user's own model: never among the agent's."""

    def as_json(self) -> dict[str, Any]:
        """As events and tables carry it."""
        usage = self.usage
        return {
            "steps": self.steps,
            "side_calls": self.side_calls,
            "retries": self.retries,
            "uncounted_replies": self.uncounted,
            "tokens": {
                "input": usage.input,
                "cache_read": usage.cache_read,
                "cache_write": usage.cache_write,
                "output": usage.output,
                "reasoning": usage.reasoning,
                "total": usage.total,
            },
            **self.interventions,
            "user_tokens": self.user_usage.total,
        }


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request as it goes on to the model. ``number`` counts the requests of the trial, from 1."""

    number: int
    body: Json


@dataclass(slots=True)
class _Carried:
    first: int = 0
    last: int = 0
    count: int = 0
    lost: bool = False


@dataclass(frozen=True, slots=True)
class _Pending:
    """A reply of which it is not yet known whether the agent carries on from it."""

    step: int
    calls: tuple[str, ...]
    replies: int

    def is_accepted_by(self, request: Request) -> bool:
        if self.calls:
            # From the end: a history holds thousands of calls, and those asked about are its last.
            return not set(self.calls).isdisjoint(reversed(request.calls))
        return request.replies > self.replies


class Conversation:
    """State of one attempt at a trial. Its methods run on the gateway's loop, one request at a time."""

    def __init__(
        self,
        *,
        log_path: Path,
        blobs: BlobStore,
        users: Sequence[User],
        workspace: SharedWorkspace,
        step_limit: int,
        on_limit: Callable[[], None],
        on_event: Callable[[Event], None],
    ) -> None:
        """Open the record of an attempt.

        Args:
            log_path: the attempt's ``events.jsonl``, not there yet.
            blobs: where large payloads go.
            users: asked in this order; each sees every event.
            workspace: the repository both pairs of hands are on.
            step_limit: accepted replies of the model after which no further request is answered.
            on_limit: called once, when that happens.
            on_event: called with every event, for those who watch.
        """
        self._users = tuple(users)
        self._started: float | None = None
        self._watch = on_event
        self.log = EventLog(log_path, self._observe)
        self.blobs = blobs
        self._exchanges = ExchangeRecorder(blobs)
        self.workspace = workspace
        self.totals = Totals()
        self.failure: str | None = None
        """Why the trial is invalid, once our own side has broken."""
        self._step_limit = step_limit
        self._on_limit = on_limit
        self._lock = asyncio.Lock()
        self._seen: set[str] = set()
        self._actions: dict[str, Action] = {}
        self._pending: list[_Pending] = []
        self._closed = False
        self._insertions: list[Insertion] = []
        self._adrift: set[str] = set()
        """Messages that stood behind actions the agent never took up: they wait for the next ones."""
        self._carried: dict[str, _Carried] = {}
        self._requests = 0
        self._limited = False

    @property
    def holds_replies(self) -> bool:
        """Whether a reply may reach the agent only once the users have had their say: as a whole, not streamed."""
        return any(Moment.BEFORE_ACTION in user.moments for user in self._users)

    @property
    def has_been_asked(self) -> bool:
        """Whether the agent has sent a request yet."""
        return self._requests > 0

    def emit(self, actor: Actor, kind: EventKind, body: dict[str, Any], *, durable: bool = False) -> None:
        """Append an event and let every user see it."""
        self.log.append(actor, kind, body, durable=durable)

    def _observe(self, event: Event) -> None:
        for user in self._users:
            user.observe(event)
        self._watch(event)

    async def before_call(self, wire: Wire, request: Request, body: Json) -> Admitted | None:
        """Take in a request before it goes to the model, with all that the users do and say at this moment.

        Returns:
            The request with the users' messages in it, or ``None`` when the agent has no step left, or no time.
        """
        async with self._lock:
            if self._closed:
                return None
            self._requests += 1
            self._started = self._started or time.monotonic()
            insertions: list[Insertion] = []
            if request.tools:  # else a side request: never a step, never an insertion
                self._settle_pending(request)
                if self.totals.steps >= self._step_limit:
                    if not self._limited:
                        self._limited = True
                        self._on_limit()
                    return None
                fresh = [result for result in request.results if result.call not in self._seen]
                if fresh:
                    await self._after_action(fresh)
                insertions = self._insertions
            prepared, carried = wire.prepare(body, insertions)
            if request.tools:
                self._note_carried(carried)
            return Admitted(self._requests, prepared)

    def _note_carried(self, ids: Sequence[str]) -> None:
        """Record which messages this request carries, and which have lost their place in the history."""
        for insertion in self._insertions:
            carried = self._carried.setdefault(insertion.id, _Carried())
            name = {"message": insertion.id}
            if insertion.id not in ids:
                if not carried.lost and insertion.id not in self._adrift:
                    carried.lost = True
                    self.emit(Actor.HARNESS, EventKind.MESSAGE_LOST, {**name, "request": self._requests})
                continue
            carried.last, carried.lost = self._requests, False
            carried.count += 1
            if carried.count == 1:
                carried.first = self._requests
                first = {**name, "first_request": carried.first}
                self.emit(Actor.HARNESS, EventKind.MESSAGE_CARRIED, first)

    async def after_call(
        self,
        request: Request,
        *,
        number: int,
        status: int,
        reply: Reply | None,
        sent: Json,
        received: bytes,
        milliseconds: float,
        provider_failed: bool,
        raw: bytes | None = None,
    ) -> None:
        """Record an exchange. ``reply`` is ``None`` when the answer was no reply, or did not come.

        ``raw`` is ``sent`` as orjson wrote it, if it did.
        """
        async with self._lock:
            good = reply is not None and reply.complete
            side = not request.tools
            usage = reply.usage if reply else None
            step = None
            if good and not side:
                step = self.totals.steps + 1
            elif good:
                self.totals.side_calls += 1
            self.totals.provider_failed = provider_failed
            if usage:
                self.totals.usage += usage
            elif good:
                self.totals.uncounted += 1
            self.emit(
                Actor.AGENT,
                EventKind.MODEL_CALLED,
                {
                    "request": number,
                    "step": step,
                    "side": side,
                    "model": request.model,
                    "status": status,
                    "complete": good,
                    "usage": _usage_json(usage),
                    "exchange": self._exchanges.record(sent, received, raw),
                    "tools": list(request.tools),
                    "text": self.blobs.put(reply.text.encode("utf-8", "surrogatepass")) if reply else None,
                    "milliseconds": round(milliseconds, 1),
                    "elapsed": self._elapsed(),
                },
            )
            if reply is None or step is None:
                return
            self.totals.steps = step
            calls = _numbered(reply.actions, request.calls) if reply.actions else []
            self._pending.append(_Pending(step, tuple(calls), request.replies))
            for call, action in zip(calls, reply.actions, strict=True):
                self._actions[call] = action
                self.emit(
                    Actor.AGENT,
                    EventKind.ACTION_SEEN,
                    {
                        "step": step,
                        "call": call,
                        "tool": action.tool,
                        "arguments": self.blobs.put(_arguments(action)),
                        "touches": _touches_json(action, None),
                    },
                )
            if calls:
                self._moor(tuple(calls))
                if not self._closed:
                    await self._ask(Moment.BEFORE_ACTION, tuple(calls))

    async def close(self) -> None:
        """Take no more requests; a user's edit that is being made is finished first."""
        async with self._lock:
            self._closed = True

    def fail(self, reason: str) -> None:
        """Our own side broke: the trial is ours to answer for, not the agent's."""
        if self.failure is None:
            self.failure = reason
            self.emit(Actor.HARNESS, EventKind.NOTE, {"note": "harness_failed", "reason": reason})

    async def agent_ended(self) -> None:
        """The agent is gone: take in what it did last, and sum up what was carried."""
        async with self._lock:
            changes = await self.workspace.observe()
            self._emit_changes(changes, Actor.AGENT)
            for message, carried in self._carried.items():
                if carried.count:
                    self.emit(
                        Actor.HARNESS,
                        EventKind.MESSAGE_CARRIED,
                        {
                            "message": message,
                            "first_request": carried.first,
                            "last_request": carried.last,
                            "requests": carried.count,
                        },
                    )

    def _settle_pending(self, request: Request) -> None:
        """A reply the agent does not carry on from was not accepted: the request is a retry, not a step."""
        pending, self._pending = self._pending, []
        for reply in pending:
            if not reply.is_accepted_by(request):
                self.totals.steps -= 1
                self.totals.retries += 1
                self._adrift |= {each.id for each in self._insertions if each.batch == reply.calls}
                self.emit(
                    Actor.HARNESS,
                    EventKind.NOTE,
                    {"note": "reply_not_accepted", "step": reply.step, "calls": list(reply.calls)},
                )

    def _moor(self, batch: tuple[str, ...]) -> None:
        """Let messages that lost their actions before they were ever carried stand behind ``batch``."""
        for place, insertion in enumerate(self._insertions):
            if insertion.id in self._adrift:
                self._insertions[place] = replace(insertion, batch=batch)
                moved = {"note": "message_moved", "message": insertion.id, "anchor": list(batch)}
                self.emit(Actor.HARNESS, EventKind.NOTE, moved)
        self._adrift.clear()

    async def _after_action(self, results: Sequence[ActionResult]) -> None:
        for result in results:
            self._seen.add(result.call)
            seen = read_observation(result.text)
            output = seen.output.encode("utf-8", "surrogatepass")
            action = self._actions.get(result.call)
            self.emit(
                Actor.AGENT,
                EventKind.ACTION_RESULT,
                {
                    "call": result.call,
                    "output": self.blobs.put(output),
                    "bytes": len(output),
                    "code": seen.code,
                    "touches": _touches_json(action, seen.output) if action else [],
                    "elapsed": self._elapsed(),
                },
            )
        self._emit_changes(await self.workspace.observe(), Actor.AGENT)
        await self._ask(Moment.AFTER_ACTION, tuple(result.call for result in results))

    def _elapsed(self) -> float:
        """Seconds since the agent's first request."""
        return round(time.monotonic() - self._started, 3) if self._started else 0.0

    async def _ask(self, moment: Moment, batch: tuple[str, ...]) -> None:
        """Ask the users what they do at this moment, of the actions in ``batch``, and carry it out."""
        for user in self._users:
            if moment not in user.moments:
                continue
            for act in await user.decide(moment):
                await self._carry_out(user, act, moment, batch)

    async def _carry_out(self, user: User, act: Intervene, moment: Moment, batch: tuple[str, ...]) -> None:
        why = {
            "intervention": act.intervention_id,
            "moment": moment.value,
            "why": act.reason,
            "calls": list(batch),
        }
        if act.shadow_of:
            self.totals.interventions["shadow"] += 1
            body = {**why, "conditions": list(act.shadow_of)}
            self.emit(Actor.HARNESS, EventKind.SHADOW_TRIGGER_FIRED, body)
            return
        self.totals.interventions["triggered"] += 1
        self.emit(Actor.USER, EventKind.TRIGGER_FIRED, why, durable=True)
        if act.patch is not None:
            if moment is Moment.BEFORE_ACTION:  # the last look was before the model took its time
                self._emit_changes(await self.workspace.observe(), Actor.AGENT)
            if not await self._edit(act.intervention_id, act.patch):
                return
        if act.message is not None:
            said = await user.phrase(Occasion(act.intervention_id, act.message, act.patch))
            self._say(act.intervention_id, said, batch)

    async def _edit(self, intervention: str, patch: bytes) -> bool:
        """Make the user's edit; say whether the workspace now holds it because of that."""
        name = {"intervention": intervention}
        self.emit(Actor.USER, EventKind.EDIT_INTENDED, {**name, "patch": self.blobs.put(patch)}, durable=True)
        done = await self.workspace.edit(intervention)
        self._emit_changes(done.by_agent, Actor.AGENT)
        self._emit_changes(done.by_user, Actor.USER, intervention)
        body = {**name, "outcome": done.outcome.value, "detail": done.detail}
        if not done.outcome.is_delivered:
            self.emit(Actor.USER, EventKind.EDIT_NOT_APPLIED, body, durable=True)
            return False
        self.totals.interventions["delivered"] += 1
        files = [
            {"path": file["path"], "lines": [hunk[2:] for hunk in file["hunks"]]}
            for file in done.by_user.files
        ]
        self.emit(Actor.USER, EventKind.EDIT_APPLIED, {**body, "files": files}, durable=True)
        return True

    def _say(self, intervention: str, said: Utterance, batch: tuple[str, ...]) -> None:
        message_id = f"m{len(self._insertions) + 1}"
        self._insertions.append(Insertion(message_id, batch, said.text))
        self.totals.interventions["messages"] += 1
        self.totals.user_usage += said.usage
        body: dict[str, Any] = {
            "message": message_id,
            "intervention": intervention,
            "text": said.text,
            "anchor": list(batch),
            "source": said.source,
        }
        if said.source != "fixed":
            body |= {
                "model": said.model,
                "usage": _usage_json(said.usage),
                "rejected": [{"text": each.text, "reason": each.reason} for each in said.rejected],
            }
        self.emit(Actor.USER, EventKind.MESSAGE_SENT, body, durable=True)

    def _emit_changes(self, changes: Changes, actor: Actor, intervention: str | None = None) -> None:
        if changes.files:
            self.emit(
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
            )


def _numbered(actions: Sequence[Action], before: Sequence[str]) -> list[str]:
    """The ids of new calls as the next request will number them: see `number_repeats`."""
    numbered = [action.call_id for action in actions]
    given = set(numbered)
    # Nearly always; and no set is made of a history of thousands.
    if len(given) == len(numbered) and given.isdisjoint(before):
        return numbered
    taken = set(before)
    numbered = []
    for action in actions:
        names = (action.call_id if n == 1 else f"{action.call_id}#{n}" for n in count(1))
        name = next(candidate for candidate in names if candidate not in taken)
        taken.add(name)
        numbered.append(name)
    return numbered


def _arguments(action: Action) -> bytes:
    if isinstance(action.arguments, str):
        return action.arguments.encode("utf-8", "surrogatepass")
    return orjson.dumps(action.arguments)


def _touches_json(action: Action, output: str | None) -> list[dict[str, Any]]:
    return [
        {
            "path": touch.path,
            "kind": touch.kind,
            "lines": None if touch.lines is None else [[lines.start, lines.end] for lines in touch.lines],
        }
        for touch in action_touches(action.tool, action.arguments, output=output)
    ]


def _usage_json(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    return {
        "input": usage.input,
        "cache_read": usage.cache_read,
        "cache_write": usage.cache_write,
        "output": usage.output,
        "reasoning": usage.reasoning,
    }
