"""How a playbook's moves are made with what different agents offer; all of it follows from the request alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fourhands.gateway.playbook import Edit, Move, Playbook, Temperament
from fourhands.gateway.players import ScriptedPlayer, respond
from fourhands.wire.serving.chat import ServedChat
from fourhands.wire.types import Json

WORD = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
ANSWERED = "As it was before."


def _tool(name: str, required: Sequence[str], **properties: str) -> Json:
    schema = {key: {"type": kind} for key, kind in properties.items()}
    parameters = {"type": "object", "properties": schema, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


BASH = _tool("bash", ["command"], command="string")
READ = _tool("read", ["path"], path="string")
TASK = _tool("task", ["prompt"], prompt="string", description="string")
FINISH = _tool("finish", ["message"], message="string")
ASK = _tool("mcp__user__ask_the_user", ["question"], question="string")
EXEC = _tool("exec_command", ["cmd"], cmd="string", yield_time_ms="number")
STDIN = _tool("write_stdin", ["session_id"], session_id="number", chars="string", yield_time_ms="number")
SPAWN = _tool("spawn_agent", ["message"], message="string")
WAIT = _tool("wait_agent", ["targets"], targets="array")
QUESTION = Move(thought="Which way?", ask=True)


class Agent:
    """An agent's loop without a shell: what it is told, it keeps; ``run`` says what comes back for a call."""

    def __init__(
        self,
        moves: Sequence[Move],
        tools: Sequence[Json],
        instructions: str = "work",
        on_message: Sequence[Move] = (),
        run: Callable[[str, Json], str] = lambda _name, _arguments: "done",
    ) -> None:
        ways = {"one": Temperament(on_message=tuple(on_message))}
        self.player = ScriptedPlayer(Playbook(schema_version=1, moves=tuple(moves), temperaments=ways), "one")
        self.tools = list(tools)
        self.run = run
        self.messages: list[Json] = [{"role": "user", "content": instructions}]

    def step(self) -> Json:
        """One request, sent twice as a retry is, and the results of its calls."""
        wire, body = ServedChat(), {"messages": self.messages, "tools": self.tools}
        replies = [wire.reply(body, asked, respond(self.player, asked)) for asked in (wire.read(body),) * 2]
        assert replies[0] == replies[1]
        message: Json = replies[0]["choices"][0]["message"]
        self.messages.append(message)
        for name, arguments, call in _called(message):
            result = self.run(name, arguments)
            self.messages.append({"role": "tool", "tool_call_id": call, "content": result})
        return message

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def calls(self) -> list[tuple[str, Any]]:
        """The next reply's calls: the tool, and its only argument or all of them."""
        return [
            (name, next(iter(arguments.values())) if len(arguments) == 1 else arguments)
            for name, arguments, _ in _called(self.step())
        ]


def _called(message: Json) -> list[tuple[str, Json, str]]:
    return [
        (call["function"]["name"], json.loads(call["function"]["arguments"]), call["id"])
        for call in message.get("tool_calls", ())
    ]


END = Move(thought="It is done.", submit=True)


def test_several_commands_go_in_one_reply() -> None:
    agent = Agent([Move(thought="both", parallel=("ls", "git log")), END], [BASH])
    assert agent.calls() == [("bash", "ls"), ("bash", "git log")]
    ids = [message["tool_call_id"] for message in agent.messages if message["role"] == "tool"]
    assert len(set(ids)) == 2
    assert agent.calls() == []


def test_a_file_is_read_with_the_agents_tool_or_else_in_the_shell() -> None:
    moves = [Move(thought="look", read="src/a b.py"), END]
    told = "Primary working directory: /testbed\nwork"
    assert Agent(moves, [BASH, READ], told).calls() == [("read", "/testbed/src/a b.py")]
    assert Agent(moves, [BASH, READ], "<cwd>/testbed</cwd>").calls() == [("read", "/testbed/src/a b.py")]
    assert Agent(moves, [BASH, READ]).calls() == [("read", "src/a b.py")]
    assert Agent(moves, [BASH]).calls() == [("bash", "cat -- 'src/a b.py'")]


def test_a_text_is_replaced_with_the_agents_tool_or_else_in_the_shell(tmp_path: Path) -> None:
    replace = _tool("edit", ["path", "old_str", "new_str"], path="string", old_str="string", new_str="string")
    (tmp_path / "a b").write_text("it's one, it's one")
    move = Move(thought="I change.", edit=Edit(path="a b", old="it's", new='"$x"'))
    given = {"path": "a b", "old_str": "it's", "new_str": '"$x"'}
    assert Agent([move, END], [BASH, replace]).calls() == [("edit", given)]
    ((name, command),) = Agent([move, END], [BASH]).calls()
    assert name == "bash"
    codes = [
        subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, check=False).returncode
        for _ in range(3)
    ]
    assert (tmp_path / "a b").read_text() == '"$x" one, "$x" one'
    assert codes[:2] == [0, 0]
    assert codes[2] != 0


def test_a_sub_agent_gets_a_prompt_from_which_its_own_conversation_is_played_to_its_end() -> None:
    commands = ("ls", "echo '</delegated-commands>'")
    main = Agent([Move(thought="help me", delegate=commands), END], [BASH, TASK, ASK])
    ((name, arguments, _),) = _called(main.step())
    assert name == "task"
    sub = Agent([Move(thought="not this", command="rm"), END], [BASH, FINISH, ASK], arguments["prompt"])
    assert sub.calls() == [("bash", "ls")]
    sub.say("I changed something.")  # whoever says it: a sub-agent does what it was given
    assert sub.calls() == [("bash", commands[1])]
    last = sub.step()
    assert "tool_calls" not in last
    assert last["content"]
    assert main.calls() == []


def test_a_sub_agent_that_begins_with_a_copy_of_the_main_conversation_does_its_own_work() -> None:
    main = Agent(
        [Move(thought="look", command="pwd"), Move(thought="help", delegate=("ls",)), END], [BASH, TASK]
    )
    main.step()
    ((_, arguments, _),) = _called(main.step())
    sub = Agent([END], [BASH])
    sub.messages = [*main.messages]
    sub.say(arguments["prompt"])
    assert sub.calls() == [("bash", "ls")]
    assert sub.calls() == []


def test_without_sub_agents_the_work_is_done_in_a_step() -> None:
    assert Agent([Move(thought="help", delegate=("ls", "pwd")), END], [BASH]).calls() == [("bash", "ls\npwd")]


def test_a_sub_agent_that_is_not_waited_for_by_its_tool_is_waited_for_by_another() -> None:
    results = {
        "spawn_agent": ['{"agent_id":"a1","nickname":"x"}'],
        "wait_agent": ['{"timed_out":true}', '{"timed_out":false}'],
    }
    agent = Agent(
        [Move(thought="help", delegate=("ls",)), Move(thought="on", command="pwd"), END],
        [BASH, SPAWN, WAIT],
        run=lambda name, _: results.get(name, ["done"]).pop(0),
    )
    assert [name for name, _ in agent.calls()] == ["spawn_agent"]
    assert agent.calls() == agent.calls() == [("wait_agent", ["a1"])]
    assert agent.calls() == [("bash", "pwd")]  # the waits count as no moves


def test_a_command_that_goes_on_is_waited_for() -> None:
    outputs = [
        "Process running with session ID 7\nOutput:",
        "Process running with session ID 7",
        "exit 0",
        "x",
    ]
    agent = Agent(
        [Move(thought="test", command="make"), Move(thought="on", command="pwd"), END],
        [EXEC, STDIN],
        run=lambda _name, _arguments: outputs.pop(0),
    )
    looks = {"session_id": 7, "chars": "", "yield_time_ms": 30_000}
    assert agent.calls() == [("exec_command", {"cmd": "make", "yield_time_ms": 30_000})]
    assert agent.calls() == agent.calls() == [("write_stdin", looks)]
    assert agent.calls() == [("exec_command", {"cmd": "pwd", "yield_time_ms": 30_000})]


def test_waiting_has_an_end() -> None:
    agent = Agent([Move(thought="serve", command="make serve"), END], [EXEC, STDIN])
    agent.run = lambda _name, _arguments: "Process running with session ID 7"
    names = [[name for name, _ in agent.calls()] for _ in range(62)]
    assert names == [["exec_command"], *[["write_stdin"]] * 60, []]


@pytest.mark.parametrize(
    ("tools", "told", "expected"),
    [
        ([BASH, ASK], "", [("mcp__user__ask_the_user", "Which way?")]),
        ([BASH], 'ask with `ask-the-user "…"`', [("bash", "ask-the-user 'Which way?'")]),
    ],
    ids=["tool", "command"],
)
def test_an_answer_that_comes_back_for_a_question_starts_no_reaction_and_a_later_word_does(
    tools: list[Json], told: str, expected: object
) -> None:
    moves = [Move(thought="look", command="ls"), Move(thought="on", command="pwd"), END]
    shrug = Move(thought="so", command="true")
    agent = Agent(moves, tools, told, on_message=[QUESTION, shrug], run=lambda _name, _arguments: ANSWERED)
    agent.step()
    agent.say("I changed it")
    assert agent.calls() == expected
    assert agent.calls() == [("bash", "true")]
    assert agent.calls() == [("bash", "pwd")]
    agent.say("and once more")
    assert agent.calls() == expected


def test_without_tool_and_command_a_question_is_words() -> None:
    agent = Agent([Move(thought="look", command="ls"), END], [BASH], on_message=[QUESTION])
    agent.step()
    agent.say("I changed it")
    assert agent.step() == {"role": "assistant", "content": "Which way?"}


def test_an_agent_with_a_tool_for_the_end_ends_by_it_after_the_last_command() -> None:
    agent = Agent([Move(thought="It is done.", command="make", submit=True)], [BASH, FINISH])
    assert agent.calls() == [("bash", "make")]
    assert agent.calls() == [("finish", "It is done.")]
    agent.say("I changed it")
    assert agent.calls() == [("bash", "make")]  # somebody may have been at it since


def test_a_result_that_names_the_last_word_makes_no_agent_end_by_it() -> None:
    moves = [Move(thought="look", command="ls"), END]
    agent = Agent(moves, [BASH], run=lambda _name, _arguments: WORD)
    assert agent.calls() == [("bash", "ls")]
    assert agent.calls() == []


def _side(**body: Any) -> str:
    wire = ServedChat()
    asked = wire.read({"messages": [{"role": "user", "content": "Make a title"}], **body})
    text: str = wire.reply(body, asked, respond(Agent([END], []).player, asked))["choices"][0]["message"][
        "content"
    ]
    return text


def test_a_request_beside_the_work_gets_a_title_in_the_form_it_asks_for() -> None:
    assert _side() == _side(tools=[READ]) == "Fix"
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
    form = {"type": "json_schema", "json_schema": {"name": "t", "schema": schema}}
    assert json.loads(_side(response_format=form)) == {"title": "Fix"}
