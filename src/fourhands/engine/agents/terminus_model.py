"""The model behind terminus-2: Chat Completions at the gateway, without litellm."""

from __future__ import annotations

import asyncio
from typing import Any, Final, override
from uuid import uuid4

import aiohttp
import orjson
from harbor.llms.base import ContextLengthExceededError, LLMResponse, OutputLengthExceededError
from harbor.models.metric import UsageInfo

from fourhands.engine.harbor_private import CountingLLM

__all__ = ["GatewayModel", "ModelFailedError"]

_WAITS: Final = (4, 8)
"""Seconds before each further try, as Harbor's own client waits."""
_PATIENCE: Final = aiohttp.ClientTimeout(total=None, sock_read=600)
_OK: Final = 200
_BUSY: Final = frozenset({408, 409, 429})
_FIRST_SERVER_ERROR: Final = 500
_TOO_LONG: Final = ("context_length_exceeded", "context length", "context window", "prompt is too long")
"""Words by which providers say that a history does not fit."""
_UNKNOWN_LIMIT: Final = 1_000_000
"""Tokens that Harbor takes for the context of a model that it does not know."""


class ModelFailedError(Exception):
    """The model was asked, and asked again, and did not answer."""


class GatewayModel(CountingLLM):
    """A model at one address. Learns from its replies how many tokens a character takes, and what does not fit."""

    def __init__(
        self, http: aiohttp.ClientSession, *, base_url: str, name: str, token: str, effort: str | None
    ) -> None:
        super().__init__()
        self._http = http
        self._url = f"{base_url}/chat/completions"
        self._headers = {
            "authorization": f"Bearer {token}",
            "content-type": "application/json",
            "x-session-id": uuid4().hex,  # as Harbor's own client sends it
        }
        self._settings: dict[str, Any] = {"model": name, **({"reasoning_effort": effort} if effort else {})}
        self._tokens_per_character = 0.25
        self._limit = _UNKNOWN_LIMIT

    @override
    async def call(
        self, prompt: str, message_history: list[dict[str, Any]] | None = None, **kwargs: Any
    ) -> LLMResponse:
        """Continue a history with ``prompt``; what else Harbor passes is for its other clients.

        Raises:
            ContextLengthExceededError: the history is too long for the model.
            OutputLengthExceededError: the reply was cut; holds what there is of it.
            ModelFailedError: the model does not answer, or says no.
        """
        del kwargs
        messages = [*(message_history or ()), {"role": "user", "content": prompt}]
        body = await self._ask(messages)
        choice = body["choices"][0]
        content = choice["message"].get("content") or ""
        usage = _usage(body.get("usage"))
        if usage is not None and usage.prompt_tokens:
            self._tokens_per_character = usage.prompt_tokens / _characters(messages)
        if choice.get("finish_reason") == "length":
            raise OutputLengthExceededError("the reply was cut at its limit", truncated_response=content)
        return LLMResponse(
            content=content,
            reasoning_content=choice["message"].get("reasoning_content"),
            model_name=body.get("model"),
            usage=usage,
        )

    @override
    def count(self, messages: list[dict[str, Any]]) -> int:
        """See `CountingLLM.count`."""
        return int(_characters(messages) * self._tokens_per_character)

    @override
    def get_model_context_limit(self) -> int:
        """Tokens; less than a history that was refused, once one was."""
        return self._limit

    @override
    def get_model_output_limit(self) -> int | None:
        """Unknown."""
        return None

    async def _ask(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        data = orjson.dumps({**self._settings, "messages": messages})
        for wait in (*_WAITS, None):
            try:
                request = self._http.post(self._url, data=data, headers=self._headers, timeout=_PATIENCE)
                async with request as response:
                    status, said = response.status, await response.read()
                if status == _OK:
                    body: dict[str, Any] = orjson.loads(said)
                    return body
            except (aiohttp.ClientError, TimeoutError, orjson.JSONDecodeError) as error:
                status, said = _FIRST_SERVER_ERROR, str(error).encode()
            text = said.decode("utf-8", "replace")
            if any(words in text.lower() for words in _TOO_LONG):
                self._limit = min(self._limit, self.count(messages))
                raise ContextLengthExceededError(text)
            if wait is None or not (status >= _FIRST_SERVER_ERROR or status in _BUSY):
                raise ModelFailedError(f"the model does not answer: {status} {text}")
            await asyncio.sleep(wait)
        raise AssertionError("the last wait ends the loop")


def _characters(messages: list[dict[str, Any]]) -> int:
    return sum(len(message["content"]) for message in messages)


def _usage(reported: dict[str, Any] | None) -> UsageInfo | None:
    if not reported:
        return None
    cached = (reported.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return UsageInfo(
        prompt_tokens=reported["prompt_tokens"],
        completion_tokens=reported["completion_tokens"],
        cache_tokens=cached,
        cost_usd=0.0,  # no price is made up: it is counted at the gateway
    )
