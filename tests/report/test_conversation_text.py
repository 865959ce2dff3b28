"""A conversation as text: the same whenever it was held, and telling all that was said, blocked and found."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from fourhands.model.event import Event
from fourhands.report.conversation_text import conversation_json, conversation_text, has_conversation


def _talks() -> ModuleType:
    """The neighbour's module: tests are no package that could be imported from."""
    spec = importlib.util.spec_from_file_location(
        "talks", Path(__file__).parents[1] / "analysis" / "talks.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TALKS = _talks()


def _held() -> list[Event]:
    talk: Any = TALKS.Talk()
    question = talk.ask("My plan:\n1. Do it.")
    talk.checkpoint("plan", {"R1": False, "R2": False})
    talk.look("changes")
    blocked = [{"text": "the hidden test says 7", "reason": "leaks: hidden ('7')"}]
    talk.answer(question, "reveal", "R1", text="Mind\x1b[31m R1.", rejected=blocked)
    talk.checkpoint("commit", {"R1": True, "R2": False}, lines=4, subject="Do R1", commit="ab" * 20)
    talk.look("find", "-delete", refused="find: -delete is not allowed")
    talk.move("R1", "satisfied", {"checkpoint": "c2"})
    talk.checkpoint("stop", {"R1": True, "R2": False})
    talk.say("hand_over", "R2")
    talk.checkpoint("end", {"R1": True, "R2": False}, lines=2)
    talk.verify("unresolved")
    ended: list[Event] = talk.end("unresolved")
    return ended


TEXT = """\
a · thin · m · interactive · repeat 1

turn 1
  agent:
    My plan:
    1. Do it.
  c1, plan: 0.0 by words
    not met: R1, R2
  the user is shown what changed
  user, reveal R1 (so):
    Mind\\x1b[31m R1.
  not said, leaks: hidden ('7'):
    the hidden test says 7
  R1: held → revealed (question q1)

turn 2
  c2, commit “Do R1”, +4 −0: 50.0 by checks
    met: R1; not met: R2
  the user looks: find -delete (refused: find: -delete is not allowed)
  R1: revealed → satisfied (checkpoint c2)
  c3, the agent wants to end, +0 −0: 50.0 by checks
    met: R1; not met: R2
  user, hand over R2 (so):
    Mind.
  R2: held → revealed (message m1)

after the last turn
  c4, the end, +2 −0: 50.0 by checks
    met: R1; not met: R2
  verified in the end: unresolved

outcome: unresolved (finished)
at will: unresolved
told: 2 of 2; when it first wanted to end not: R2
  R1  satisfied, told in turn 1
  R2  revealed, told in turn 2 (at will: missing user requirement)
  R2 is undecided: said, and never met; the record has no ledger to read the agent's words by
"""


def test_it_tells_turns_moves_what_was_blocked_looks_checkpoints_and_states() -> None:
    assert conversation_text(_held()) == TEXT


def test_neither_times_nor_hashes_nor_seconds_are_in_it() -> None:
    first = _held()
    later = [
        replace(event, time="2031-05-05T05:05:05.555Z", body=event.body | _other(event.body))
        for event in first
    ]
    assert later != first
    assert conversation_text(later) == conversation_text(first)
    assert json.dumps(conversation_json(later)) == json.dumps(conversation_json(first))


def _other(body: dict[str, Any]) -> dict[str, Any]:
    """What is another in a run that is repeated."""
    changing = {
        "elapsed": 99.9,
        "seconds": 88.8,
        "commit": "cd" * 20,
        "tree": "e" * 40,
        "output": "f" * 64,
        "bytes": 7,
    }
    return {name: value for name, value in changing.items() if name in body}


def test_a_record_that_was_cut_tells_what_there_is() -> None:
    for length in range(1, len(_held())):
        text = conversation_text(_held()[:length])
        assert "the trial has not ended" in text


def test_whether_somebody_talks() -> None:
    alone: Any = TALKS.Talk(condition="single-turn")
    alone.say(None, intervention="i1")
    alone.checkpoint("end", {"R1": True})
    assert not has_conversation(alone.end())
    assert has_conversation(_held())


def test_it_begins_with_how_the_user_opens_and_an_old_record_tells_of_nobody() -> None:
    talk: Any = TALKS.Talk()
    assert conversation_json(talk.events)["brief"] is None
    started = talk.events[0]
    body = {**started.body, "persona": "vague", "brief": "It blows up."}
    events = [replace(started, body=body)]
    told = conversation_json(events)
    assert (told["persona"], told["brief"]) == ("vague", "It blows up.")
    assert conversation_text(events).splitlines()[2] == "the user opens: It blows up."


def test_what_a_plan_is_approved_for_does_not_say_plan_twice() -> None:
    talk: Any = TALKS.Talk()
    talk.answer(talk.ask("My plan"), "approve_plan", why="plan: it concerns nothing that is held")
    assert (
        "  user, approve plan (it concerns nothing that is held):"
        in conversation_text(talk.events).splitlines()
    )


def test_a_label_that_rests_on_the_users_own_model_says_so() -> None:
    talk: Any = TALKS.Talk()
    talk.answer(talk.ask("So?"), "reveal", "R1")
    for state in ("satisfied", "violated"):
        talk.checkpoint("commit", {"R1": None})
        talk.move("R1", state, {"judge": "x"})
    talk.checkpoint("end", {"R1": None})
    talk.verify("unresolved")
    last = conversation_text(talk.end("unresolved")).splitlines()[-1]
    assert last.startswith("  R1 is regression, by the user's own model, unaudited: ")
