"""Whatever an agent does: the user's word is in each request of its main loop once, and nowhere else."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.gateway.traits import AgentTraits
from fourhands.model.event import EventKind

from .scene import scene_maker

Json = dict[str, Any]
Step = tuple[Literal["main", "sub-1", "sub-2", "side"], bool, int, bool]
"""Who asks the model; whether its first call reads what the user watches; how many calls; whether the agent takes the
reply, or asks again."""

TRAITS = AgentTraits(thread_headers=("x-session-id", "x-agent-id"), sub_agent_header="x-agent-id")
TOOLS = [{"name": "Bash", "input_schema": {"type": "object"}}]
WORD = {"type": "text", "text": "I changed it (1)."}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["main", "main", "sub-1", "sub-2", "side"]),
        st.booleans(),
        st.integers(1, 3),
        st.sampled_from([True, True, True, False]),
    ),
    min_size=2,
    max_size=9,
)


@settings(max_examples=12)
@given(STEPS)
async def test_each_request_of_the_main_loop_has_the_word_once_and_is_else_as_the_agent_sent_it(
    steps: list[Step],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        await play([("main", False, 1, True), *steps, ("main", False, 1, True)], Path(folder))


async def play(steps: list[Step], folder: Path) -> None:
    histories: dict[str, list[Json]] = {
        who: [{"role": "user", "content": f"for {who}"}] for who in ("main", "sub-1", "sub-2", "side")
    }
    sent: list[tuple[str, list[Json]]] = []
    async with scene_maker(folder)(k=1, traits=TRAITS) as scene:
        for number, (who, reads, count, takes) in enumerate(steps):
            commands = ["cat a.txt" if reads and n == 0 else "true" for n in range(count)]
            calls = [
                {
                    "type": "tool_use",
                    "id": f"toolu_{number}_{n}",
                    "name": "Bash",
                    "input": {"command": command},
                }
                for n, command in enumerate(commands)
            ]
            content = calls if who != "side" else [{"type": "text", "text": "A title"}]
            usage = {"input_tokens": 7, "output_tokens": 3}
            scene.provider.answers.append(
                {
                    "id": f"msg_{number}",
                    "type": "message",
                    "role": "assistant",
                    "content": content,
                    "usage": usage,
                }
            )
            sent.append((who, list(histories[who])))
            body = {"model": "m", "max_tokens": 9, "messages": histories[who]}
            tools = {} if who == "side" else {"tools": TOOLS}
            headers = {"x-session-id": "1", **({"x-agent-id": who} if who.startswith("sub") else {})}
            status, answer = await scene.send("messages", body | tools, headers)
            assert status == 200, answer
            if takes and who != "side":
                results = [
                    {"type": "tool_result", "tool_use_id": call["id"], "content": "done"} for call in calls
                ]
                histories[who] += [
                    {"role": "assistant", "content": calls},
                    {"role": "user", "content": results},
                ]
        check(sent, [body["messages"] for body in scene.provider.bodies])
        has_read = any(who == "main" and reads and takes for who, reads, _, takes in steps)
        assert not has_read or len(scene.of(EventKind.MESSAGE_SENT)) == 1
        assert len(scene.of(EventKind.MESSAGE_CARRIED)) == len(scene.of(EventKind.MESSAGE_SENT))
        ended = scene.conversation.totals
        events = scene.of(EventKind.MODEL_CALLED)
        assert [event["side"] for event in events] == [who == "side" for who, *_ in steps]
        assert ended.side_calls == sum(who == "side" for who, *_ in steps)


def check(sent: list[tuple[str, list[Json]]], came: list[list[Json]]) -> None:
    """Hold what came to the model against what the agent sent."""
    places = []
    for (who, own), got in zip(sent, came, strict=True):
        found = [
            (at, place)
            for at, turn in enumerate(got)
            if isinstance(turn["content"], list)
            for place, block in enumerate(turn["content"])
            if block == WORD
        ]
        without = [
            {**turn, "content": [block for block in turn["content"] if block != WORD]}
            if isinstance(turn["content"], list)
            else turn
            for turn in got
        ]
        assert without == own
        assert found == [] or who == "main"
        if who == "main":
            places.append(found)
    spoken = [found for found in places if found]
    assert places == [[]] * (len(places) - len(spoken)) + [spoken[0]] * len(spoken) if spoken else True
    for at, place in spoken[0] if spoken else ():
        turn = next(
            got for (who, _), got in zip(sent, came, strict=True) if who == "main" and WORD in _blocks(got)
        )
        assert [block["type"] for block in turn[at]["content"]] == ["tool_result"] * place + ["text"]


def _blocks(history: list[Json]) -> list[Json]:
    return [block for turn in history if isinstance(turn["content"], list) for block in turn["content"]]
