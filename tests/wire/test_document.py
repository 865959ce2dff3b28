from __future__ import annotations

import orjson
import pytest

from fourhands.wire.chat import ChatCompletions
from fourhands.wire.document import Document, with_model
from fourhands.wire.messages import Messages
from fourhands.wire.responses import Responses
from fourhands.wire.types import MalformedError, Wire


@pytest.mark.parametrize(
    "raw", [b"{", b"[]", b'{"model": "m"}', b'{"messages": 3}', b'{"messages": {}}', b""]
)
def test_what_is_no_request_is_refused_by_its_name(raw: bytes) -> None:
    with pytest.raises(MalformedError, match="chat request"):
        Document.read(ChatCompletions(), raw)


DEEP = b"[" * 1200 + b"]" * 1200
DEEPER = b"[" * 100_000


@pytest.mark.parametrize("odd", [DEEP, DEEPER, b'"\xff"'], ids=["deep", "deeper", "not_utf_8"])
@pytest.mark.parametrize(
    ("wire", "key"),
    [
        *(
            (wire, key)
            for wire in (ChatCompletions(), Messages(), Responses())
            for key in ("model", "stream", "stream_options", "tools")
        ),
        (Responses(), "previous_response_id"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_what_nobody_can_read_is_refused_by_its_name(wire: Wire, key: str, odd: bytes) -> None:
    raw = b'{"%s": [], "%s": %s}' % (wire.history_key.encode(), key.encode(), odd)
    with pytest.raises(MalformedError, match=f"a {wire.name} request"):
        _ = (document := Document.read(wire, raw)).tools, document.previous


def test_text_is_told_from_other_bytes_wherever_a_piece_of_it_ends() -> None:
    text = ("x" * ((1 << 20) - 1) + "é") * 2
    document = Document.read(ChatCompletions(), b'{"messages": [], "x": "%s"}' % text.encode())
    assert document.value("x") == text
    with pytest.raises(MalformedError, match="utf-8"):
        Document.read(ChatCompletions(), b'{"messages": [], "x": "%s\xc3"}' % text.encode())


def test_another_model_is_put_into_a_request_that_is_no_call() -> None:
    raw = b'{"model": "a", "messages": [1.10], "mod\\u0065l": "b"}'
    assert orjson.loads(with_model(raw, "real")) == {"model": "real", "messages": [1.10]}
    assert with_model(b"{}", "real") == b'{"model":"real"}'
    for odd in (b"", b"[]", b"{", b'{"x": ' + DEEPER):
        with pytest.raises(MalformedError, match="JSON object"):
            with_model(odd, "real")


def test_a_body_goes_on_as_it_came_until_something_changes() -> None:
    raw = b'{ "messages" : [ ],\t"temperature": 1.10, "model":"a" }'
    document = Document.read(ChatCompletions(), raw)
    assert document.encode() is raw
    assert document.with_fields({"model": b'"a"'}).encode() is raw
    changed = document.with_fields({"model": b'"b"', "stream_options": b"{}"})
    assert changed.encode() == b'{"messages":[ ],"temperature":1.10,"model":"b","stream_options":{}}'


def test_the_input_of_responses_may_be_one_text() -> None:
    document = Document.read(Responses(), b'{"input": "hello", "stream": true}')
    assert (document.items, document.streamed) == ((), True)
    assert document.with_fields({"model": b'"b"'}).encode() == b'{"input":"hello","stream":true,"model":"b"}'


@pytest.mark.parametrize(
    ("wire", "tools", "names"),
    [
        (ChatCompletions(), [{"type": "function", "function": {"name": "bash"}}], ("bash",)),
        (
            Messages(),
            [{"name": "Bash"}, {"type": "web_search_20250305"}, {"name": "Late", "defer_loading": True}],
            ("Bash", "web_search_20250305"),
        ),
        (
            Responses(),
            [
                {"type": "function", "name": "shell"},
                {"type": "local_shell"},
                {
                    "type": "namespace",
                    "name": "user",
                    "tools": [{"type": "function", "name": "ask_the_user"}],
                },
            ],
            ("shell", "local_shell", "user.ask_the_user"),
        ),
    ],
    ids=["chat", "messages", "responses"],
)
def test_the_tools_offered_are_told_by_name(wire: Wire, tools: list[object], names: tuple[str, ...]) -> None:
    raw = orjson.dumps({wire.history_key: [], "tools": tools})
    assert Document.read(wire, raw).tools == names
    assert Document.read(wire, orjson.dumps({wire.history_key: []})).tools == ()


def test_a_reply_to_go_on_from_is_named_in_responses_alone() -> None:
    body = b'{"%s": [], "previous_response_id": "resp_1"}'
    assert Document.read(Responses(), body % b"input").previous == "resp_1"
    assert Document.read(ChatCompletions(), body % b"messages").previous is None


def test_tools_may_be_offered_by_the_first_item_of_a_history() -> None:
    inner = {"type": "namespace", "name": "user", "tools": [{"type": "function", "name": "ask_the_user"}]}
    item = {"type": "additional_tools", "tools": [{"type": "custom", "name": "exec"}, inner]}
    said = {"type": "message", "role": "user", "content": "fix it"}
    raw = orjson.dumps({"input": [item, said], "model": "m"})
    assert Document.read(Responses(), raw).tools == ("exec", "user.ask_the_user")
