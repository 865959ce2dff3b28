"""One attempt at a trial, from the environment's start to the verdict."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Protocol

from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.containers.mailbox import CutOff, OnCutOff
from fourhands.engine.sandbox import GATEWAY_PORT
from fourhands.engine.speakers import live_speaker
from fourhands.engine.talk import talk_of
from fourhands.engine.verification import Verification, rubric_json, verify_with_rubric
from fourhands.gateway.conversation import ASKING_TOOL, Conversation
from fourhands.gateway.server import Gateway, Seat
from fourhands.gateway.shared_workspace import SharedWorkspace
from fourhands.gateway.totals import Totals
from fourhands.gateway.upstream import Upstream
from fourhands.model.errors import FourhandsError, SandboxError
from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.intervention import Intervention, TriggerEvent
from fourhands.model.outcome import Termination, Verdict
from fourhands.model.sandbox import Sandbox, SandboxSpec
from fourhands.model.trial import TrialKey
from fourhands.model.usage import Usage
from fourhands.model.user import Moment, Speaker, User
from fourhands.model.verifier_rubric import RubricJudge
from fourhands.tasks.cache import provide
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.ledger_file import ledger_json
from fourhands.trajectories.events import EventLog
from fourhands.trajectories.protocol import protocol_slips
from fourhands.trajectories.run_folder import Attempt, Plan
from fourhands.user.answering import AnsweringUser
from fourhands.user.speaking import FixedSpeaker
from fourhands.user.touching import TouchingUser
from fourhands.workspace.store import ObjectStore

__all__ = ["Session", "SharedEnvironment", "base_objects", "record_failure"]

_SHORTEST_KEY: Final = 8
"""A local server takes any word for a key (``x``, ``EMPTY``): to hide that would tear up the record."""
_MACHINE_VARIABLES: Final = frozenset({"PATH", "LANG", "LC_ALL"})


class SharedEnvironment(Protocol):
    """What a session needs of an environment beyond what Harbor asks of it."""

    @property
    def sandbox(self) -> Sandbox:
        """Where the agent works."""
        ...

    @property
    def spec(self) -> SandboxSpec:
        """What the sandbox was made of."""
        ...

    @property
    def gateway_host(self) -> str:
        """The name inside of the machine that `listen` listens on."""
        ...

    async def listen(self, port: int, on_cut_off: OnCutOff) -> socket.socket:
        """A listening socket for the sandbox alone, as far as that can be: at ``port``, unless that is shared."""
        ...

    async def packages(self, lock: Path) -> str:
        """The prefix, inside, of a virtual environment with what a hashed lock pins."""
        ...

    async def programs(self, folder: Path, agent: str) -> Path:
        """Where a folder of programs that is installed on this machine lies inside, for ``agent``."""
        ...


class Session:
    """Holds an attempt's conversation, its seat at the gateway, and how it came to its end."""

    def __init__(
        self,
        *,
        key: TrialKey,
        attempt: Attempt,
        plan: Plan,
        gateway: Gateway,
        upstream: Upstream,
        environment: SharedEnvironment,
        base: tuple[Path, str],
        on_event: Callable[[Event], None],
        on_usage: Callable[[Usage | None], bool],
        rubric_judge: RubricJudge | None = None,
    ) -> None:
        self.key = key
        self._rubric_judge = rubric_judge
        self.attempt = attempt
        self._plan = plan
        self._task = plan.task(key.task)
        self._traits = AGENTS[key.agent.name].traits
        self.token = secrets.token_urlsafe(24)
        self.secrets = (
            self.token,
            *([upstream.key] if upstream.key and len(upstream.key) >= _SHORTEST_KEY else []),
        )
        """What is written nowhere."""
        task = load_task(self._task.path)
        planned = plan.users_of(key.task, key.condition.label)
        interventions = [[each.intervention() for each in user.interventions] for user in planned]
        users: list[User] = [
            TouchingUser(own, self._speaker(), shadow_of=user.shadow_of)
            for user, own in zip(planned, interventions, strict=True)
        ]
        objects, base_tree = base
        self._store = ObjectStore(attempt.objects_path, base=objects)
        workspace = SharedWorkspace(environment.sandbox, self._store, base_tree)
        self._talk = (
            talk_of(
                task,
                key,
                plan,
                place=(environment.sandbox, environment.spec),
                workspace=workspace,
                store=self._store,
                base_objects=objects,
                blobs=attempt.blobs_hiding(*self.secrets),
                asks_by_command=self._traits.asks_by_command,
            )
            if key.condition.needs_ledger
            else None
        )
        if self._talk and self._talk.user:
            users.insert(0, self._talk.user)
        elif plan.settings.asking:
            users.append(AnsweringUser())
        self.limit_reached = asyncio.Event()
        self.gateway_lost = asyncio.Event()
        """The environment has let the agent's way to its model break off."""
        self.termination = Termination.FINISHED
        self.ended = False
        self._ending: dict[str, Any] = {}
        self.gateway_url = ""
        """Where the agent's model is reached, from inside (``http://HOST:PORT/v1``), once the attempt has begun."""
        self.asking = any(Moment.ASKED in user.moments for user in users)
        """Whether the agent is offered the tool that asks the user: then its model must see it."""
        self.reasoning_effort = plan.settings.reasoning_effort
        """How hard the model is to think, in the agent's own words; ``None`` leaves the agent's default."""
        self.host_url = ""
        """As `gateway_url`, for an agent that runs in our process; empty for any other."""
        self.seen_model = upstream.model
        """The model's name as the agent is told it: not who answers, nor under which condition."""
        self.task_env = {
            name: value for name, value in environment.spec.env.items() if name not in _MACHINE_VARIABLES
        }
        """Variables that the task's own commands need; they may not reach the agent's interpreter."""
        self._environment = environment
        self._on_event = on_event
        self._gateway = gateway
        self._upstream = upstream
        self._seat: Seat | None = None
        self._loop = asyncio.get_running_loop()
        self._interventions = [
            each
            for user, own in zip(planned, interventions, strict=True)
            for each in own
            if not user.shadow_of
        ]
        self._planned = [
            _planned_json(each, user.shadow_of)
            for user, own in zip(planned, interventions, strict=True)
            for each in own
        ]
        self._watched = [
            region
            for own in interventions
            for each in own
            if each.trigger.event is TriggerEvent.REGION_CHANGED
            for region in each.trigger.regions
        ]
        self.conversation = Conversation(
            log_path=attempt.events_path,
            blobs=attempt.blobs_hiding(*self.secrets),
            users=users,
            workspace=workspace,
            step_limit=plan.settings.step_limit,
            on_limit=self._reach_limit,
            on_event=self._see_event,
            on_usage=on_usage,
            traits=self._traits,
            framing=self._traits.native_framing if plan.settings.framing == "native" else None,
            view=self._talk.view if self._talk else None,
            checkpoints=self._talk.checkpoints if self._talk else None,
        )

    @property
    def gateway_root(self) -> str:
        """`gateway_url` without its ``/v1``, for agents that add it themselves."""
        return self.gateway_url.removesuffix("/v1")

    @property
    def ask_url(self) -> str:
        """Where the MCP server with the one tool `ask_the_user` is reached, with the token as a bearer's."""
        return f"{self.gateway_root}/mcp"

    def instruction(self, given: str) -> str:
        """What the agent is told: the task's instruction, or how its user opens a conversation."""
        return given if self._talk is None or self._talk.opening is None else self._talk.opening

    def _opening_json(self) -> dict[str, Any]:
        """What a conversation is about, how its user opens it, and who that is; nothing for any other trial."""
        talk = self._talk
        if talk is None:
            return {}
        blobs = self.attempt.blobs_hiding(*self.secrets)
        about = {"ledger": blobs.put(ledger_json(talk.ledger))}
        if talk.opening is None:
            return about
        opening = blobs.put(talk.opening.encode())
        return {**about, "persona": talk.persona, "brief": talk.brief, "opening": opening}

    def _see_event(self, event: Event) -> None:
        if self._talk:
            self._talk.state.observe(event)
        self._on_event(event)

    def _speaker(self) -> Speaker:
        if self.key.condition.message == "fixed":
            return FixedSpeaker()
        instruction = load_task(self._task.path).instruction
        return live_speaker(self._plan.settings, task=instruction, read_blob=self.attempt.blobs.get)

    async def begin(self) -> None:
        """Take the base snapshot, bring the users, and answer the agent from now on.

        Raises:
            FourhandsError: our own set-up failed; the attempt is then recorded as invalid.
        """
        workspace = self.conversation.workspace
        self.conversation.emit(
            Actor.HARNESS,
            EventKind.TRIAL_STARTED,
            {
                "run": self._plan.run_id,
                **_names(self.key),
                "task_digest": self._task.digest,
                "record_status": self._task.record_status,
                "attempt": self.attempt.number,
                "base_tree": workspace.base_tree,
                "interventions": len(self._interventions),
                "planned": self._planned,
                "asking_tool": ASKING_TOOL if self.asking and not self._traits.asks_by_command else None,
                "step_limit": self._plan.settings.step_limit,
                **self._opening_json(),
            },
        )
        try:
            await self._gateway.call(workspace.start(self._interventions, self._watched))
            if self._talk:
                await self._gateway.call(self._talk.commits.start())
            self._seat = Seat(self.token, self.conversation, self._upstream)
            listener = await self._environment.listen(GATEWAY_PORT, self._cut_off)
            self.gateway_url = f"http://{self._environment.gateway_host}:{listener.getsockname()[1]}/v1"
            listeners = [listener]
            if self._traits.runs_outside:
                listeners.append(socket.create_server(("127.0.0.1", 0)))
                self.host_url = f"http://127.0.0.1:{listeners[-1].getsockname()[1]}/v1"
            await self._gateway.seat(self._seat, *listeners)
        except FourhandsError as error:
            self.conversation.fail(str(error))
            self.end(Verdict.NONE, None)
            raise

    def _reach_limit(self) -> None:
        """Called on the gateway's thread."""
        self._loop.call_soon_threadsafe(self.limit_reached.set)

    def _cut_off(self, cut_off: CutOff) -> None:
        """What an agent makes of it that has cut itself off is its own affair."""
        self.conversation.emit(Actor.HARNESS, EventKind.NOTE, {"note": "gateway_cut_off", **asdict(cut_off)})
        if cut_off.by == "environment":
            self.gateway_lost.set()

    async def agent_stopped(self) -> None:
        """Nobody may speak, act or edit any more: after the agent's end, or its time-out.

        Raises:
            SandboxError: a process that the agent left does not die.
        """
        if self._seat:
            seat, self._seat = self._seat, None
            try:
                # First an edit or a snapshot that is being made is let finish: killed, it would spoil the trial.
                await self._gateway.call(self.conversation.close())
                await self._environment.sandbox.kill_all()
            finally:
                await self._gateway.leave(seat)

    async def verify(self) -> Verification:
        """Kill what is left inside, take the final state, and verify it in a fresh sandbox."""
        await self.agent_stopped()
        await self._environment.sandbox.kill_all()  # also what was started to bring the logs out
        await self._gateway.call(self.conversation.agent_ended())
        self._upstream.on_end()
        task = load_task(self._task.path)
        final = self.conversation.workspace.tree
        at_will = self.conversation.stopped_at
        before = await self._judge(task, at_will, "at-will") if at_will not in {None, final} else None
        result = await self._judge(task, final)
        if self._talk and self.key.condition.talks:
            early = before or result
            self._ending = {
                "at_will": {"verdict": early.verdict.value, "reward": early.reward, "tree": at_will or final},
                "coverage": {"told": list(self._talk.state.told), "held": list(self._talk.state.held)},
            }
            self._see_protocol()
        self.end(result.verdict, result.reward)
        return result

    def _see_protocol(self) -> None:
        """A slip of protocol is an outcome of its own: the verdict is what it is."""
        slips = protocol_slips(self.attempt.read().events)
        self._ending["slips"] = [
            {"slip": each.kind.value, "seq": each.seq, "paths": list(each.paths)} for each in slips
        ]
        if slips and self.termination is Termination.FINISHED:
            self.termination = Termination.PROTOCOL_FAILURE

    async def _judge(self, task: Task, tree: str, phase: str | None = None) -> Verification:
        base = self.conversation.workspace.base_tree
        result = await verify_with_rubric(task, self._store, base, tree, self._rubric_judge)
        report = result.report
        self.conversation.emit(
            Actor.VERIFIER,
            EventKind.VERIFIED,
            {
                "key": result.key,
                "tree": tree,
                **({"phase": phase} if phase else {}),
                "verdict": result.verdict.value,
                "reward": result.reward,
                "timed_out": report.timed_out,
                "seconds": round(report.seconds, 2),
                "fail_to_pass": dict(report.fail_to_pass),
                "pass_to_pass_failed": {
                    name: status for name, status in report.pass_to_pass.items() if status != "passed"
                },
                "pass_to_pass": len(report.pass_to_pass),
                "missing": list(report.missing),
                "restored": asdict(report.restored),
                **rubric_json(task, self._rubric_judge, result),
                "output": self.attempt.blobs.put(report.output.encode("utf-8", "surrogatepass")),
            },
        )
        return result

    async def cut(self) -> None:
        """Let go of everything without an outcome."""
        with suppress(SandboxError):
            await self.agent_stopped()
        self.ended = True
        self.conversation.log.close()

    async def abandon(self, reason: str) -> None:
        """End without a verdict: Harbor came to no verification."""
        with suppress(SandboxError):  # it is gone already
            await self.agent_stopped()
        self.conversation.emit(Actor.HARNESS, EventKind.NOTE, {"note": "no_verdict", "reason": reason})
        self.termination = Termination.INFRASTRUCTURE_ERROR
        self.end(Verdict.NONE, None)

    def end(self, verdict: Verdict, reward: float | None) -> None:
        """Write the outcome, once; nothing is recorded after it."""
        if self.ended:
            return
        self.ended = True
        if self.conversation.failure is not None:
            self.termination = Termination.INVALID
        self.conversation.emit(
            Actor.HARNESS,
            EventKind.TRIAL_ENDED,
            {
                **_ending(verdict, self.termination, reward, self.conversation.totals),
                "user_lines": self.conversation.workspace.standing(),
                **self._ending,
            },
            durable=True,
        )
        self.conversation.log.close()


def record_failure(attempt: Attempt, key: TrialKey, reason: str, on_event: Callable[[Event], None]) -> None:
    """Record an attempt that failed before its agent could be set up."""
    log = EventLog(attempt.events_path, on_event)
    log.append(Actor.HARNESS, EventKind.TRIAL_STARTED, {**_names(key), "attempt": attempt.number})
    log.append(Actor.HARNESS, EventKind.NOTE, {"note": "no_verdict", "reason": reason})
    log.append(
        Actor.HARNESS,
        EventKind.TRIAL_ENDED,
        _ending(Verdict.NONE, Termination.INFRASTRUCTURE_ERROR, None, Totals()),
        durable=True,
    )
    log.close()


def _planned_json(intervention: Intervention, shadow_of: Sequence[str]) -> dict[str, Any]:
    return {
        "id": intervention.id,
        "event": intervention.trigger.event.value,
        "moment": intervention.trigger.moment.value,
        "has_edit": intervention.patch is not None,
        "has_message": intervention.message is not None,
        "shadow_of": list(shadow_of),
    }


def _names(key: TrialKey) -> dict[str, Any]:
    return {
        "task": key.task,
        "agent": key.agent.name,
        "model": key.agent.model,
        "condition": key.condition.label,
        "repeat": key.repeat,
    }


def _ending(
    verdict: Verdict, termination: Termination, reward: float | None, totals: Totals
) -> dict[str, Any]:
    return {"verdict": verdict.value, "termination": termination.value, "reward": reward, **totals.as_json()}


def base_objects(repository: Path) -> tuple[Path, str]:
    """The object store of a cached repository and the tree of its files, byte for byte; made once."""

    def build(scratch: Path, final: Path) -> None:
        del final
        tree = ObjectStore(scratch / "objects.git").import_directory(repository)
        (scratch / "tree").write_text(tree)

    # A cached repository's folder is named by the hash of what it holds.
    entry = provide("objects", repository.name, build)
    return entry / "objects.git", (entry / "tree").read_text()
