"""Requirements by state, message by message, and in the end as their checks settle them."""

from __future__ import annotations

import json

from fourhands.analysis.conversations import conversation
from fourhands.analysis.digest import Subject, digest
from fourhands.analysis.requirement_states import state_counts
from fourhands.model.condition import Condition
from fourhands.model.trial import AgentSpec, TrialKey

from .talks import Talk


def _counts(**known: int) -> dict[str, int]:
    names = ("held", "revealed", "acknowledged", "satisfied", "violated", "forgotten")
    return {name: known.get(name, 0) for name in names}


def _states(talk: Talk) -> tuple[dict[str, int], ...]:
    found = conversation(talk.events)
    return state_counts(talk.events, found.fates, messages=found.said)


def _told() -> Talk:
    """R1 is met, then broken by the end; R2 is told and forgotten; R3 is never told."""
    talk = Talk()
    talk.checkpoint("plan", {"R1": False, "R2": False, "R3": False})
    talk.answer(talk.ask(), "reveal", "R1")
    talk.ask()
    talk.checkpoint("commit", {"R1": True, "R2": False, "R3": False}, lines=3)
    talk.move("R1", "satisfied")
    talk.answer("q2", "reveal", "R2")
    talk.ask()
    talk.answer("q3", "approve")
    talk.checkpoint("end", {"R1": False, "R2": False, "R3": True}, lines=1)
    talk.end("unresolved")
    return talk


def test_each_message_has_what_was_seen_and_told_by_then_and_the_end_what_its_checks_found() -> None:
    found = _states(_told())
    assert found[:4] == (
        _counts(held=3),
        _counts(held=2, revealed=1),
        _counts(held=1, revealed=1, satisfied=1),
        _counts(held=1, revealed=1, satisfied=1),
    )
    assert len(found) == 3 + 2
    assert (found[-1]["held"], found[-1]["satisfied"], found[-1]["violated"]) == (
        1,
        0,
        2 - found[-1]["forgotten"],
    )


def test_the_column_holds_it_and_scores_tell_turns_and_what_is_new() -> None:
    subject = Subject("run", TrialKey("a", AgentSpec("thin", "m"), Condition.parse("interactive")))
    row = digest(subject, 1, _told().events, lambda _: b"").trial
    assert json.loads(row["states"])[0] == _counts(held=3)
    assert [(each["checkpoint"], each["turn"], each["is_new"]) for each in json.loads(row["scores"])] == [
        ("c1", 0, False),
        ("c2", 1, True),
        ("c3", 3, True),
    ]


def test_without_a_word_there_are_the_beginning_and_the_end() -> None:
    talk = Talk()
    talk.checkpoint("end", {"R1": True})
    talk.end()
    assert _states(talk) == (_counts(held=1), _counts(held=1))


def test_a_trial_whose_requirements_nobody_knows_has_none() -> None:
    talk = Talk()
    talk.end()
    assert _states(talk) == ()


def test_tests_alone_and_plans_are_no_new_code() -> None:
    talk = Talk()
    talk.checkpoint("plan", {"R1": False})
    talk.checkpoint("commit", {"R1": True}, lines=3, tests_only=True)
    talk.checkpoint("commit", {"R1": True}, lines=3)
    talk.checkpoint("stop", {"R1": True})
    talk.end()
    assert [score.is_new for score in conversation(talk.events).scores] == [False, False, True, False]
