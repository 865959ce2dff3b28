"""Runs in progress in this process: how agents and verifiers, made by Harbor, find what they belong to.

Harbor constructs agents, environments and verifiers from JSON alone and restores them on resume, so they carry
names (run id, condition, repeat) and look up the living objects here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self
from uuid import UUID

from fourhands.engine.session import Session, SharedEnvironment, base_objects
from fourhands.gateway.server import Gateway
from fourhands.gateway.upstream import Upstream
from fourhands.model.errors import FourhandsError
from fourhands.model.event import Event
from fourhands.model.trial import TrialKey
from fourhands.trajectories.run_folder import Plan, RunFolder

__all__ = ["ActiveRun"]

_ACTIVE: dict[str, ActiveRun] = {}


@dataclass
class ActiveRun:
    """What the trials of one run share. Use as a context manager: within it, the run can be found by its id."""

    folder: RunFolder
    plan: Plan
    gateway: Gateway
    upstream: Callable[[TrialKey], Upstream]
    on_event: Callable[[TrialKey, Event], None]
    concurrency: int
    sessions: dict[UUID, Session] = field(default_factory=dict)

    def __enter__(self) -> Self:
        _ACTIVE[self.plan.run_id] = self
        return self

    def __exit__(self, *exception: object) -> None:
        del _ACTIVE[self.plan.run_id]

    @staticmethod
    def find(run_id: str) -> ActiveRun:
        """The run of that id.

        Raises:
            FourhandsError: this process is not running it.
        """
        if run_id not in _ACTIVE:
            raise FourhandsError(f"run {run_id} is not active here: start it with `fourhands run`")
        return _ACTIVE[run_id]

    async def open(self, context_id: UUID, key: TrialKey, environment: SharedEnvironment) -> Session:
        """Begin the next attempt at ``key`` in an environment that has started.

        Raises:
            FourhandsError: our own set-up failed; the attempt is recorded as invalid.
        """
        session = Session(
            key=key,
            attempt=self.folder.new_attempt(key),
            plan=self.plan,
            gateway=self.gateway,
            upstream=self.upstream(key),
            environment=environment,
            base=await asyncio.to_thread(base_objects, environment.spec.repository),
            on_event=lambda event: self.on_event(key, event),
        )
        self.sessions[context_id] = session
        await session.begin()
        return session

    @staticmethod
    def of(context_id: UUID | None) -> Session | None:
        """The session of a Harbor trial, whichever run it is of."""
        if context_id is None:
            return None
        return next(
            (run.sessions[context_id] for run in _ACTIVE.values() if context_id in run.sessions), None
        )
