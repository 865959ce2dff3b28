"""A trial as a conversation of events between two pairs of hands over one repository.

The gateway tells it of every request and reply; it folds them into events, asks the users at their moments,
carries out what they decide, and says which messages of theirs a request must carry.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from fourhands.gateway.exchanges import ExchangeRecorder, Received
from fourhands.gateway.shared_workspace import Changes, SharedWorkspace
from fourhands.gateway.spoken import SpokenMessages
from fourhands.gateway.threads import Acted, PendingReply, Thread, Threads
from fourhands.gateway.traits import NO_TRAITS, AgentTraits
from fourhands.model.errors import FourhandsError
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.outcome import Termination
from fourhands.model.sandbox import WORKDIR
from fourhands.model.usage import Usage
from fourhands.model.user import Answer, Intervene, Moment, Occasion, User, Utterance
from fourhands.touch.actions import action_touches, folder_after, read_observation
from fourhands.touch.text_actions import TEXT_TOOL
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.events import EventLog
from fourhands.wire.document import Document
from fourhands.wire.history import text_call
from fourhands.wire.types import Action, ActionResult, Reply

__all__ = ["ASKING_TOOL", "Admitted", "Conversation", "Totals"]

_SAID: Final = 300
"""Bytes of a provider's failure that are shown."""
ASKING_TOOL: Final = "ask_the_user"
"""The tool by which an agent asks; a client may put its server's name in front."""


class Totals:
    """Steps and tokens of a trial so far, counted at the gateway and so the same way for every agent."""

    def __init__(self) -> None:
        self.steps = 0
        self.sub_agent_calls = 0
        """Replies in other threads than the main loop's."""
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
            "sub_agent_calls": self.sub_agent_calls,
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
    """A request as it goes on to the model. ``number`` counts the requests of the trial, from 1.

    ``thread`` is ``None`` for a side request.
    """

    number: int
    document: Document
    thread: Thread | None
    tools: tuple[str, ...]
    told: frozenset[str] = frozenset()
    """The messages that the model is told with it."""


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
        on_usage: Callable[[Usage | None], bool] = lambda _: True,
        traits: AgentTraits = NO_TRAITS,
        framing: str | None = None,
    ) -> None:
        """Open the record of an attempt.

        Args:
            log_path: the attempt's ``events.jsonl``, not there yet.
            blobs: where large payloads go.
            users: asked in this order; each sees every event.
            workspace: the repository both pairs of hands are on.
            step_limit: accepted replies of the model after which no further request is answered.
            on_limit: called when a limit is reached, or our own side broke: the agent is to be stopped.
            on_event: called with every event, for those who watch.
            on_usage: called with the usage of every reply, ``None`` if it was not told, and with none to ask; says
                whether there is money for more.
            traits: of the agent.
            framing: how a message is worded, with ``{message}`` in it; as it is when ``None``.
        """
        self._users = tuple(users)
        self._started: float | None = None
        self._watch = on_event
        self.log = EventLog(log_path, self._observe, hide=blobs.hide)
        self.blobs = blobs
        self._exchanges = ExchangeRecorder(blobs)
        self.workspace = workspace
        self.totals = Totals()
        self.failure: str | None = None
        """Why the trial is invalid, once our own side has broken."""
        self.limit: Termination | None = None
        """Which limit has ended the trial, if one has."""
        self._step_limit = step_limit
        self._on_limit = on_limit
        self._on_usage = on_usage
        self._traits = traits
        self._framing = framing
        self._lock = asyncio.Lock()
        self._threads = Threads(traits)
        self._closed = False
        self._spoken = SpokenMessages(lambda kind, body: self.emit(Actor.HARNESS, kind, body))
        self._requests = 0
        self._announced: set[tuple[str, str, str, tuple[tuple[str, str], ...]]] = set()
        self._provider_said: dict[str, Any] = {}
        self._asked = 0
        self._questions = asyncio.Lock()
        self._was_offered = False

    @property
    def holds_replies(self) -> bool:
        """Whether a reply may reach the agent only once the users have had their say: as a whole, not streamed."""
        return any(Moment.BEFORE_ACTION in user.moments for user in self._users)

    @property
    def takes_requests(self) -> bool:
        """Whether requests are answered still: the trial is not over, and no limit is reached."""
        return not self._closed and self.limit is None and self.failure is None

    @property
    def has_been_asked(self) -> bool:
        """Whether the agent has sent a request yet."""
        return self._requests > 0

    @property
    def answers(self) -> bool:
        """Whether a user answers questions."""
        return any(Moment.ASKED in user.moments for user in self._users)

    def emit(
        self,
        actor: Actor,
        kind: EventKind,
        body: dict[str, Any],
        *,
        thread: Thread | None = None,
        durable: bool = False,
    ) -> None:
        """Append an event and let every user see it."""
        name = thread.name if thread else MAIN_THREAD
        self.log.append(actor, kind, body, thread=name, durable=durable)

    def _observe(self, event: Event) -> None:
        for user in self._users:
            user.observe(event)
        self._watch(event)

    async def before_call(self, document: Document, headers: Mapping[str, str]) -> Admitted | None:
        """Take in a request before it goes to the model, with all that the users do and say at this moment.

        Returns:
            The request with the users' messages in it, or ``None`` when the agent has no step left, no time, or the
            run no money.

        Raises:
            MalformedError: the request is none of its API.
        """
        async with self._lock:
            if self._closed:
                return None
            tools = document.tools
            self._started = self._started or time.monotonic()
            if tools or self._traits.text_actions:
                return await self._take_request(document, headers, tools)
            if self._is_over():  # a side request: never a step, never an insertion
                return None
            self._requests += 1
            return Admitted(self._requests, document, None, tools)

    async def _take_request(
        self, document: Document, headers: Mapping[str, str], tools: tuple[str, ...]
    ) -> Admitted | None:
        thread = self._threads.of(document, headers)
        if document.previous is not None:  # what the provider holds is not sent again
            thread.history.forget()
        news = thread.history.take(document.items)
        self._requests += 1
        if thread.is_main:
            self._spoken.rename(news.renamed, self._requests)
            self._was_offered = self._was_offered or any(name.endswith(ASKING_TOOL) for name in tools)
        self._settle_pending(thread, document, news.start)
        if self.totals.steps + self.totals.sub_agent_calls >= self._step_limit:
            self._reach(Termination.STEP_LIMIT)
        if self._is_over():
            return None
        self._note_announcements(thread, document, news.start)
        thread.delegated -= {result.call for result in news.results}
        if fresh := thread.fresh(news.results):
            await self._after_action(thread, fresh)
        told: frozenset[str] = frozenset()
        if thread.is_main:
            document, told = self._spoken.put_into(document, thread.history, self._requests)
        return Admitted(self._requests, document, thread, tools, told)

    def _is_over(self) -> bool:
        """Whether a limit is reached; the run's other trials may have spent its money meanwhile."""
        if not self._on_usage(Usage()):
            self._reach(Termination.BUDGET)
        return self.limit is not None

    def _reach(self, limit: Termination) -> None:
        if self.limit is None:
            self.limit = limit
            self._on_limit()

    def _note_announcements(self, thread: Thread, document: Document, start: int) -> None:
        """Record that the agent's own client told the model of a changed file: a finding, and a confound."""
        if not self._traits.announcements:
            return
        for index in range(start, len(document.items)):
            if thread.history.role(index) not in {"user", "results"}:
                continue
            item = bytes(document.items[index])
            for words in self._traits.announcements:
                if words.encode() not in item:
                    continue
                # An agent may send an item again with another mark for the cache on it.
                parsed = document.wire.item(orjson.loads(item))
                told = (thread.name, words, parsed.text, parsed.results)
                if told not in self._announced:
                    self._announced.add(told)
                    note = {"note": "client_announced", "request": self._requests, "words": words}
                    self.emit(Actor.HARNESS, EventKind.NOTE, note, thread=thread)

    async def after_call(
        self,
        admitted: Admitted,
        *,
        sent: Document,
        received: Received,
        reply: Reply | None,
        milliseconds: float,
        provider_failed: bool,
    ) -> None:
        """Record an exchange. ``reply`` is ``None`` when the answer was no reply, or did not come.

        ``sent`` is the request as it went to the model.
        """
        async with self._lock:
            if self.log.is_closed:  # the trial was cut: nothing of it counts
                return
            thread = admitted.thread
            good = reply is not None and reply.complete
            usage = reply.usage if reply else None
            begun = reply is not None and bool(reply.text or reply.actions)
            step = self._count(thread, usage, good=good, begun=begun)
            self.totals.provider_failed = provider_failed
            self.emit(
                Actor.AGENT,
                EventKind.MODEL_CALLED,
                {
                    "request": admitted.number,
                    "step": step,
                    "side": thread is None,
                    "model": admitted.document.model,
                    "status": received.status,
                    "complete": good,
                    "usage": _usage_json(usage),
                    "exchange": self._exchanges.record(thread.name if thread else "side", sent, received),
                    "tools": list(admitted.tools),
                    "text": self.blobs.put(reply.text.encode("utf-8", "surrogatepass")) if reply else None,
                    "milliseconds": round(milliseconds, 1),
                    "elapsed": self._elapsed(),
                },
                thread=thread,
            )
            if provider_failed:
                self._note_provider(received)
            if (good or usage) and not self._on_usage(usage):
                self._reach(Termination.BUDGET)
            if thread is not None and reply is not None and good:
                await self._take_reply(thread, step, admitted, reply)

    def _note_provider(self, received: Received) -> None:
        """Say what the provider said, once for the same answer to an agent that asks again and again."""
        said = received.body[:_SAID].decode("utf-8", "replace")
        told = {"note": "provider_failed", "status": received.status, "said": said}
        if told != self._provider_said:
            self._provider_said = told
            self.emit(Actor.HARNESS, EventKind.NOTE, told)

    def _count(self, thread: Thread | None, usage: Usage | None, *, good: bool, begun: bool) -> int | None:
        """Count a reply; the number of the step it is, if it is one of the main loop.

        One that broke off has cost something as well, once it had ``begun``.
        """
        if usage:
            self.totals.usage += usage
        elif good or begun:
            self.totals.uncounted += 1
        if not good:
            return None
        if thread is None:
            self.totals.side_calls += 1
        elif thread.is_main:
            self.totals.steps += 1
            return self.totals.steps
        else:
            self.totals.sub_agent_calls += 1
        return None

    async def _take_reply(self, thread: Thread, step: int | None, admitted: Admitted, reply: Reply) -> None:
        actions = reply.actions
        if self._traits.text_actions and not actions:
            actions = (Action(text_call(reply.text), TEXT_TOOL, reply.text),)
        calls = thread.history.next_names([action.call_id for action in actions])
        self._threads.replied(thread, reply.id, actions, calls)
        if thread.is_main and reply.id:
            self._spoken.hold(reply.id, admitted.told)
        acted = []
        for call, action in zip(calls, actions, strict=True):
            acted.append(Acted(call, action, thread.folder))
            self.emit(
                Actor.AGENT,
                EventKind.ACTION_SEEN,
                {
                    "step": step,
                    "call": call,
                    "tool": action.tool,
                    "arguments": self.blobs.put(_arguments(action)),
                    "touches": _touches_json(acted[-1], None),
                },
                thread=thread,
            )
            thread.folder = self._folder_after(thread.folder, action)
        thread.expect(
            PendingReply(step, tuple(acted), thread.history.replies, thread.history.length, reply.id)
        )
        if calls:
            if thread.is_main:
                self._spoken.moor(calls)
            if not self._closed:
                await self._ask(Moment.BEFORE_ACTION, thread, calls)

    def _folder_after(self, folder: str, action: Action) -> str:
        if self._traits.shell_folder == "each":
            return folder
        after = folder_after(action.tool, action.arguments, folder)
        is_inside = f"{after}/".startswith(f"{WORKDIR}/")
        return after if is_inside or self._traits.shell_folder == "kept" else WORKDIR

    async def ask(self, question: str) -> str:
        """Put the agent's question to the users, and wait for the answer; the agent's other threads go on meanwhile.

        Raises:
            FourhandsError: nobody answers: the trial is over, or has no user who does.
        """
        async with self._questions:  # one after another, as a person would
            self._asked += 1
            name = f"q{self._asked}"
            async with self._lock:
                self._see_that_it_goes_on()
                asked = {"question": name, "text": question, "elapsed": self._elapsed()}
                self.emit(Actor.AGENT, EventKind.ASKED, asked, durable=True)
            said = await self._decide(name)
            async with self._lock:
                self._see_that_it_goes_on()
                self.totals.user_usage += said.usage
                words = {"text": said.text, **_source_json(said), "elapsed": self._elapsed()}
                self.emit(Actor.USER, EventKind.ANSWERED, {"question": name, **words}, durable=True)
            return said.text

    def _see_that_it_goes_on(self) -> None:
        if self._closed:
            raise FourhandsError("the user is not there any more")

    async def _decide(self, question: str) -> Utterance:
        """What a user answers to the question that was asked last."""
        for user in self._users:
            if Moment.ASKED in user.moments:
                for act in await user.decide(Moment.ASKED):
                    if isinstance(act, Answer) and act.question_id == question:
                        return act.said
        raise FourhandsError("nobody is there to answer")

    async def close(self) -> None:
        """Take no more requests; a user's edit that is being made is finished first."""
        async with self._lock:
            self._closed = True

    def fail(self, reason: str) -> None:
        """Our own side broke: the trial is ours to answer for, not the agent's."""
        if self.failure is None:
            self.failure = reason
            self.emit(Actor.HARNESS, EventKind.NOTE, {"note": "harness_failed", "reason": reason})
            self._on_limit()  # what the agent does from here on tells nothing

    def diverged(self, request: int, expected: int | None, diff: str) -> None:
        """A replay was asked what it was not asked when it was recorded: nothing more can be given back."""
        body = {"request": request, "expected": expected, "diff": self.blobs.put(diff.encode())}
        self.emit(Actor.HARNESS, EventKind.DIVERGED, body, durable=True)
        self.fail(f"the replay diverged from its recording at request {request}")

    async def agent_ended(self) -> None:
        """The agent is gone: take in what it did last, and sum up what was carried."""
        async with self._lock:
            changes = await self.workspace.observe()
            self._emit_changes(changes, Actor.AGENT)
            for carried in self._spoken.carried():
                self.emit(Actor.HARNESS, EventKind.MESSAGE_CARRIED, carried)
            asks_by_tool = self.answers and not self._traits.asks_by_command
            if asks_by_tool and self.has_been_asked and not self._was_offered:
                self.fail(f"the agent never offered its model the tool {ASKING_TOOL}: its settings are ours")

    def _settle_pending(self, thread: Thread, document: Document, kept: int) -> None:
        """A reply the agent does not carry on from was not accepted: the request is a retry, not a step."""
        dropped, own_names = thread.settle(document, kept)
        if thread.is_main:
            self._spoken.rename(own_names, self._requests)
        for reply in dropped:
            if reply.step is None:
                self.totals.sub_agent_calls -= 1
            else:
                self.totals.steps -= 1
            self.totals.retries += 1
            if thread.is_main:
                self._spoken.drop(reply.calls)
            note = {"note": "reply_not_accepted", "step": reply.step, "calls": list(reply.calls)}
            self.emit(Actor.HARNESS, EventKind.NOTE, note, thread=thread)

    async def _after_action(self, thread: Thread, results: Sequence[ActionResult]) -> None:
        for result in results:
            seen = read_observation(result.text)
            output = seen.output.encode("utf-8", "surrogatepass")
            acted = thread.answered(result)
            self.emit(
                Actor.AGENT,
                EventKind.ACTION_RESULT,
                {
                    "call": acted.call if acted else result.call,
                    "output": self.blobs.put(output),
                    "bytes": len(output),
                    "code": seen.code,
                    "touches": _touches_json(acted, seen.output) if acted else [],
                    "elapsed": self._elapsed(),
                },
                thread=thread,
            )
        self._emit_changes(await self.workspace.observe(), Actor.AGENT, thread=thread)
        await self._ask(Moment.AFTER_ACTION, thread, tuple(result.call for result in results))

    def _elapsed(self) -> float:
        """Seconds since the agent's first request."""
        return round(time.monotonic() - self._started, 3) if self._started else 0.0

    async def _ask(self, moment: Moment, thread: Thread, batch: tuple[str, ...]) -> None:
        """Ask the users what they do at this moment, of the actions in ``batch``, and carry it out."""
        for user in self._users:
            if moment not in user.moments:
                continue
            for act in await user.decide(moment):
                if isinstance(act, Intervene):
                    await self._carry_out(user, act, moment, thread, batch)

    async def _carry_out(
        self, user: User, act: Intervene, moment: Moment, thread: Thread, batch: tuple[str, ...]
    ) -> None:
        why = {
            "intervention": act.intervention_id,
            "moment": moment.value,
            "why": act.reason,
            "calls": list(batch),
        }
        if act.shadow_of:
            self.totals.interventions["shadow"] += 1
            body = {**why, "conditions": list(act.shadow_of)}
            self.emit(Actor.HARNESS, EventKind.SHADOW_TRIGGER_FIRED, body, thread=thread)
            return
        self.totals.interventions["triggered"] += 1
        self.emit(Actor.USER, EventKind.TRIGGER_FIRED, why, thread=thread, durable=True)
        if act.patch is not None:
            if moment is Moment.BEFORE_ACTION:  # the last look was before the model took its time
                self._emit_changes(await self.workspace.observe(), Actor.AGENT, thread=thread)
            if not await self._edit(act.intervention_id, act.patch, thread):
                return
        if act.message is not None:
            said = await user.phrase(Occasion(act.intervention_id, act.message, act.patch))
            self._say(act.intervention_id, said, thread, batch)

    async def _edit(self, intervention: str, patch: bytes, thread: Thread) -> bool:
        """Make the user's edit; say whether the workspace now holds it because of that."""
        name = {"intervention": intervention}
        self.emit(Actor.USER, EventKind.EDIT_INTENDED, {**name, "patch": self.blobs.put(patch)}, durable=True)
        done = await self.workspace.edit(intervention)
        self._emit_changes(done.by_agent, Actor.AGENT, thread=thread)
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

    def _say(self, intervention: str, said: Utterance, thread: Thread, batch: tuple[str, ...]) -> None:
        """Say it to the main loop: at once, or with its next actions where a sub-agent gave the occasion."""
        text = self._framing.replace("{message}", said.text) if self._framing else said.text
        message_id = self._spoken.add(text, batch, adrift=not thread.is_main)
        self.totals.interventions["messages"] += 1
        self.totals.user_usage += said.usage
        body: dict[str, Any] = {
            "message": message_id,
            "intervention": intervention,
            "text": said.text,
            **({"framed": text} if self._framing else {}),
            "anchor": list(batch) if thread.is_main else [],
            **_source_json(said),
        }
        self.emit(Actor.USER, EventKind.MESSAGE_SENT, body, durable=True)

    def _emit_changes(
        self, changes: Changes, actor: Actor, intervention: str | None = None, thread: Thread | None = None
    ) -> None:
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
                thread=thread,
            )


def _source_json(said: Utterance) -> dict[str, Any]:
    """Where words come from: fixed, or a model's, with what it took."""
    if said.source == "fixed":
        return {"source": said.source}
    return {
        "source": said.source,
        "model": said.model,
        "usage": _usage_json(said.usage),
        "rejected": [{"text": each.text, "reason": each.reason} for each in said.rejected],
    }


def _arguments(action: Action) -> bytes:
    if isinstance(action.arguments, str):
        return action.arguments.encode("utf-8", "surrogatepass")
    return orjson.dumps(action.arguments)


def _touches_json(acted: Acted, output: str | None) -> list[dict[str, Any]]:
    action = acted.action
    return [
        {
            "path": touch.path,
            "kind": touch.kind,
            "lines": None if touch.lines is None else [[lines.start, lines.end] for lines in touch.lines],
        }
        for touch in action_touches(action.tool, action.arguments, output=output, folder=acted.folder)
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
