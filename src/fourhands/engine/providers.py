"""Live models' addresses, seen before a run begins: do they answer, and do they speak what the agents speak?"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientSession, ClientTimeout

from fourhands.engine.agents.registry import AGENTS
from fourhands.model.errors import InputError
from fourhands.model.trial import RECORDED, SCRIPTED
from fourhands.trajectories.run_folder import Plan
from fourhands.wire.registry import WIRES

__all__ = ["see_that_providers_answer"]

_PATIENCE: Final = 20.0
"""Seconds that a provider has to take a connection, and to answer."""
_ABSENT: Final = frozenset({404, 405})
"""How a server answers where it has nothing, or nothing that takes a POST."""
_REFUSED: Final = frozenset({401, 403})
"""How it answers a key that it does not take."""
_APIS: Final = {
    "chat": "OpenAI Chat Completions",
    "responses": "OpenAI Responses",
    "messages": "Anthropic Messages",
}
_PATHS: Final = {wire.name: path for path, wire in WIRES.items()}


def see_that_providers_answer(plan: Plan) -> None:
    """See that live models can be reached and have the APIs that the agents of ``plan`` speak.

    An agent would meet a wrong address in the midst of its trial, wait for minutes, or make of a 404 what it likes.
    Each API's path is sent one POST without a body, which no model is asked by: what refuses it is there.

    Raises:
        InputError: an address takes no connections, has not what an agent speaks, or does not take the key.
    """
    settings = plan.settings
    _see_that_one_answers("--user-base-url", settings.user_base_url)
    _see_that_one_answers("--base-url", settings.base_url)
    speakers = _speakers(plan)
    if settings.base_url is None or not speakers:
        return
    key = os.environ.get(settings.api_key_env)
    statuses = asyncio.run(_statuses(settings.base_url, key, speakers))
    if refused := [status for status in statuses.values() if status in _REFUSED]:
        raise InputError(
            f"--base-url: the provider at {settings.base_url} refuses the key in {settings.api_key_env} "
            f"({refused[0]}): export the key that it takes, or name another variable with --api-key-env"
        )
    if missing := [wire for wire in speakers if statuses[wire] in _ABSENT]:
        lacks = "; ".join(
            f"no …{_PATHS[wire]} ({statuses[wire]}): {_speak(speakers[wire])} {_APIS[wire]}"
            for wire in missing
        )
        raise InputError(
            f"--base-url: the provider at {settings.base_url} has {lacks}. Give an address, up to where these paths "
            "begin (as a rule …/v1), of a provider that has this API, or of a proxy that translates for it, such as "
            "LiteLLM's; or choose an agent that speaks the provider's own: see docs/models.md"
        )


def _speakers(plan: Plan) -> Mapping[str, list[str]]:
    """Wire -> the agents that speak it to a live model, each once."""
    found: dict[str, list[str]] = {}
    for trial in plan.trials if plan.settings.replay is None else ():
        if trial.model.startswith((SCRIPTED, RECORDED)) or plan.not_applicable(trial) is not None:
            continue
        agents = found.setdefault(AGENTS[trial.agent].wire, [])
        if trial.agent not in agents:
            agents.append(trial.agent)
    return found


def _speak(agents: list[str]) -> str:
    *others, last = agents
    return f"{', '.join(others)} and {last} speak" if others else f"{last} speaks"


def _see_that_one_answers(option: str, address: str | None) -> None:
    if address is None:
        return
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_PATIENCE).close()
    except OSError as error:
        raise InputError(f"{option} {address} cannot be reached: {error}") from None


async def _statuses(base_url: str, key: str | None, wires: Iterable[str]) -> dict[str, int | None]:
    """What each wire's path answers to a POST without a body; ``None`` if nothing that could be understood."""
    async with ClientSession(timeout=ClientTimeout(total=_PATIENCE)) as client:
        found: dict[str, int | None] = {}
        for wire in wires:
            headers = {"Content-Type": "application/json", **_key_header(wire, key)}
            address = base_url.rstrip("/") + _PATHS[wire]
            try:
                async with client.post(address, headers=headers, allow_redirects=False) as answer:
                    found[wire] = answer.status
            except (ClientError, TimeoutError):
                found[wire] = None
        return found


def _key_header(wire: str, key: str | None) -> dict[str, str]:
    """The key as agents send it: a server may say what it has to those alone whom it knows."""
    if key is None:
        return {}
    return {"X-Api-Key": key} if wire == "messages" else {"Authorization": f"Bearer {key}"}
