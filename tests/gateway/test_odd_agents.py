"""Agents that count, name and shorten in ways of their own: no action, message or step is lost or doubled by it."""

from __future__ import annotations

from typing import Any

import orjson

from fourhands.gateway.traits import AgentTraits
from fourhands.model.event import EventKind
from fourhands.model.user import Moment

from .scene import TOOLS, MakeScene, Scene, completion

WORD = "I changed it (1)."
READ = "sed -n '9,11p' a.txt"


class Agent:
    """A conversation over Chat Completions; ``own`` puts the agent's ids in place of the model's."""

    def __init__(
        self, scene: Scene, words: str = "fix it", *, own: bool = False, headers: Any = None
    ) -> None:
        self.scene = scene
        self.own = own
        self.headers = headers or {}
        self.messages: list[dict[str, Any]] = [{"role": "user", "content": words}]

    async def turn(self, call: str, command: str, *, tool: str = "bash", **arguments: str) -> None:
        await self.ask(call, command, tool=tool, **arguments)
        await self.act(command)

    async def ask(self, call: str, command: str, *, tool: str = "bash", **arguments: str) -> None:
        reply = completion(call, command)
        function = reply["choices"][0]["message"]["tool_calls"][0]["function"]
        function["name"] = tool
        if arguments:
            function["arguments"] = orjson.dumps({"command": command, **arguments}).decode()
        self.scene.provider.answers.append(reply)
        body = {"model": "m", "messages": self.messages, "tools": TOOLS}
        status, answer = await self.scene.send("chat/completions", body, self.headers)
        assert status == 200, answer
        message = answer["choices"][0]["message"]
        if self.own:
            message["tool_calls"][0]["id"] = f"own-{len(self.messages)}"
        self.messages.append(message)

    async def act(self, command: str) -> None:
        done = await self.scene.sandbox.run(["bash", "-c", command])
        call = self.messages[-1]["tool_calls"][0]["id"]
        self.messages.append({"role": "tool", "tool_call_id": call, "content": done.stdout.decode()})

    def shorten(self, words: str) -> None:
        self.messages = [{"role": "user", "content": words}]


def told(scene: Scene) -> list[list[int]]:
    """Of each request, where the user's word stands."""
    return [
        [at for at, message in enumerate(body["messages"]) if message["content"] == WORD]
        for body in scene.provider.bodies
    ]


async def test_an_agent_that_invents_ids_is_touched_and_counted_like_any_other(scene: MakeScene) -> None:
    async with scene(k=1) as s:
        agent = Agent(s, own=True)
        await agent.turn("model-1", "ls")
        await agent.turn("model-2", READ)
        await agent.turn("model-3", "true")
        await agent.turn("model-4", "true")
        assert told(s) == [[], [], [5], [5]]
        seen, results = s.of(EventKind.ACTION_SEEN), s.of(EventKind.ACTION_RESULT)
        assert [body["call"] for body in results] == [body["call"] for body in seen[:3]]
        assert (s.conversation.totals.steps, s.conversation.totals.retries) == (4, 0)


async def test_an_invented_id_has_the_message_of_the_moment_before_its_action(scene: MakeScene) -> None:
    async with scene(k=1, moment=Moment.BEFORE_ACTION) as s:
        agent = Agent(s, own=True)
        await agent.turn("model-1", READ)
        await agent.turn("model-2", "true")
        await agent.turn("model-3", "true")
        assert told(s) == [[], [3], [3]]
        assert s.of(EventKind.MESSAGE_LOST) == []


async def test_a_reply_that_an_inventing_agent_drops_is_a_retry(scene: MakeScene) -> None:
    async with scene(k=1) as s:
        agent = Agent(s, own=True)
        await agent.ask("model-1", "ls")
        agent.messages.pop()
        await agent.turn("model-2", "ls")
        await agent.turn("model-3", "true")
        assert (s.conversation.totals.steps, s.conversation.totals.retries) == (2, 1)


async def test_ids_that_come_again_after_a_compaction_are_new_actions(scene: MakeScene) -> None:
    """Some models count their calls anew in each conversation."""
    async with scene(k=2) as s:
        agent = Agent(s)
        await agent.turn("bash:0", READ)
        await agent.turn("bash:1", "true")
        agent.shorten("Summary: it is about a.txt.")
        await agent.turn("bash:0", READ)
        await agent.turn("bash:1", READ)
        await agent.turn("bash:2", "true")
        assert len(s.of(EventKind.TRIGGER_FIRED)) >= 2
        assert len(s.of(EventKind.ACTION_RESULT)) == 3  # all but the one that the compaction swallowed
        assert told(s) == [[], [3], [1], [1], [1]]  # it stays where it was put back
        assert (s.conversation.totals.steps, s.conversation.totals.retries) == (5, 0)


async def test_a_result_that_is_cleared_later_is_no_second_result(scene: MakeScene) -> None:
    """Agents clear old outputs to save room, and leave all else as it was."""
    async with scene(k=1) as s:
        agent = Agent(s)
        await agent.turn("c1", READ)
        await agent.turn("c2", "true")
        agent.messages[2]["content"] = "[Old tool result content cleared]"
        await agent.turn("c3", "true")
        await agent.turn("c4", "true")
        assert [body["call"] for body in s.of(EventKind.ACTION_RESULT)] == ["c1", "c2", "c3"]
        assert told(s) == [[], [3], [3], [3]]


async def test_threads_that_count_alike_do_not_take_each_others_actions(scene: MakeScene) -> None:
    traits = AgentTraits(thread_headers=("x-id", "x-sub"), sub_agent_header="x-sub")
    async with scene(k=1, traits=traits) as s:
        main = Agent(s, headers={"x-id": "1"})
        sub = Agent(s, "look", headers={"x-id": "1", "x-sub": "1"})
        await main.ask("call_0", READ)
        await sub.turn("call_0", "ls")
        await sub.ask("call_1", "true")
        await main.act(READ)
        await main.turn("call_1", "true")
        assert [e.thread for e in s.events if e.kind is EventKind.TRIGGER_FIRED] == ["main"]


async def test_a_summary_that_quotes_what_a_sub_agent_was_told_is_the_main_loops(scene: MakeScene) -> None:
    async with scene(k=1, traits=AgentTraits(sub_agent_tools=("task",))) as s:
        agent = Agent(s)
        await agent.turn("c1", READ)
        await agent.turn("c2", "true", tool="task", prompt="Look for round() in the tests.")
        await agent.turn("c3", "true")
        agent.shorten("I was told to fix it; I sent a helper: Look for round() in the tests. It found none.")
        await agent.turn("c4", "true")
        assert {event.thread for event in s.events} == {"main"}
        assert told(s)[-1] == [1]


async def test_a_message_whose_place_is_gone_before_it_was_carried_is_put_in_all_the_same(
    scene: MakeScene,
) -> None:
    async with scene(k=1, moment=Moment.BEFORE_ACTION) as s:
        agent = Agent(s)
        await agent.turn("c1", "ls")
        await agent.turn("c2", READ)
        agent.shorten("Summary: it is about a.txt.")
        await agent.turn("c3", "true")
        await agent.turn("c4", "true")
        assert told(s) == [[], [], [1], [1]]
        assert s.of(EventKind.MESSAGE_LOST) == []


async def test_an_agent_whose_sub_agents_have_no_header_of_their_own_may_be_restarted(
    scene: MakeScene,
) -> None:
    traits = AgentTraits(thread_headers=("x-session-id",), sub_agent_tools=("task",))
    async with scene(k=1, traits=traits) as s:
        agent = Agent(s, headers={"x-session-id": "1"})
        await agent.turn("c1", READ)
        agent.headers = {"x-session-id": "2"}
        await agent.turn("c2", "true")
        assert told(s)[-1] == [3]
        await agent.ask("c3", "true", tool="task", prompt="Look around in the repository.")
        sub = Agent(s, "Look around in the repository.", headers={"x-session-id": "3"})
        await sub.turn("s1", "true")
        assert [e.thread for e in s.events if e.kind is EventKind.MODEL_CALLED] == [
            "main",
            "main",
            "main",
            "sub-1",
        ]


async def test_a_summary_that_is_dropped_takes_no_message_along(scene: MakeScene) -> None:
    """Its request is one of the main loop's, with all tools, and is answered by words that no history keeps."""
    async with scene(k=1) as s:
        agent = Agent(s)
        await agent.turn("c1", READ)
        await agent.turn("c2", "true")
        words = {"choices": [{"message": {"role": "assistant", "content": "It is about a.txt."}}]}
        s.provider.answers.append(words)
        asking = [*agent.messages, {"role": "user", "content": "Summarise."}]
        await s.post({"model": "m", "messages": asking, "tools": TOOLS})
        agent.shorten("Summary: it is about a.txt.")
        await agent.turn("c3", "true")
        await agent.turn("c4", "true")
        assert told(s) == [[], [3], [3], [1], [1]]
