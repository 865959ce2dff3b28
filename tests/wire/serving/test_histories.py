"""Random conversations on all wires: what a correct client sends is accepted, and any damage to it is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.wire.serving.types import Answer, Asked, RefusedError, ToolUse, UserTurn

from .clients import CLIENTS, Client, MessagesClient, ResponsesClient

Json = dict[str, Any]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
WORDS = TEXT.filter(lambda text: not text.lstrip().startswith("<"))

every_wire = pytest.mark.parametrize("make", CLIENTS, ids=["chat", "responses", "messages"])


def _answer(asked: Asked, text: str, commands: list[str]) -> Answer:
    uses = tuple(ToolUse(asked.tools[0], {"command": command}) for command in commands)
    return Answer(text, uses, reasoning=f"about {text}")


Script = list[tuple[str, list[str], list[str]]]
"""For each reply: what the model says, its commands, and what the user says then."""
scripts = st.lists(
    st.tuples(TEXT, st.lists(TEXT, max_size=3), st.lists(WORDS, max_size=2)).filter(
        lambda each: each[1] or each[2]
    ),
    max_size=5,
)


def _play(client: Client, script: Script) -> list[Json]:
    """Have the conversation; the whole replies."""
    replies = []
    for text, commands, words in script:
        body = client.body()
        asked = client.wire.read(body)
        reply = client.wire.reply(body, asked, _answer(asked, text, commands))
        client.take(reply, [f"result of {command}" for command in commands], words)
        replies.append(reply)
    return replies


@every_wire
@given(script=scripts, last=st.tuples(TEXT, st.lists(TEXT, max_size=3)))
def test_whole_and_streamed_a_reply_says_the_same(
    make: Callable[[str], Client], script: Script, last: tuple[str, list[str]]
) -> None:
    client = make("prompt")
    _play(client, script)
    body = client.body()
    asked = client.wire.read(body)
    reply = client.wire.reply(body, asked, _answer(asked, *last))
    assert client.fold(client.wire.stream(body, reply)) == reply
    assert reply == client.wire.reply(body, client.wire.read(body), _answer(asked, *last))


@every_wire
@given(script=scripts)
def test_what_a_correct_client_sends_is_read_as_it_was_said(
    make: Callable[[str], Client], script: Script
) -> None:
    client = make("the prompt")
    _play(client, script)
    asked = client.wire.read(client.body())
    expected: list[object] = []
    for text, commands, words in script:
        expected.append((text, commands, [f"result of {command}" for command in commands]))
        expected.extend(words)
    read = [
        turn.text
        if isinstance(turn, UserTurn)
        else (
            turn.text,
            [call.arguments["command"] for call in turn.calls if isinstance(call.arguments, dict)],
            [turn.results[call.id] for call in turn.calls],
        )
        for turn in asked.turns
    ]
    assert read == expected
    assert asked.instructions[-1] == "the prompt"
    assert [tool.name for tool in asked.tools] == ["bash"]


def _change(unit: Json) -> None:
    """Damage the one thing by which others know it, or which only its provider can write."""
    if unit.get("tool_calls"):
        unit["tool_calls"][0]["id"] += "x"
        return
    for key in ("tool_call_id", "call_id", "tool_use_id", "thinking", "id"):
        if key in unit:
            unit[key] += "x"
            return


def _units(client: Client) -> list[tuple[list[Json], int]]:
    """Everything in the history that hangs on something else: the list it stands in, and where."""
    if isinstance(client, MessagesClient):
        return [
            (message["content"], at)
            for message in client.items
            for at, block in enumerate(message["content"])
            if block["type"] in {"tool_use", "tool_result"}
            or (block["type"] == "thinking" and message["content"][-1]["type"] == "tool_use")
        ]
    if isinstance(client, ResponsesClient):
        bound = {"function_call", "function_call_output", "reasoning"}
        return [(client.items, at) for at, item in enumerate(client.items) if item["type"] in bound]
    return [
        (client.items, at)
        for at, message in enumerate(client.items)
        if message["role"] == "tool" or message.get("tool_calls")
    ]


@every_wire
@given(script=scripts.filter(lambda script: any(commands for _, commands, _ in script)), data=st.data())
def test_damage_is_refused(make: Callable[[str], Client], script: Script, data: st.DataObject) -> None:
    client = make("prompt")
    _play(client, script)
    place, at = data.draw(st.sampled_from(_units(client)), "unit")
    match data.draw(st.sampled_from(["drop", "double", "to the front", "changed"]), "damage"):
        case "drop":
            del place[at]
        case "double":
            place.insert(at, place[at])
        case "to the front":
            unit = place.pop(at)
            client.items.insert(0, {"role": "user", "content": [unit]} if place is not client.items else unit)
        case "changed":
            if place[at].get("type") == "reasoning":
                place[at]["summary"][0]["text"] += "x"
            else:
                _change(place[at])
    with pytest.raises(RefusedError):
        client.wire.read(client.body())
