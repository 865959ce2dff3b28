"""Scripted models for an agent that types the text of a reply into a terminal: terminus-2, with its own parsers."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fourhands.gateway.playbook import Edit, Move, Playbook, Temperament
from fourhands.gateway.players import ScriptedPlayer, respond
from fourhands.wire.serving.chat import ServedChat
from fourhands.wire.serving.text import UNPAGED
from fourhands.wire.types import Json

END = Move(thought="It is done.", command="make", submit=True)
TERMINUS = Path(str(importlib.util.find_spec("harbor").origin)).parent / "agents" / "terminus_2"  # type: ignore[union-attr]
SURE = "Are you sure you want to mark the task as complete?"


def _parser(form: str) -> Any:
    """Loaded from its file: its package would load all of the agent, litellm too."""
    spec = importlib.util.spec_from_file_location(
        f"terminus_{form}", TERMINUS / f"terminus_{form}_plain_parser.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, f"Terminus{form.upper()}PlainParser")()


class Terminal:
    """The loop of terminus-2, with its own prompt and its own parser, without a terminal."""

    def __init__(
        self, form: str, moves: Sequence[Move], on_message: Sequence[Move] = (), told: str = "work"
    ) -> None:
        prompt = (TERMINUS / "templates" / f"terminus-{form}-plain.txt").read_text()
        self.parser = _parser(form)
        ways = {"one": Temperament(on_message=tuple(on_message))}
        self.player = ScriptedPlayer(Playbook(schema_version=1, moves=tuple(moves), temperaments=ways), "one")
        state = "root@host:/testbed# "
        self.messages: list[Json] = [
            {"role": "user", "content": prompt.format(instruction=told, terminal_state=state)}
        ]

    def step(self, screen: str = "root@host:/testbed# ") -> tuple[list[str], bool]:
        """What the next reply types, and whether it ends the work; ``screen`` is what comes of it."""
        wire, body = ServedChat(), {"messages": self.messages}
        asked = wire.read(body)
        message = wire.reply(body, asked, respond(self.player, asked))["choices"][0]["message"]
        self.messages.append(message)
        parsed = self.parser.parse_response(message["content"])
        assert not parsed.error
        assert not parsed.warning or "Commands section is empty" in parsed.warning
        self.say(f"Current terminal state:\nNew Terminal Output:\n\n{screen}\n\n{SURE}" if parsed.is_task_complete
                 else f"New Terminal Output:\n\n{screen}")  # fmt: skip
        return [command.keystrokes for command in parsed.commands], parsed.is_task_complete

    def say(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})


@pytest.fixture(params=["json", "xml"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_commands_are_typed_and_the_end_is_said_twice(form: str) -> None:
    terminal = Terminal(form, [Move(thought="look", command="ls"), END])
    assert terminal.step() == ([f"{UNPAGED}\n", "ls\n"], False)
    assert terminal.step() == (["make\n"], False)
    assert terminal.step() == ([], True)
    assert terminal.step() == ([], True)


def test_every_kind_of_move_is_typed(form: str) -> None:
    moves = [
        Move(thought="a", parallel=("ls", "pwd")),
        Move(thought="b", read="a b"),
        Move(thought="c", delegate=("id", "df")),
        Move(thought="d", edit=Edit(path="a b", old="x", new="y z")),
        END,
    ]
    terminal = Terminal(form, moves)
    steps = [terminal.step()[0] for _ in range(5)]
    assert steps[0][1:] == ["ls\n", "pwd\n"]
    assert steps[1:3] == [["cat -- 'a b'\n"], ["id\n", "df\n"]]
    assert steps[3][0].endswith(" 'a b' x 'y z'\n")
    assert steps[4] == ["make\n"]


def test_a_command_that_goes_on_is_waited_for_and_the_wait_is_no_move(form: str) -> None:
    terminal = Terminal(form, [Move(thought="test", command="make test"), END])
    terminal.step("$ make test\n...")
    assert terminal.step("... still\n") == ([""], False)
    assert terminal.step("ok\nroot@host:/testbed# ") == ([""], False)
    assert terminal.step() == (["make\n"], False)


def test_the_users_word_is_what_follows_the_terminals(form: str) -> None:
    terminal = Terminal(
        form, [Move(thought="look", command="ls"), END], on_message=[Move(thought="see", command="git diff")]
    )
    terminal.step()
    terminal.say("I changed it")
    assert terminal.step() == (["git diff\n"], False)
    assert terminal.step() == (["make\n"], False)
    terminal.say("and more")
    terminal.step()
    assert terminal.step() == (["make\n"], False)  # somebody may have been at it since


@pytest.mark.parametrize(
    ("told", "typed"), [("ask with ask-the-user", ["ask-the-user 'Which?'\n"]), ("work", [])]
)
def test_a_question_is_a_command_or_words_and_what_comes_then_is_its_answer(
    form: str, told: str, typed: list[str]
) -> None:
    reaction = [Move(thought="Which?", ask=True), Move(thought="so", command="true")]
    terminal = Terminal(form, [Move(thought="look", command="ls"), END], reaction, told)
    terminal.step()
    terminal.say("I changed it")
    assert terminal.step() == (typed, False)
    assert terminal.step() == (["true\n"], False)
    assert terminal.step() == (["make\n"], False)


def test_what_a_terminal_would_garble_arrives_all_the_same() -> None:
    command = "printf '%s' 'a\tb !x'\n"
    terminal = Terminal("json", [Move(thought="print", command=command), END])
    (_, typed), _ = terminal.step()
    assert "\t" not in typed
    done = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, check=True)
    assert done.stdout == "a\tb !x"
