"""What each provider refuses, in its own words, and what it lets through."""

from __future__ import annotations

from typing import Any

import pytest

from fourhands.wire.serving.chat import ServedChat
from fourhands.wire.serving.messages import ServedMessages
from fourhands.wire.serving.responses import ServedResponses
from fourhands.wire.serving.types import Answer, Asked, ModelTurn, RefusedError, ToolUse, UserTurn

Json = dict[str, Any]


def _user(content: Any = "work") -> Json:
    return {"role": "user", "content": content}


def _calls(*ids: str) -> Json:
    calls = [
        {"id": each, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for each in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _tool(call: str) -> Json:
    return {"role": "tool", "tool_call_id": call, "content": "done"}


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([], "Missing required parameter"),
        ([_user(), _calls("a")], "did not have response messages: a"),
        ([_user(), _calls("a", "b"), _tool("a"), _user(), _tool("b")], "did not have response messages: b"),
        ([_user(), _tool("a")], "no call of the message before"),
        ([_user(), _calls("a"), _tool("a"), _tool("a")], "answered already"),
        ([_user(), _calls("a", "a"), _tool("a")], "Duplicate"),
        ([_user(), {"role": "robot", "content": ""}], "Supported values are: system"),
        ([_user([{"type": "input_text", "text": "x"}])], "Supported types are: text"),
        ([_user(), {"role": "assistant", "content": None}], "got null"),
    ],
)
def test_chat_refuses(messages: list[Json], says: str) -> None:
    with pytest.raises(RefusedError, match=says):
        ServedChat().read({"messages": messages})


def _read_chat(*messages: Json) -> Asked:
    return ServedChat().read({"messages": list(messages)})


def test_chat_takes_results_of_a_batch_in_any_order_and_tells_users_from_clients() -> None:
    asked = _read_chat(
        {"role": "developer", "content": "rules"},
        _user(
            [
                {"type": "text", "text": "<system-reminder>today</system-reminder>"},
                {"type": "text", "text": "go"},
            ]
        ),
        _calls("a", "b"),
        _tool("b"),
        _tool("a"),
        _user("<system-reminder>mind the lint</system-reminder>"),
        _user([{"type": "text", "text": "stop"}, {"type": "image_url", "image_url": {"url": "data:,"}}]),
        _user("<system-reminder>The user sent a new message while you were working: wait</system-reminder>"),
    )
    model, *users = asked.turns
    assert isinstance(model, ModelTurn)
    assert set(model.results) == {"a", "b"}
    assert [user.text[:4] for user in users if isinstance(user, UserTurn)] == ["stop", "<sys"]
    assert asked.instructions == ("rules", "<system-reminder>today</system-reminder>go")


def _call(call: str, kind: str = "function_call", **more: Any) -> Json:
    return {"type": kind, "call_id": call, "name": "bash", "arguments": "{}", **more}


def _output(call: str, kind: str = "function_call_output") -> Json:
    return {"type": kind, "call_id": call, "output": "done"}


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([_user(), _call("a")], "No tool output found for function call a"),
        ([_user(), _output("a")], "No tool call found for function call output with call_id a"),
        ([_user(), _call("a"), _user("wait"), _output("a")], "No tool output found for function call a"),
        (
            [_user(), _call("a"), _output("a", "custom_tool_call_output")],
            "No tool call found for custom tool call",
        ),
        ([_user(), _call("a"), _output("a"), _output("a")], "that has none yet"),
        ([_user(), _call("a"), _call("a"), _output("a")], "Duplicate item"),
        ([_user(), {"type": "thought"}], "Supported values are: function_call"),
        ([_user([{"type": "text", "text": "x"}])], "Supported values are: input_text"),
        ([{"role": "tool", "content": "x"}], "Supported values are: user"),
        (
            [_user(), {"type": "reasoning", "id": "rs_1", "summary": []}],
            "without its required following item",
        ),
        ([_user(), {"type": "reasoning", "id": "rs_1", "summary": []}, _user()], "required following item"),
    ],
)
def test_responses_refuses(items: list[Json], says: str) -> None:
    with pytest.raises(RefusedError, match=says):
        ServedResponses().read({"input": items})


def test_responses_knows_only_what_it_has_answered_and_kept() -> None:
    wire = ServedResponses()
    first: Json = {"input": "work", "tools": [{"type": "custom", "name": "bash"}]}
    asked = wire.read(first)
    reply = wire.reply(first, asked, Answer("look", (ToolUse(asked.tools[0], "ls"),)))
    call = reply["output"][-1]
    assert (call["type"], call["input"]) == ("custom_tool_call", "ls")
    output = _output(call["call_id"], "custom_tool_call_output")
    going_on = {"previous_response_id": reply["id"], "input": [output]}
    later = wire.read(going_on)
    assert (later.instructions, later.replies) == (("", "work"), 1)
    assert later.seen_tokens > 0
    with pytest.raises(RefusedError, match="No tool output found"):
        wire.read({"previous_response_id": reply["id"], "input": "on"})
    unkept = wire.reply(
        first | {"store": False, "input": "other"}, wire.read({"input": "other"}), Answer("no")
    )
    for unknown in (unkept["id"], "resp_1"):
        with pytest.raises(RefusedError, match=f"'{unknown}' not found"):
            wire.read({"previous_response_id": unknown, "input": "on"})


def test_responses_takes_each_result_right_behind_its_call_as_one_reply() -> None:
    wire = ServedResponses()
    body: Json = {"input": [_user()], "tools": [{"type": "local_shell"}]}
    asked = wire.read(body)
    use = ToolUse(asked.tools[0], {"command": ["ls"]})
    one, two = wire.reply(body, asked, Answer("", (use, use)))["output"]
    results = [_output(each["call_id"], "local_shell_call_output") for each in (one, two)]
    again = wire.read(
        {"input": [_user(), one, results[0], two, results[1], _user("<x>note</x>"), _user("stop")]}
    )
    model, user = again.turns
    assert isinstance(model, ModelTurn)
    assert len(model.calls) == len(model.results) == 2
    assert user == UserTurn("stop")


def test_responses_finds_tools_in_namespaces_and_in_the_history() -> None:
    function = {"type": "function", "name": "spawn_agent", "parameters": {"type": "object"}}
    space = {"type": "namespace", "name": "agents", "tools": [function]}
    added = {"type": "additional_tools", "role": "developer", "tools": [space]}
    for body in ({"input": "x", "tools": [space]}, {"input": [added, _user()]}):
        wire = ServedResponses()
        asked = wire.read(body)
        (tool,) = asked.tools
        assert (tool.namespace, tool.name) == ("agents", "spawn_agent")
        (call,) = wire.reply(body, asked, Answer("", (ToolUse(tool, {}),)))["output"]
        assert (call["namespace"], call["name"]) == ("agents", "spawn_agent")


def _uses(*ids: str) -> Json:
    content = [{"type": "tool_use", "id": each, "name": "Bash", "input": {}} for each in ids]
    return {"role": "assistant", "content": content}


def _result(call: str) -> Json:
    return {"type": "tool_result", "tool_use_id": call, "content": "done"}


_TEXT = {"type": "text", "text": "stop"}


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([_uses("a")], "first message must use"),
        (
            [_user(), _uses("a")],
            "`tool_use` ids were found without `tool_result` blocks immediately after: a",
        ),
        ([_user(), _uses("a", "b"), _user([_result("a")])], "immediately after: b"),
        ([_user(), _uses("a"), _user([_TEXT, _result("a")])], "must come first"),
        ([_user(), _uses("a"), _user(), _user([_result("a")])], "must come first"),
        ([_user(), _uses("a", "b"), _user([_result("a"), _result("a"), _result("b")])], "single result"),
        ([_user(), _uses("a"), _user([_result("b")])], "unexpected `tool_use_id`"),
        ([_user(), _uses("a"), _user([_result("a")]), _uses("a"), _user([_result("a")])], "must be unique"),
        ([_user([{"type": "text", "text": " "}])], "non-whitespace"),
        ([_user([{"type": "tool_use", "id": "a"}])], "does not match any of the expected tags"),
        ([_user([{"type": "thought"}])], "does not match any of the expected tags"),
        ([{"role": "tool", "content": "x"}], "Input should be 'user' or 'assistant'"),
        ([_user([_TEXT | {"cache_control": {"type": "ephemeral"}}] * 5)], "maximum of 4 blocks"),
    ],
)
def test_messages_refuses(messages: list[Json], says: str) -> None:
    with pytest.raises(RefusedError, match=says):
        ServedMessages().read({"messages": messages})


def test_messages_takes_turns_of_one_role_as_one_and_notes_of_the_client_between() -> None:
    asked = ServedMessages().read(
        {
            "messages": [
                _user(),
                {"role": "system", "content": "Available agent types: none"},
                _uses("a"),
                _uses("b"),
                _user([_result("b")]),
                _user([_result("a"), _TEXT]),
                {"role": "system", "content": [_TEXT]},
                {"role": "assistant", "content": "yes"},
                _user("<system-reminder>a note</system-reminder>"),
            ]
        }
    )
    first, stop, last = asked.turns
    assert isinstance(first, ModelTurn)
    assert isinstance(last, ModelTurn)
    assert [call.id for call in first.calls] == ["a", "b"]
    assert set(first.results) == {"a", "b"}
    assert stop == UserTurn("stop")
    assert last.text == "yes"


def test_messages_offers_a_deferred_tool_once_a_note_or_a_search_has_brought_it() -> None:
    tools: list[Json] = [
        {"name": name, "input_schema": {"type": "object"}, "defer_loading": name != "Bash"}
        for name in ("Bash", "ask_the_user", "found", "hidden")
    ]
    added = [{"type": f"tool_{what}", "tool": {"type": "tool_reference", "name": "ask_the_user"}}
             for what in ("addition", "removal")]  # fmt: skip
    found = _result("a") | {"content": [{"type": "tool_reference", "tool_name": "found"}]}
    history = [
        _user(),
        _uses("a"),
        _user([found]),
        {"role": "system", "content": [_TEXT, added[0]]},
        {"role": "system", "content": [added[1]]},
    ]
    offered = [
        [tool.name for tool in ServedMessages().read({"messages": history[:end], "tools": tools}).tools]
        for end in (1, 3, 4, 5)
    ]
    assert offered == [["Bash"], ["Bash", "found"], ["Bash", "ask_the_user", "found"], ["Bash", "found"]]


def test_messages_counts_as_cached_what_stood_in_the_request_before_and_only_if_asked_to() -> None:
    wire = ServedMessages()
    mark = {"cache_control": {"type": "ephemeral"}}
    first: Json = {"messages": [_user([_TEXT | {"text": "work " * 99} | mark])]}
    plain: Json = {"messages": [_user("work " * 99)]}
    usages = []
    for body in (first, plain):
        asked = wire.read(body)
        usages.append(wire.reply(body, asked, Answer("yes"))["usage"])
    asked = wire.read({"messages": [*first["messages"], {"role": "assistant", "content": "yes"}, _user()]})
    usages.append(wire.reply(first, asked, Answer("on"))["usage"])
    started, unmarked, later = usages
    assert started["cache_read_input_tokens"] == unmarked["cache_creation_input_tokens"] == 0
    assert unmarked["input_tokens"] > 100
    written = started["cache_creation_input_tokens"]
    assert written + started["input_tokens"] == later["cache_read_input_tokens"] > 100
    assert sum(later[key] for key in later if "input" in key) == asked.tokens


def test_messages_thinks_only_when_asked_and_refuses_a_changed_thought() -> None:
    wire = ServedMessages()
    body: Json = {
        "messages": [_user()],
        "tools": [
            {"name": "Bash", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "w"},
        ],
        "thinking": {"type": "adaptive"},
    }
    asked = wire.read(body)
    (tool,) = asked.tools  # the provider carries out the other itself
    answer = Answer("", (ToolUse(tool, {}),), reasoning="hm")
    thought, use = wire.reply(body, asked, answer)["content"]
    assert (thought["type"], use["type"]) == ("thinking", "tool_use")
    kept = [_user(), {"role": "assistant", "content": [thought, use]}, _user([_result(use["id"])])]
    assert wire.read({**body, "messages": kept}).replies == 1
    for content, says in (
        ([use], "Expected `thinking`"),
        ([{**thought, "thinking": "ha"}, use], "Invalid `signature`"),
        ([{**thought, "signature": "x"}, use], "Invalid `signature`"),
    ):
        with pytest.raises(RefusedError, match=says):
            wire.read({**body, "messages": [kept[0], {"role": "assistant", "content": content}, kept[2]]})
    quiet = {key: value for key, value in body.items() if key != "thinking"}
    assert [each["type"] for each in wire.reply(quiet, wire.read(quiet), answer)["content"]] == ["tool_use"]
