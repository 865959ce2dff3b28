"""Which states of a trial were the agent's own, and are worth a look when the final one fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.trajectories.earlier_states import EarlierState, EarlierStates, earlier_states

PYTEST = "python -m pytest -q"


class Told:
    """A trial, told act by act; blobs are the arguments themselves."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.calls = 0
        self.add(Actor.HARNESS, EventKind.TRIAL_STARTED, {"base_tree": "base"})

    def add(self, actor: Actor, kind: EventKind, body: dict[str, Any]) -> int:
        self.events.append(Event(len(self.events), "", MAIN_THREAD, actor, kind, body))
        return len(self.events) - 1

    def asks_for(self, command: str) -> tuple[str, int]:
        self.calls += 1
        call = f"c{self.calls}"
        arguments = json.dumps({"command": command})
        seen = {"call": call, "tool": "bash", "arguments": arguments, "step": self.calls}
        return call, self.add(Actor.AGENT, EventKind.ACTION_SEEN, seen)

    def gets(self, call: str) -> None:
        self.add(Actor.AGENT, EventKind.ACTION_RESULT, {"call": call})

    def runs(self, command: str) -> int:
        call, seq = self.asks_for(command)
        self.gets(call)
        return seq

    def writes(self, tree: str, actor: Actor = Actor.AGENT) -> int:
        return self.add(actor, EventKind.WORKSPACE_CHANGED, {"tree": tree})

    def states(self, termination: str = "finished") -> EarlierStates:
        self.add(Actor.HARNESS, EventKind.TRIAL_ENDED, {"termination": termination})
        return earlier_states(self.events, str.encode)


@pytest.fixture
def told() -> Told:
    return Told()


def test_the_state_of_the_last_test_run_is_told_where_it_was_changed_since(told: Told) -> None:
    told.writes("edited", Actor.USER)
    told.writes("right")
    told.runs(PYTEST)
    action = told.runs(PYTEST)
    told.runs("git stash")
    told.writes("spoiled")
    assert told.states() == EarlierStates(EarlierState("right", action), None)


def test_what_was_handed_over_as_it_was_tested_tells_nothing(told: Told) -> None:
    told.writes("right")
    told.runs(PYTEST)
    assert told.states() == EarlierStates()


def test_without_a_test_run_it_is_the_state_before_the_last_change(told: Told) -> None:
    seq = told.writes("right")
    told.runs("ls")
    told.writes("spoiled")
    assert told.states() == EarlierStates(None, EarlierState("right", seq))


@pytest.mark.parametrize("termination", ["step_limit", "agent_timeout", "budget"])
def test_one_that_was_cut_may_have_been_in_the_middle_of_its_last_change(
    told: Told, termination: str
) -> None:
    told.writes("tested")
    action = told.runs(PYTEST)
    told.runs("ed f")
    second = told.writes("right")
    told.writes("half")
    expected = EarlierStates(EarlierState("tested", action), EarlierState("right", second))
    assert told.states(termination) == expected


def test_a_change_that_comes_with_a_test_run_was_tested_and_may_have_been_made_by_it(told: Told) -> None:
    seq = told.writes("right")
    told.runs(f"{PYTEST} --snapshot-update")
    told.writes("rewritten")
    assert told.states() == EarlierStates(None, EarlierState("right", seq))


def test_what_is_changed_behind_a_command_that_tests_was_tested(told: Told) -> None:
    told.writes("one")
    action = told.runs(f"sed -i s/a/b/ f && {PYTEST}")
    told.writes("two")
    told.runs("rm f")
    told.writes("three")
    assert told.states() == EarlierStates(EarlierState("two", action), None)


def test_of_two_calls_at_once_the_change_is_not_laid_at_the_door_of_the_tests(told: Told) -> None:
    told.writes("one")
    (tests, action), (edits, _) = told.asks_for(PYTEST), told.asks_for("sed -i s/a/b/ f")
    told.gets(tests)
    told.gets(edits)
    told.writes("two")
    assert told.states() == EarlierStates(EarlierState("one", action), None)


def test_nothing_counts_from_before_the_users_last_edit(told: Told) -> None:
    told.writes("right")
    told.runs(PYTEST)
    edited = told.writes("edited", Actor.USER)
    told.writes("final")
    assert told.states() == EarlierStates(None, EarlierState("edited", edited))


def test_a_state_that_came_back_is_the_final_one(told: Told) -> None:
    told.writes("final")
    told.runs(PYTEST)
    told.runs("ed f")
    told.writes("other")
    told.writes("final")
    assert told.states() == EarlierStates()


def test_an_action_that_cannot_be_read_ran_no_tests() -> None:
    told = Told()
    seq = told.writes("right")
    told.runs(PYTEST)
    told.writes("spoiled")
    told.add(Actor.HARNESS, EventKind.TRIAL_ENDED, {"termination": "finished"})
    found = earlier_states(told.events, lambda _: b"")
    assert found == EarlierStates(None, EarlierState("right", seq))
