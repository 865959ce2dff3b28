from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.gateway.playbook import Move, Playbook, Temperament, Turn, load_playbook, next_move
from fourhands.model.errors import InputError


def _move(name: str) -> Move:
    return Move(thought=name, command=name)


PLAYBOOK = Playbook(
    schema_version=1,
    moves=(_move("look"), _move("edit"), _move("test"), Move(thought="end", submit=True)),
    temperaments={
        "keeps": Temperament(then="submit", on_message=(_move("shrug"),)),
        "reconciles": Temperament(then="continue", on_message=(_move("re-read"), _move("re-test"))),
        "asks": Temperament(on_message=(Move(thought="ask", ask=True), _move("shrug"))),
        "loops": Temperament(then="repeat", on_message=(_move("start"), _move("again"))),
        "overwrites": Temperament(moves=(_move("write"), Move(thought="over", submit=True))),
    },
)


def _play(temperament: str, *script: str) -> list[str]:
    """Play replies, with "user" where a message comes in, and say what was done."""
    turns: list[Turn] = []
    done = []
    for each in script:
        if each == "user":
            turns.append("user")
        else:
            done.append(next_move(PLAYBOOK, temperament, turns).thought)
            turns.append("model")
    return done


def test_without_a_user_the_moves_are_played_and_the_end_repeats() -> None:
    assert _play("keeps", *"-----") == ["look", "edit", "test", "end", "end"]


def test_a_message_starts_the_reaction_and_then_the_moves_go_on() -> None:
    assert _play("reconciles", "-", "user", *"----") == ["look", "re-read", "re-test", "edit", "test"]


def test_a_second_message_starts_the_reaction_again() -> None:
    said = _play("reconciles", "-", "user", "-", "user", *"---")
    assert said == ["look", "re-read", "re-read", "re-test", "edit"]


def test_a_temperament_may_submit_after_its_reaction() -> None:
    assert _play("keeps", "-", "user", *"--") == ["look", "shrug", "end"]


def test_a_temperament_may_repeat_the_end_of_its_reaction() -> None:
    assert _play("loops", "-", "user", *"----") == ["look", "start", "again", "again", "again"]
    assert _play("loops", "-", "user", *"---", "user", *"--")[-2:] == ["start", "again"]


def test_a_temperament_may_have_a_way_of_its_own() -> None:
    assert _play("overwrites", *"---") == ["write", "over", "over"]
    assert _play("overwrites", "-", "user", "-") == ["write", "over"]


def test_what_an_agent_says_to_a_question_starts_no_reaction() -> None:
    assert _play("asks", "-", "user", "-", "user", *"---") == ["look", "ask", "shrug", "edit", "test"]
    assert _play("asks", "-", "user", "-", *"---") == [
        "look",
        "ask",
        "shrug",
        "edit",
        "test",
    ]  # no answer at all


def test_an_agent_that_leaves_a_question_out_of_its_history_is_not_asked_again() -> None:
    turns: list[Turn] = ["model", "user", "user"]
    assert next_move(PLAYBOOK, "asks", turns).thought == "shrug"
    assert next_move(PLAYBOOK, "asks", [*turns, "model"]).thought == "edit"
    assert next_move(PLAYBOOK, "asks", [*turns, "model", "user"]).thought == "ask"


def test_the_same_conversation_gets_the_same_reply() -> None:
    turns: list[Turn] = ["model", "user", "model"]
    assert next_move(PLAYBOOK, "reconciles", turns) == next_move(PLAYBOOK, "reconciles", turns)


def test_a_move_may_do_more_than_one_command() -> None:
    read, several, help_me = (
        Move.model_validate({"thought": "a", **done})
        for done in ({"read": "a.py"}, {"parallel": ["b", "c"]}, {"delegate": ["d"]})
    )
    assert (read.read, several.parallel, help_me.delegate) == ("a.py", ("b", "c"), ("d",))


def test_an_unknown_temperament_names_the_known() -> None:
    with pytest.raises(InputError, match="asks, keeps, loops, overwrites, reconciles"):
        next_move(PLAYBOOK, "sulks", [])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("schema = 1\nmoves = []\n[temperaments]", "moves"),
        ('schema = 1\nmoves = [{thought = "a", command = "b"}]\n[temperaments]', "submit"),
        ('schema = 1\nmoves = [{thought = "a"}]\n[temperaments]', "command"),
        (
            'schema = 1\nmoves = [{thought = "a", parallel = []}]\n[temperaments]',
            "parallel, read, edit, delegate",
        ),
        (
            'schema = 1\nmoves = [{thought = "a", command = "b", read = "c"}]\n[temperaments]',
            "one of command, parallel, read, edit and delegate, not read and command",
        ),
        (
            'schema = 1\nmoves = [{thought = "a", delegate = ["b"], submit = true}]\n[temperaments]',
            "can have a command, not delegate",
        ),
        ('schema = 1\nmoves = [{thought = "a", parallel = ["b"], ask = true}]\n[temperaments]', "ask = true"),
        ('schema = 2\nmoves = [{thought = "a", submit = true}]\n[temperaments]', "schema"),
        ("schema = ", "Invalid value"),
        ('schema = 1\nmoves = [{thought = "a", ask = true, command = "b"}]\n[temperaments]', "ask = true"),
        (
            'schema = 1\nmoves = [{thought = "a", ask = true}, {thought = "b", submit = true}]\n[temperaments]',
            "only stand in on_message",
        ),
        (
            'schema = 1\nmoves = [{thought = "a", submit = true}]\n[temperaments.x]\nthen = "repeat"',
            "needs a move in on_message",
        ),
        (
            (
                'schema = 1\nmoves = [{thought = "a", submit = true}]\n[temperaments.x]\n'
                'moves = [{thought = "a", command = "b"}]'
            ),
            "last of moves",
        ),
    ],
)
def test_a_wrong_playbook_names_file_and_field(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "playbook.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"playbook\.toml[\s\S]*{what}"):
        load_playbook(path)
