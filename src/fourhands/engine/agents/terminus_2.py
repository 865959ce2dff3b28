"""terminus-2: Harbor's own agent. It thinks in our process, and types into a terminal inside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Final, override

import aiohttp
from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.models.agent.context import AgentContext

from fourhands.engine.agents.base import HOME, AttemptingAgent
from fourhands.engine.agents.registry import AGENTS
from fourhands.engine.agents.terminus_model import GatewayModel, ModelFailedError
from fourhands.engine.agents.tmux import NO_TMUX
from fourhands.engine.asking import INSTRUCTION, SETUP, asking_files
from fourhands.engine.harbor_private import terminus_2
from fourhands.engine.session import Session
from fourhands.model.errors import MissingError
from fourhands.model.usage import Usage

__all__ = ["Terminus2"]

_LOG: Final = "terminus-2.log"
_COUNTED: Final = "tokens.json"
"""Harbor would keep it in its own result alone."""


class Terminus2(AttemptingAgent):
    """Harbor's terminus-2 with its own prompt, parser and limits; only its model is reached in another way."""

    _path: str

    @staticmethod
    @override
    def name() -> str:
        return "terminus-2"

    @override
    def version(self) -> str:
        return AGENTS[self.name()].version

    @override
    async def install(self, environment: BaseEnvironment) -> None:
        """See that there is a tmux inside: with no network there, it cannot be brought in.

        Raises:
            MissingError: there is none.
        """
        await super().install(environment)
        found = await environment.exec('command -v tmux > /dev/null && printf %s "$PATH"')
        if found.return_code:
            raise MissingError(NO_TMUX)
        self._path = found.stdout or ""

    @override
    def files(self, session: Session) -> Mapping[str, str]:
        """See `AttemptingAgent.files`. Its terminal is a login shell, whose path the machine's profile has set."""
        profile = f"export PATH={quote(self._path)}\n"
        asking = asking_files(session) if session.asking else {}
        return {**asking, f"{HOME}/.bash_profile": f"{profile}{SETUP}\n" if asking else profile}

    @override
    async def work(self, instruction: str, environment: BaseEnvironment) -> ExecResult:
        """See `AttemptingAgent.work`."""
        await self._write_files()
        session = self._session
        counted = AgentContext()
        async with aiohttp.ClientSession() as http:
            model = GatewayModel(
                http,
                base_url=session.host_url,
                name=session.seen_model,
                token=session.token,
                effort=session.reasoning_effort,
            )
            agent = terminus_2(model, logs_dir=self.logs_dir, model_name=session.seen_model)
            try:
                await agent.setup(environment)
                asked = instruction + INSTRUCTION if session.asking else instruction
                await agent.run(asked, environment, counted)
            except (ModelFailedError, RuntimeError) as error:
                return self._failed(str(error))
            finally:
                self._keep(counted)
            if not await agent.has_terminal():
                return self._failed("its terminal ended before the model said that the task is done")
        return ExecResult(return_code=0)

    def _keep(self, counted: AgentContext) -> None:
        names = {"n_input_tokens", "n_cache_tokens", "n_output_tokens"}
        Path(self.logs_dir, _COUNTED).write_text(counted.model_dump_json(include=names), "utf-8")

    def _failed(self, why: str) -> ExecResult:
        Path(self.logs_dir, _LOG).write_text(f"{why}\n", "utf-8")
        return ExecResult(return_code=1, stderr=why)

    @override
    def reported_usage(self) -> Usage | None:
        """What it counted of the replies it got, its summaries' among them."""
        place = Path(self.logs_dir, _COUNTED)
        if not place.is_file():
            return None
        counted = AgentContext.model_validate_json(place.read_bytes())
        if counted.n_input_tokens is None:
            return None
        cached = counted.n_cache_tokens or 0
        return Usage(
            input=counted.n_input_tokens - cached, cache_read=cached, output=counted.n_output_tokens or 0
        )
