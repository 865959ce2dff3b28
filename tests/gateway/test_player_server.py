"""The server of stand-ins over HTTP, on every wire, with a provider's own client where there is one."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from aiohttp.test_utils import TestClient, TestServer

from fourhands.gateway.playbook import Move, Playbook, Temperament
from fourhands.gateway.players import PlayerServer, ScriptedPlayer
from fourhands.wire.types import Json

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
CHAT_TOOL = {"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}
RESPONSES_TOOL = {"type": "function", "name": "bash", "parameters": SCHEMA, "strict": False}
PLAYBOOK = Playbook(
    schema_version=1,
    moves=(Move(thought="Both at once.", parallel=("ls", "git log")), Move(thought="Done.", submit=True)),
    temperaments={"keeps": Temperament()},
)
Logged = list[tuple[str, str, Json, Json]]
Client = TestClient[Any, Any]


@pytest.fixture
def log() -> Logged:
    return []


@pytest.fixture
async def client(log: Logged) -> AsyncIterator[Client]:
    server = PlayerServer({"a b": ScriptedPlayer(PLAYBOOK, "keeps")}, lambda *exchange: log.append(exchange))
    async with TestClient(TestServer(server.app)) as client:
        yield client


@pytest.fixture
async def provider(client: Client) -> AsyncIterator[openai.AsyncOpenAI]:
    address = str(client.make_url("/")).rstrip("/") + PlayerServer.path("a b")
    async with openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0) as provider:
        yield provider


async def test_openais_client_hears_the_same_from_a_streamed_completion_and_a_whole_one(
    provider: openai.AsyncOpenAI,
) -> None:
    ask: Any = {"model": "m", "messages": [{"role": "user", "content": "work"}], "tools": [CHAT_TOOL]}
    whole = await provider.chat.completions.create(**ask)
    async with provider.chat.completions.stream(**ask, stream_options={"include_usage": True}) as stream:
        streamed = await stream.get_final_completion()
    first, second = whole.choices[0].message, streamed.choices[0].message
    assert first.content == second.content == "Both at once."
    for calls in (first.tool_calls, second.tool_calls):
        assert calls is not None
        commands = [
            json.loads(call.function.arguments)["command"] for call in calls if call.type == "function"
        ]
        assert commands == ["ls", "git log"]
    assert whole.usage == streamed.usage
    assert [call.id for call in first.tool_calls or ()] == [call.id for call in second.tool_calls or ()]


async def test_openais_client_hears_the_same_from_a_streamed_response_and_a_whole_one(
    provider: openai.AsyncOpenAI,
) -> None:
    ask: Any = {
        "model": "m",
        "input": "work",
        "tools": [RESPONSES_TOOL],
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
    }
    whole = await provider.responses.create(**ask)
    async with provider.responses.stream(**ask) as stream:
        kinds = [event.type async for event in stream]
        streamed = await stream.get_final_response()
    assert [_plain(each.to_dict()) for each in streamed.output] == [each.to_dict() for each in whole.output]
    assert [each.type for each in whole.output] == ["reasoning", "message", "function_call", "function_call"]
    assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
    assert kinds[-2:] == ["response.output_item.done", "response.completed"]
    assert kinds.count("response.function_call_arguments.done") == 2
    assert whole.usage is not None
    assert whole.usage == streamed.usage
    assert 0 < whole.usage.output_tokens_details.reasoning_tokens < whole.usage.output_tokens
    outputs: Any = [
        {"type": "function_call_output", "call_id": each.call_id, "output": "x"}
        for each in whole.output
        if each.type == "function_call"
    ]
    last = await provider.responses.create(model="m", input=outputs, previous_response_id=whole.id, tools=[])
    assert last.output_text == "Fix"  # without tools it is no step of the work


def _plain(item: Any) -> Any:
    """Without what OpenAI's client has read out of an item."""
    if isinstance(item, dict):
        return {key: _plain(value) for key, value in item.items() if not key.startswith("parsed")}
    return [_plain(each) for each in item] if isinstance(item, list) else item


async def _messages(client: Client, **body: Any) -> tuple[int, Json]:
    path = f"{PlayerServer.path('a b')}/{body.pop('at', 'messages')}"
    tool = {"name": "Bash", "input_schema": SCHEMA}
    response = await client.post(path, params={"beta": "true"}, json={"model": "m", "tools": [tool], **body})
    return response.status, await response.json()


async def test_a_conversation_in_messages_goes_on_to_its_end(client: Client) -> None:
    history: list[Json] = [{"role": "user", "content": "work"}]
    _, reply = await _messages(client, messages=history)
    _, counted = await _messages(client, messages=history, at="messages/count_tokens")
    assert counted == {"input_tokens": reply["usage"]["input_tokens"]}
    text, *uses = reply["content"]
    assert (text["text"], [use["input"]["command"] for use in uses]) == ("Both at once.", ["ls", "git log"])
    assert reply["stop_reason"] == "tool_use"
    results = [{"type": "tool_result", "tool_use_id": use["id"], "content": "x"} for use in reversed(uses)]
    history += [{"role": "assistant", "content": reply["content"]}, {"role": "user", "content": results}]
    _, last = await _messages(client, messages=history)
    assert (last["content"], last["stop_reason"]) == ([{"type": "text", "text": "Done."}], "end_turn")


async def test_what_is_out_of_order_is_refused_in_the_wires_own_form_and_logged(
    client: Client, provider: openai.AsyncOpenAI, log: Logged
) -> None:
    stray: Any = [{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "a", "content": ""}]
    with pytest.raises(openai.BadRequestError, match="must be a response to a preceeding message"):
        await provider.chat.completions.create(model="m", messages=stray)
    with pytest.raises(openai.BadRequestError, match="Previous response with id 'resp_0' not found"):
        await provider.responses.create(model="m", input="x", previous_response_id="resp_0")
    status, error = await _messages(client, messages=[{"role": "assistant", "content": "x"}])
    assert (status, error["type"], error["error"]["type"]) == (400, "error", "invalid_request_error")
    assert [(player, path) for player, path, _, _ in log] == [
        ("a b", "chat/completions"),
        ("a b", "responses"),
        ("a b", "messages"),
    ]
    assert all("error" in reply for *_, reply in log)


async def test_the_log_has_the_request_and_the_whole_reply_of_a_stream(client: Client, log: Logged) -> None:
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "work"}]}
    response = await client.post(f"{PlayerServer.path('a b')}/messages", json=body)
    assert response.content_type == "text/event-stream"
    events = (await response.read()).split(b"\n\n")
    assert events[0].startswith(b"event: message_start\n")
    assert events[-2:] == [b'event: message_stop\ndata: {"type":"message_stop"}', b""]
    ((player, path, request, reply),) = log
    assert (player, path, request) == ("a b", "messages", body)
    assert reply["content"] == [{"type": "text", "text": "Fix"}]


async def test_models_are_listed_as_the_client_knows_them(
    client: Client, provider: openai.AsyncOpenAI
) -> None:
    assert [model.id async for model in provider.models.list()] == ["model"]
    assert (await provider.models.retrieve("other")).id == "other"
    headers = {"anthropic-version": "2023-06-01"}
    listed = await (await client.get(f"{PlayerServer.path('a b')}/models", headers=headers)).json()
    assert (listed["data"][0]["type"], listed["has_more"]) == ("model", False)


@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages", "messages/count_tokens"])
async def test_a_player_that_is_not_there_is_said_so(client: Client, path: str) -> None:
    body = {"messages": [{"role": "user", "content": "x"}], "input": "x"}
    response = await client.post(f"{PlayerServer.path('nobody')}/{path}", json=body)
    assert response.status == 404
    assert "no player 'nobody'" in await response.text()


@pytest.mark.parametrize("path", ["chat/completions", "responses", "messages", "messages/count_tokens"])
async def test_a_body_that_is_not_json_is_refused_and_not_remembered(
    client: Client, log: Logged, path: str
) -> None:
    async with client.post(f"{PlayerServer.path('a b')}/{path}", data=b"") as answer:
        assert answer.status == 400
        assert "not JSON" in await answer.text()
    assert log == []
