from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.gateway.playbook import Move, Playbook, Temperament, Turn, load_playbook, next_move
from fourhands.model.errors import InputError


def _move(name: str) -> Move:
    return Move(thought=name, command=name)


PLAYBOOK = Playbook(
    schema=1,
    moves=(_move("look"), _move("edit"), _move("test"), Move(thought="end", submit=True)),
    temperaments={
        "keeps": Temperament(then="submit", on_message=(_move("shrug"),)),
        "reconciles": Temperament(then="continue", on_message=(_move("re-read"), _move("re-test"))),
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


def test_the_same_conversation_gets_the_same_reply() -> None:
    turns: list[Turn] = ["model", "user", "model"]
    assert next_move(PLAYBOOK, "reconciles", turns) == next_move(PLAYBOOK, "reconciles", turns)


def test_an_unknown_temperament_names_the_known() -> None:
    with pytest.raises(InputError, match="keeps, reconciles"):
        next_move(PLAYBOOK, "sulks", [])


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("schema = 1\nmoves = []\n[temperaments]", "moves"),
        ('schema = 1\nmoves = [{thought = "a", command = "b"}]\n[temperaments]', "submit"),
        ('schema = 1\nmoves = [{thought = "a"}]\n[temperaments]', "command"),
        ('schema = 2\nmoves = [{thought = "a", submit = true}]\n[temperaments]', "schema"),
        ("schema = ", "Invalid value"),
    ],
)
def test_a_wrong_playbook_names_file_and_field(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "playbook.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"playbook\.toml[\s\S]*{what}"):
        load_playbook(path)
