"""A model's name -> who answers the agent: a provider, a scripted player, or a recorded trajectory."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from fourhands.gateway.playbook import Move, load_playbook
from fourhands.gateway.players import Player, PlayerServer, RecordedPlayer, ScriptedPlayer
from fourhands.gateway.upstream import Upstream
from fourhands.model.errors import InputError, MissingError
from fourhands.model.trial import RECORDED, SCRIPTED, TrialKey
from fourhands.tasks.folder import load_task
from fourhands.trajectories.mini_swe_agent import Step, read_mini_swe_agent
from fourhands.trajectories.run_folder import Plan

__all__ = ["Models"]

_PATIENCE: Final = 20.0
"""Seconds that a provider has to take a connection."""
_SEEN_MODEL: Final = "model"
"""What an agent is told a stand-in is called: the same for all."""


class Models:
    """Everyone who answers in a run."""

    def __init__(self, plan: Plan) -> None:
        """Load playbooks and recordings, and see that a live model has an address and a key.

        Raises:
            InputError: a playbook, a recording or an address is wrong.
            MissingError: the provider's key is not in the environment.
        """
        self._settings = plan.settings
        self._address = ""
        players: dict[str, Player] = {}
        for trial in plan.trials:
            name = trial.model
            if name.startswith(SCRIPTED):
                players[_player(name, trial.task)] = self._scripted(name, plan.task(trial.task).path)
            elif name.startswith(RECORDED):
                players[_player(name, trial.task)] = self._recorded(name)
            else:
                self._live(name)
        self.server = PlayerServer(players)

    def see_that_it_answers(self) -> None:
        """See that a live model's address takes connections, before agents wait for it for minutes.

        Raises:
            InputError: it does not.
        """
        address = self._settings.base_url
        if address is None:
            return
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        try:
            socket.create_connection((parts.hostname or "", port), timeout=_PATIENCE).close()
        except OSError as error:
            raise InputError(f"--base-url {address} cannot be reached: {error}") from None

    def serve_at(self, address: str) -> None:
        """Say where the players are served."""
        self._address = address

    def upstream(self, key: TrialKey) -> Upstream:
        """Whom the agent of ``key`` speaks to."""
        name = key.agent.model
        if name.startswith((SCRIPTED, RECORDED)):
            return Upstream(self._address + PlayerServer.path(_player(name, key.task)), _SEEN_MODEL)
        return self._live(name)

    def _live(self, name: str) -> Upstream:
        settings = self._settings
        if settings.base_url is None:
            raise InputError(
                f"model {name!r} needs --base-url, the address its provider is reached at (…/v1); "
                f"without a provider, use {SCRIPTED}keeps, {SCRIPTED}reverts or {SCRIPTED}reconciles"
            )
        key = os.environ.get(settings.api_key_env)
        if not key:
            raise MissingError(f"the provider's key is not set: export {settings.api_key_env}=…")
        return Upstream(settings.base_url, name, key)

    @staticmethod
    def _scripted(name: str, task_path: Path) -> Player:
        task = load_task(task_path)
        if task.playbook is None:
            raise InputError(f"{task.directory}: no user/playbook.toml, so {name} cannot work on this task")
        playbook = load_playbook(task.playbook)
        temperament = name.removeprefix(SCRIPTED)
        if temperament not in playbook.temperaments:
            known = ", ".join(SCRIPTED + each for each in playbook.temperaments)
            raise InputError(f"{task.playbook}: no temperament for {name}: choose from {known}")
        return ScriptedPlayer(playbook, temperament)

    def _recorded(self, name: str) -> Player:
        path = self._settings.recordings[name.removeprefix(RECORDED)]
        steps = read_mini_swe_agent(path).steps
        return RecordedPlayer(tuple(_moves(steps)))


def _moves(steps: Sequence[Step]) -> list[Move]:
    """Each recorded command as a tool call of its own."""
    return [Move(thought=step.thought, command=command) for step in steps for command in step.commands]


def _player(model: str, task: str) -> str:
    return f"{model}@{task}"
