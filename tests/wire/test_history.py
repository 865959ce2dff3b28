"""A thread's history, taken in by what is new: as if each request were read alone."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.wire.chat import ChatCompletions
from fourhands.wire.history import History, text_call
from fourhands.wire.messages import Messages
from fourhands.wire.types import MalformedError

from .dialects import DIALECTS, NAMES, Dialect, conversations

IDS = st.sampled_from("abc")


def chat(*messages: dict[str, object]) -> list[bytes]:
    return [orjson.dumps(message) for message in messages]


def called(*ids: str) -> dict[str, object]:
    return {"role": "assistant", "tool_calls": [{"id": each} for each in ids]}


def done(call: str, text: str = "done") -> dict[str, object]:
    return {"role": "tool", "tool_call_id": call, "content": text}


@st.composite
def histories(draw: st.DrawFn) -> list[bytes]:
    """Few ids, so that many come again; cut anywhere, as an agent's compaction may."""
    messages: list[dict[str, object]] = [{"role": "user", "content": "fix it"}]
    for batch in draw(st.lists(st.lists(IDS, max_size=3), max_size=5)):
        messages += [called(*batch), *(done(each, draw(st.sampled_from("xy"))) for each in batch)]
        if draw(st.booleans()):
            messages.append({"role": "user", "content": "go on"})
    return chat(*messages)


@settings(max_examples=200)
@given(st.lists(histories(), min_size=1, max_size=4), st.data())
def test_whatever_came_before_a_request_is_read_as_if_it_came_alone(
    requests: list[list[bytes]], data: st.DataObject
) -> None:
    grown = History(ChatCompletions())
    for request in requests:
        grown.take(request)
    alone = History(ChatCompletions())
    alone.take(requests[-1])
    assert grown.replies == alone.replies
    assert grown.last_batch() == alone.last_batch()
    for batch in data.draw(
        st.lists(st.lists(st.sampled_from(["a", "b", "c#2", "a#3"]), max_size=2), max_size=3)
    ):
        assert grown.behind(batch) == alone.behind(batch)
        assert grown.has_called(batch) == alone.has_called(batch)
    ids = data.draw(st.lists(IDS, max_size=3))
    assert grown.next_names(ids) == alone.next_names(ids)


def test_only_new_results_are_told_and_equal_ids_are_numbered() -> None:
    history = History(ChatCompletions())
    first = chat({"role": "user", "content": "fix it"}, called("a"), done("a", "one"))
    assert [(r.call, r.text) for r in history.take(first).results] == [("a", "one")]
    assert history.next_names(["a", "b", "b"]) == ("a#2", "b", "b#2")
    second = [*first, *chat(called("a"), done("a", "two"))]
    news = history.take(second)
    assert (news.start, [(r.call, r.text) for r in news.results]) == (3, [("a#2", "two")])
    assert history.take(second).results == ()


def test_a_history_that_cannot_be_read_leaves_the_thread_as_it_was() -> None:
    history = History(ChatCompletions())
    good = chat({"role": "user", "content": "fix it"}, called("a"), done("a"))
    history.take(good)
    for bad in (b"3", b'{"role": "nobody"}', b'{"role": "assistant", "tool_calls": [3]}'):
        with pytest.raises(MalformedError):
            history.take([*good[:1], bad])
    assert history.behind(["a"]) == 2


@pytest.mark.parametrize("dialect", DIALECTS, ids=NAMES)
@given(turns=conversations())
def test_each_dialect_tells_calls_results_and_turns(dialect: Dialect, turns: list[object]) -> None:
    items = [orjson.dumps(item, option=orjson.OPT_NON_STR_KEYS) for item in dialect.items(turns)]  # type: ignore[arg-type]
    history = History(dialect.wire)
    news = history.take(items)
    expected = [(call, f"out {call}") for turn in turns for call in turn.calls]  # type: ignore[attr-defined]
    assert [(r.call, r.text) for r in news.results] == expected
    assert history.replies == len(turns)


def test_a_moved_cache_mark_is_no_new_action() -> None:
    """Claude Code marks its last turns for the cache, and takes the mark off again with the next request."""
    history = History(Messages())
    result = {"type": "tool_result", "tool_use_id": "a", "content": "one"}
    marked = {**result, "cache_control": {"type": "ephemeral"}}
    opening = {"role": "user", "content": "fix it"}
    model = {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "bash", "input": {}}]}
    history.take([orjson.dumps(each) for each in (opening, model, {"role": "user", "content": [marked]})])
    model2 = {"role": "assistant", "content": [{"type": "tool_use", "id": "b", "name": "bash", "input": {}}]}
    result2 = {"role": "user", "content": [{**marked, "tool_use_id": "b"}]}
    after = [opening, model, {"role": "user", "content": [result]}, model2, result2]
    news = history.take([orjson.dumps(each) for each in after])
    assert [r.call for r in news.results] == ["a", "b"]  # the same name as before: whoever counts knows it
    assert (history.behind(["a"]), history.behind(["b"]), history.replies) == (2, 4, 2)


def test_an_agent_without_tools_acts_by_the_text_of_its_model() -> None:
    history = History(ChatCompletions(), text_actions=True)
    said = '{"commands": []}'
    news = history.take(
        chat(
            {"role": "user", "content": "fix it"},
            {"role": "assistant", "content": said},
            {"role": "user", "content": "the terminal: $"},
        )
    )
    assert [(r.call, r.text) for r in news.results] == [(text_call(said), "the terminal: $")]
    assert history.behind([text_call(said)]) == 2
