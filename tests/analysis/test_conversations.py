"""What a row says of a conversation, and that talk is no delivery of an intervention."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fourhands.analysis.conversations import conversation
from fourhands.analysis.delivery import delivery_proofs
from fourhands.analysis.digest import Subject, digest
from fourhands.analysis.responses import responses
from fourhands.model.condition import Condition
from fourhands.model.event import Actor, EventKind
from fourhands.model.outcome import Verdict
from fourhands.model.trial import AgentSpec, TrialKey

from .talks import Talk


def _told() -> Talk:
    talk = Talk()
    talk.checkpoint("plan", {"R1": False, "R2": True})
    talk.look("changes")
    talk.answer(talk.ask("My plan: …"), "reveal", "R1", rejected=[{"text": "psst", "reason": "leak"}])
    talk.checkpoint("commit", {"R1": False, "R2": False}, lines=8)
    talk.look("git", "log")
    talk.answer(talk.ask(), "correct", "R1", source="fallback")
    talk.checkpoint("plan", {"R1": True, "R2": True})
    talk.checkpoint("commit", {"R1": True, "R2": False}, lines=2)
    talk.checkpoint("stop", {"R1": True, "R2": False})
    talk.say("hand_over", "R2")
    whole = {"additions": 8, "deletions": 0, "tests": {"additions": 0, "deletions": 0}}
    talk.checkpoint("end", {"R1": True, "R2": True}, lines=2, since_base=whole, source="hidden-tests")
    talk.verify("unresolved", phase="at-will")
    talk.verify("resolved")
    talk.end("resolved", at_will="unresolved", slips=[{"slip": "no_test_commit", "seq": 3, "paths": []}])
    return talk


def _row(talk: Talk, condition: str = "interactive") -> dict[str, object]:
    subject = Subject("run", TrialKey("a", AgentSpec("thin", "m"), Condition.parse(condition)))
    return digest(subject, 1, talk.events, dict[str, bytes]().__getitem__).trial


def test_it_counts_words_looks_and_scores_and_takes_the_plan_that_the_work_began_with() -> None:
    found = conversation(_told().events)
    assert (found.at_will, found.held_at_will, found.held, found.is_covered) == (
        Verdict.UNRESOLVED,
        ("R2",),
        (),
        True,
    )
    assert (found.questions, found.said, found.corrections) == (2, 3, 1)
    assert (found.blocked, found.fallbacks, found.looks, found.shown) == (1, 1, 1, 1)
    assert (found.plan_score, found.final_score) == (50.0, 100.0)
    assert found.is_verifier_informed
    assert found.churn.overhead == 0.5


def test_corrections_before_the_agent_first_wanted_to_end_are_told_from_those_after() -> None:
    talk = Talk()
    talk.answer(talk.ask(), "correct", "R1")
    talk.checkpoint("stop", {"R1": False})
    talk.say("hand_over", "R2")
    talk.answer(talk.ask(), "correct", "R2")
    assert (conversation(talk.events).corrections, conversation(talk.events).corrections_at_will) == (2, 1)
    cut = Talk()
    cut.answer(cut.ask(), "correct", "R1")
    assert conversation(cut.events).corrections_at_will == 1


def _call(talk: Talk, *, step: int | None, output: int | None, side: bool = False) -> None:
    usage = None if output is None else {"input": 10, "output": output}
    body = {"request": 1, "step": step, "side": side, "model": "m", "status": 200, "complete": True}
    more = {"usage": usage, "tools": [], "milliseconds": 1}
    talk.log(Actor.AGENT, EventKind.MODEL_CALLED, body | more)


def test_what_it_took_until_the_agent_first_wanted_to_end_is_told_from_all_of_it() -> None:
    talk = Talk()
    _call(talk, step=1, output=1)
    _call(talk, step=2, output=2)
    note = {"note": "reply_not_accepted", "step": 2, "calls": []}
    talk.log(Actor.HARNESS, EventKind.NOTE, note)
    _call(talk, step=2, output=4)
    _call(talk, step=None, output=8, side=True)
    _call(talk, step=3, output=None)
    talk.answer(talk.ask(), "reveal", "R1")
    talk.checkpoint("stop", {"R1": False})
    talk.say("hand_over", "R2")
    _call(talk, step=4, output=16)
    talk.end("resolved", at_will="unresolved")
    row = _row(talk)
    names = ("steps_at_will", "tokens_at_will", "uncounted_at_will", "said_at_will", "said")
    assert [row[name] for name in names] == [3, 4 * 10 + 15, 1, 1, 2]
    assert (row["cost_at_will"], row["cost_at_will_at_least"]) == (None, 0.0)


def test_until_an_agent_that_never_wanted_to_end_is_cut_is_all_of_it() -> None:
    talk = Talk()
    _call(talk, step=1, output=1)
    talk.answer(talk.ask(), "reveal", "R1")
    talk.end("resolved", steps=1)
    row = _row(talk)
    assert (row["steps_at_will"], row["tokens_at_will"], row["said_at_will"]) == (1, 11, 1)


def _changed(talk: Talk, by: Actor, path: str) -> None:
    body: dict[str, Any] = {
        "by": by,
        "intervention": None,
        "tree": "t",
        "files": [{"path": path}],
        "lines": {},
    }
    talk.log(by, EventKind.WORKSPACE_CHANGED, body)


@pytest.mark.parametrize(
    ("edited", "agents", "plan"),
    [(["a.py"], [], 100.0), (["a.py"], ["a.py"], 0.0), (["a.py"], ["b.py"], 100.0), ([], [], 0.0)],
)
def test_the_plan_that_counts_is_the_last_before_lines_of_the_agents_own(
    edited: list[str], agents: list[str], plan: float
) -> None:
    talk = Talk(condition="four-hands")
    talk.checkpoint("plan", {"R1": False})
    for by, paths in ((Actor.USER, edited), (Actor.AGENT, agents)):
        for path in paths:
            _changed(talk, by, path)
    talk.checkpoint("working", {"R1": False}, lines=2)  # of a.py
    talk.checkpoint("plan", {"R1": True})
    _changed(talk, Actor.AGENT, "a.py")
    talk.checkpoint("commit", {"R1": True}, lines=5)
    talk.checkpoint("plan", {"R1": False})
    assert conversation(talk.end()).plan_score == plan


def test_a_row_holds_both_verdicts_and_the_final_one_decides() -> None:
    row = _row(_told())
    assert (row["resolved"], row["resolved_at_will"], row["verdict"]) == (True, False, "resolved")
    assert (row["simulator"], row["persona"], row["coverage"], row["k"]) == (
        "grounded",
        "nitpicker",
        "full",
        None,
    )
    assert row["missing_at_will"] == ["R2"]
    assert row["slips"] == ["no_test_commit"]
    assert [each["state"] for each in json.loads(str(row["fates"]))] == ["satisfied", "satisfied"]


def test_talk_is_no_delivery_and_the_touching_users_words_are() -> None:
    talk = Talk(condition="four-hands")
    talk.say("nudge")
    talk.answer(talk.ask(), "reveal", "R1")
    talk.say(None, intervention="i1")
    talk.checkpoint("end", {"R1": True})
    talk.end()
    row = _row(talk, "four-hands")
    assert (row["delivered"], row["messages"], row["never_carried"], row["said"]) == (1, 1, 1, 2)
    assert [proof.intervention for proof in delivery_proofs(talk.events)] == ["i1"]
    assert [each.intervention for each in responses(talk.events, lambda _: b"")] == ["i1"]


def test_a_trial_without_a_talking_user_has_none_of_these_columns() -> None:
    row = _row(_told(), "single-turn")
    assert row["k"] is None
    assert not {"said", "simulator", "at_will", "fates"} & {
        name for name, value in row.items() if value is not None
    }
