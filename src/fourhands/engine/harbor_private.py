"""All we use of Harbor that is not its public interface, in one place: look here when Harbor moves."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, override

import rich
from harbor.environments.base import BaseEnvironment
from harbor.job import Job
from harbor.llms.base import BaseLLM
from harbor.models.agent.context import AgentContext

__all__ = ["CountingLLM", "Terminus", "quiet_console", "silence", "terminus_2"]


def silence(job: Job) -> None:
    """Keep a job's log out of our terminal; it still goes to the job's file."""
    handler: logging.Handler | None = job._console_handler  # noqa: SLF001
    if handler is not None:
        handler.setLevel(logging.CRITICAL + 1)


@contextmanager
def quiet_console() -> Iterator[None]:
    """Keep Harbor's progress display, which goes to rich's shared console, out of our terminal."""
    rich.reconfigure(quiet=True)
    try:
        yield
    finally:
        rich.reconfigure(quiet=False)


class CountingLLM(BaseLLM):
    """A model for Harbor's own agents that also says how many tokens a history takes."""

    def count(self, messages: list[dict[str, Any]]) -> int:
        """Tokens of a history, as near as can be known."""
        raise NotImplementedError


class Terminus(Protocol):
    """What is used of Harbor's agent terminus-2."""

    async def setup(self, environment: BaseEnvironment) -> None:
        """Start its terminal inside. Raises RuntimeError when there is no tmux."""
        ...

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        """Work until the model has said twice that the task is done, or the terminal is gone."""
        ...

    async def has_terminal(self) -> bool:
        """Whether its terminal is still there: without, it stopped before the model said that it was done."""
        ...


def terminus_2(model: CountingLLM, *, logs_dir: Path, model_name: str) -> Terminus:
    """Harbor's agent terminus-2 with its defaults, but ``model`` for a model and without a recording."""
    agent: Terminus = _driven_terminus()(
        model,
        logs_dir=logs_dir,
        model_name=model_name,
        skip_model_parsing=True,
        record_terminal_session=False,
    )
    return agent


@cache
def _driven_terminus() -> type:
    with _without_litellm():
        from harbor.agents.terminus_2 import Terminus2  # noqa: PLC0415 - imports litellm when it is free to
    from harbor.llms.chat import Chat  # noqa: PLC0415 - comes with it

    class DrivenTerminus(Terminus2):
        def __init__(self, model: CountingLLM, **options: Any) -> None:
            self._model = model
            super().__init__(**options)

        @override
        def _init_llm(self, *args: Any, **kwargs: Any) -> BaseLLM:
            del args, kwargs
            return self._model

        @override
        def _count_total_tokens(self, chat: Chat) -> int:
            return self._model.count(chat.messages)

        async def has_terminal(self) -> bool:
            return self._session is not None and bool(await self._session.is_session_alive())

    return DrivenTerminus


@contextmanager
def _without_litellm() -> Iterator[None]:
    """Stand in for the modules of Harbor that import litellm, as far as terminus-2 needs them without its client."""
    client = ModuleType("harbor.llms.lite_llm")
    config = ModuleType("harbor.llms.litellm_config")
    vars(client).update(LiteLLM=BaseLLM)
    vars(config).update(
        LITELLM_BASE_URL_OVERRIDES={},
        configure_litellm_debug=lambda **_: None,
        litellm_api_base=lambda *_, **__: None,
        litellm_credential_kwargs=lambda *_, **__: {},
    )
    stand_ins = {each.__name__: each for each in (client, config) if each.__name__ not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name in stand_ins:
            del sys.modules[name]
