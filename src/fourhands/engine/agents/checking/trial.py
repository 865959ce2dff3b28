"""A trial of an agent that is played for its own sake: a real run, whose model is served here."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

from fourhands.engine.active import ActiveRun
from fourhands.engine.agents.base import AttemptingAgent
from fourhands.engine.agents.checking.evidence import Evidence, Heard
from fourhands.engine.agents.checking.scene import MOVES, PLAYER, plan_of
from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.jobs import execute
from fourhands.gateway.players import PlayerServer, RecordedPlayer
from fourhands.gateway.server import Gateway
from fourhands.gateway.upstream import Upstream
from fourhands.model.errors import InputError
from fourhands.model.event import Event
from fourhands.model.trial import TrialKey
from fourhands.model.usage import Usage
from fourhands.trajectories.run_folder import RunFolder
from fourhands.wire.types import Json

__all__ = ["play"]

_LOG_LINES: Final = 3


async def play(agent: str, folder: RunFolder, watch: Callable[[Event], None]) -> Evidence:
    """Run one trial in an empty folder.

    Raises:
        InputError: the agent's registry entry names a class that is not there.
        SandboxError: no sandbox can run here.
    """
    agent_class = _class_of(agent)
    plan = plan_of(agent)
    heard: list[Heard] = []
    tokens: set[str] = set()

    def hear(player: str, path: str, request: Json, reply: Json) -> None:
        del player
        heard.append(Heard.of(path, request, reply))

    def see(key: TrialKey, event: Event) -> None:
        del key
        tokens.update(session.token for session in ActiveRun.find(plan.run_id).sessions.values())
        watch(event)

    gateway = Gateway()
    gateway.start()
    began = time.monotonic()
    try:
        with folder.locked():
            folder.write_plan(plan)
            address = await gateway.serve(PlayerServer({PLAYER: RecordedPlayer(MOVES)}, hear).app)
            upstream = Upstream(address + PlayerServer.path(PLAYER), PLAYER)
            await execute(folder, gateway, lambda _: upstream, see, concurrency=1)
    finally:
        gateway.close()
    seconds = time.monotonic() - began
    (trial,) = plan.trials
    attempts = folder.attempts(trial.key)
    logs = next(iter(folder.jobs_path.glob("*/*/agent")), folder.path / "none")
    return Evidence(
        entry=AGENTS[agent],
        events=attempts[-1].read().events if attempts else (),
        heard=heard,
        reported=_reported(agent_class, logs),
        leaks=tuple(_files_with(folder.path, tokens)),
        log=_end_of(logs),
        seconds=seconds,
    )


def _class_of(agent: str) -> type[AttemptingAgent]:
    path = AGENTS[agent].import_path
    module, _, name = path.partition(":")
    try:
        found: type[AttemptingAgent] = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"fourhands/engine/agents/registry.py: {agent}: {path} is no class: {error}; write MODULE:CLASS"
        ) from error
    return found


def _reported(agent_class: type[AttemptingAgent], logs: Path) -> Usage | None:
    """What the agent says of its own tokens, in the logs that it left."""
    placed = {"run": "none", "condition": "vanilla", "repeat": 1}
    return agent_class(logs_dir=logs, model_name=PLAYER, skip_model_parsing=True, **placed).reported_usage()


def _files_with(folder: Path, secrets: set[str]) -> list[str]:
    """Files in which a secret stands, or stood: in those of agents it has been blackened since."""
    written = re.compile(
        b"|".join(rb"%b|(?<!\*)\*{%d}(?!\*)" % (re.escape(each.encode()), len(each)) for each in secrets)
        or b"(?!)"
    )
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [str(path.relative_to(folder)) for path in files if written.search(path.read_bytes())]


def _end_of(logs: Path) -> str:
    """The last lines of what the agent printed as errors, else of any log of it."""
    files = [path for path in logs.glob("*") if path.is_file() and path.stat().st_size]
    files.sort(key=lambda path: (path.suffix != ".err", path.suffix != ".log"))
    if not files:
        return ""
    lines = files[0].read_text("utf-8", "replace").strip().splitlines()
    return " | ".join(line.strip()[:300] for line in lines[-_LOG_LINES:])
