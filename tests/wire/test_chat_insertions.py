"""Insertions into a history of any shape, with ids that come again."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fourhands.wire.chat import ChatCompletions
from fourhands.wire.types import Insertion, number_repeats

WIRE = ChatCompletions()
IDS = st.sampled_from("abc")


@st.composite
def histories(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Turns of the model with their results, a remark here and there; few ids, so that many repeat."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "fix it"}]
    for batch in draw(st.lists(st.lists(IDS, max_size=3), max_size=6)):
        messages.append({"role": "assistant", "tool_calls": [{"id": each} for each in batch]})
        messages += [{"role": "tool", "tool_call_id": each, "content": "done"} for each in batch]
        if draw(st.booleans()):
            messages.append({"role": "user", "content": "go on"})
    return messages


BATCHES = st.lists(st.sampled_from(["a", "b", "c", "a#2", "b#2", "c#3", "never"]), min_size=1, max_size=3)


@given(histories(), st.lists(BATCHES, max_size=5))
def test_all_insertions_at_once_are_the_same_as_one_after_another(
    messages: list[dict[str, Any]], batches: list[list[str]]
) -> None:
    insertions = [Insertion(f"m{n}", tuple(batch), f"word {n}") for n, batch in enumerate(batches)]
    body = {"model": "m", "messages": messages}
    one_by_one, carried = body, []
    for insertion in reversed(insertions):  # what comes in later at one place goes in front
        one_by_one, ids = WIRE.prepare(one_by_one, [insertion])
        carried += ids
    assert WIRE.prepare(body, insertions) == (one_by_one, tuple(reversed(carried)))


@given(histories(), BATCHES)
def test_a_message_stands_behind_the_last_result_of_its_batch_and_parts_no_results(
    messages: list[dict[str, Any]], batch: list[str]
) -> None:
    prepared, carried = WIRE.prepare(
        {"model": "m", "messages": messages}, [Insertion("m1", tuple(batch), "a word")]
    )
    ids = number_repeats(each["tool_call_id"] for each in messages if each["role"] == "tool")
    assert carried == (("m1",) if set(batch) & set(ids) else ())
    if carried:
        words = [each.get("content") for each in prepared["messages"]]
        place = words.index("a word")
        before = [each for each in prepared["messages"][:place] if each["role"] == "tool"]
        assert not set(batch) & set(ids[len(before) :])
        assert prepared["messages"][place - 1]["role"] == "tool"
        assert place + 1 == len(words) or prepared["messages"][place + 1]["role"] != "tool"
        assert [each for n, each in enumerate(prepared["messages"]) if n != place] == messages


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=8))
def test_equal_ids_are_told_apart_by_their_order(ids: list[str]) -> None:
    expected = [
        each if (times := ids[: n + 1].count(each)) == 1 else f"{each}#{times}" for n, each in enumerate(ids)
    ]
    assert number_repeats(iter(ids)) == expected
