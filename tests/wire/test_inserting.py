"""A user's messages in random histories of three dialects: exactly once, in order, and not a byte beside them."""

from __future__ import annotations

from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.wire.document import Document
from fourhands.wire.history import History
from fourhands.wire.inserting import insert
from fourhands.wire.serving.types import RefusedError
from fourhands.wire.types import Insertion

from .dialects import DIALECTS, NAMES, Dialect, Turn, bodies, conversations


def texts(value: Any) -> list[str]:
    """All texts of a JSON value, in order."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for each in inner for text in texts(each)]


def speak(dialect: Dialect, raw: bytes, insertions: list[Insertion]) -> tuple[bytes, tuple[str, ...]]:
    document = Document.read(dialect.wire, raw)
    history = History(dialect.wire)
    history.take(document.items)
    spoken, carried = insert(document, history, insertions)
    return spoken.encode(), carried


def raw_blocks(wire_name: str, item: Any) -> list[bytes]:
    """What an item is made of, as bytes: the blocks of an Anthropic turn, else the item as it is."""
    raw = bytes(item)
    if wire_name != "messages" or orjson.loads(raw)["role"] != "user":
        return [raw]
    content = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])["content"]
    if not bytes(content).startswith(b"["):
        return [bytes(content)]
    return [bytes(each) for each in msgspec.json.decode(content, type=list[msgspec.Raw])]


@pytest.mark.parametrize("dialect", DIALECTS, ids=NAMES)
@given(data=st.data(), turns=conversations())
def test_messages_are_inserted_once_in_valid_order_and_all_else_is_kept_byte_for_byte(
    dialect: Dialect, data: st.DataObject, turns: list[Turn]
) -> None:
    raw = data.draw(bodies(dialect, dialect.items(turns)))
    batches = [turn.calls for turn in turns if turn.calls]
    chosen = data.draw(st.lists(st.sampled_from([*batches, ("never",)]), max_size=4)) if batches else []
    insertions = [Insertion(f"m{n}", batch, f"the user's word {n}") for n, batch in enumerate(chosen)]
    spoken, carried = speak(dialect, raw, insertions)
    due = [each for each in insertions if each.batch != ("never",)]
    assert carried == tuple(each.id for each in due)
    if not due:
        assert spoken == raw
        return
    dialect.served().read(orjson.loads(spoken))  # a strict server takes it
    said = [text for text in texts(orjson.loads(spoken)) if text.startswith("the user's word")]
    order = sorted(due, key=lambda each: batches.index(each.batch))
    assert said == [each.text for each in order]
    before, after = Document.read(dialect.wire, raw), Document.read(dialect.wire, spoken)
    assert {key: bytes(v) for key, v in before.fields.items() if key != dialect.wire.history_key} == {
        key: bytes(v) for key, v in after.fields.items() if key != dialect.wire.history_key
    }
    assert list(before.fields) == list(after.fields)
    name = dialect.wire.name
    kept = [
        block for item in after.items for block in raw_blocks(name, item) if b"the user's word" not in block
    ]
    assert kept == [block for item in before.items for block in raw_blocks(name, item)]


@pytest.mark.parametrize("dialect", DIALECTS, ids=NAMES)
@given(data=st.data(), turns=conversations())
def test_a_message_stands_right_behind_the_results_of_its_actions(
    dialect: Dialect, data: st.DataObject, turns: list[Turn]
) -> None:
    acting = [turn for turn in turns if turn.calls]
    if not acting:
        return
    turn = data.draw(st.sampled_from(acting))
    part = data.draw(st.lists(st.sampled_from(turn.calls), min_size=1, unique=True))
    raw = data.draw(bodies(dialect, dialect.items(turns)))
    spoken, _ = speak(dialect, raw, [Insertion("m1", tuple(part), "the user's word")])
    found = texts(orjson.loads(spoken)[dialect.wire.history_key])
    behind = found[: found.index("the user's word")]
    outputs = [text for text in behind if text.startswith("out ")]
    assert outputs[-1] == f"out {turn.calls[-1]}"
    if turn.remark is not None:
        assert turn.remark not in behind[behind.index(outputs[-1]) :]


@pytest.mark.parametrize("dialect", DIALECTS, ids=NAMES)
@given(data=st.data(), turns=conversations())
def test_without_its_actions_a_message_stands_behind_the_users_first_words(
    dialect: Dialect, data: st.DataObject, turns: list[Turn]
) -> None:
    raw = data.draw(bodies(dialect, dialect.items(turns)))
    spoken, carried = speak(
        dialect, raw, [Insertion("m1", (), "first word"), Insertion("m2", (), "second word")]
    )
    assert carried == ("m1", "m2")
    dialect.served().read(orjson.loads(spoken))
    found = texts(orjson.loads(spoken)[dialect.wire.history_key])
    place = found.index("fix it")
    rest = [text for text in found[place + 1 :] if text not in {"user", "text", "message", "input_text"}]
    assert rest[:2] == ["first word", "second word"]


@pytest.mark.parametrize("dialect", DIALECTS, ids=NAMES)
def test_the_strict_server_refuses_a_message_between_two_results(dialect: Dialect) -> None:
    """So that a test which passes by it shows something."""
    items = dialect.items([Turn("I look", thinks=False, calls=("a", "b"), remark=None)])
    word = dialect.items([])[-1]
    if dialect.wire.name == "messages":
        items[-1]["content"].insert(1, {"type": "text", "text": "between"})
    else:
        items.insert(-1, word)
    body = {"model": "m", "tools": dialect.tools, dialect.wire.history_key: items, "max_tokens": 9}
    if (
        dialect.wire.name == "responses"
    ):  # where a word may stand between two outputs, but no output may be missing
        del items[-1]
    with pytest.raises(RefusedError):
        dialect.served().read(body)
