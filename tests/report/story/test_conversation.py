"""A conversation's story: why each thing was said, what each state held, and what became of each requirement."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.model.audit import AuditName, Opinion, OpinionLabel
from fourhands.model.event import Event
from fourhands.model.judgement import CriterionScore, JudgedState, Judgement, Judgements
from fourhands.model.ledger import Goal, Ledger, Requirement
from fourhands.report.story import Story, story, story_bytes, story_json
from fourhands.report.story.model import Entry
from fourhands.report.text import visible

from ...analysis.talks import Talk  # noqa: TID252 - tests are no package to name

LEDGER = Ledger(
    "It is never open.",
    (
        Requirement("R1", "It is open until 02:00.", (0, 5), values=("02:00",), weight=50),
        Requirement("R2", "`minutesOpen` counts 240.", (6, 9), values=("240",), weight=50),
    ),
    (Goal("G1", "Open through the night", 100, "code that does", ("R1", "R2")),),
)
NEITHER, FIRST, BOTH = ({"R1": a, "R2": b} for a, b in ((False, False), (True, False), (True, True)))


class Blobs:
    """Payloads in memory."""

    def __init__(self) -> None:
        self._known: dict[str, bytes] = {}
        self.put(b"")

    def put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self._known[digest] = data
        return digest

    def blob(self, digest: object) -> bytes | None:
        return self._known.get(str(digest))

    def contents(self, names: Collection[str]) -> Mapping[str, bytes]:
        del names
        return {}


def begun(
    blobs: Blobs, *, condition: str = "interactive", ledger: Ledger | None = LEDGER, **more: Any
) -> Talk:
    talk = Talk(condition=condition)
    told: dict[str, Any] = {"brief": "It is never open.", "persona": "nitpicker"}
    if ledger is not None:
        told["ledger"] = blobs.put(msgspec.json.encode(ledger))
    talk.events[0].body.update(told | more)
    return talk


def held(blobs: Blobs, **more: Any) -> list[Event]:
    """Of two turns: R1 is met and lost again, R2 is said and never taken up."""
    talk = begun(blobs, opening=blobs.put(b"It is never open.\nAsk before you change anything.\n"), **more)
    plan = talk.ask("My plan: open it.")
    talk.checkpoint("plan", NEITHER, text=blobs.put(b"1. open it"), goals={"G1": 0.0})
    talk.look("changes")
    blocked = [{"text": "the test says 7", "reason": "leaks: hidden ('7')"}]
    talk.answer(plan, "reveal", "R1", text="Until 02:00.", why="plan: held", rejected=blocked)
    review = talk.ask("It is open until 02:00. Right?")
    talk.move("R1", "acknowledged", {"question": review})
    checks = {"open": True, "count": False, "slow": None}
    talk.checkpoint(
        "commit",
        FIRST,
        lines=4,
        subject="Open it",
        commit="ab" * 20,
        checks=checks,
        diff=blobs.put(b"+open\n"),
    )
    talk.move("R1", "satisfied", {"checkpoint": "c2"})
    talk.answer(
        review, "reveal", "R2", text="Count 240.", why="review: held", source="fallback", model="small"
    )
    talk.checkpoint("stop", NEITHER, lines=1)
    talk.move("R1", "violated", {"checkpoint": "c3"})
    talk.checkpoint("end", NEITHER)
    talk.verify("unresolved", phase="at-will")
    talk.verify("unresolved")
    return talk.end("unresolved", slips=[{"slip": "no_plan", "seq": len(talk.events), "paths": []}])


@pytest.fixture(scope="module")
def told() -> Story:
    blobs = Blobs()
    return story(held(blobs), blobs)


def kinds(entries: Collection[Entry]) -> list[str]:
    return [entry.kind for entry in entries]


def one(told: Story, kind: str, at: int = 0) -> Entry:
    return [entry for entry in told.entries if entry.kind == kind][at]


def test_it_begins_with_how_the_user_opens_and_all_that_the_agent_was_told(told: Story) -> None:
    opened = told.entries[0]
    assert (opened.kind, opened.lane, opened.title) == ("opened", "user", "It is never open.")
    assert opened.output
    assert opened.output.head.endswith("Ask before you change anything.")


def test_a_message_tells_its_move_its_requirements_why_and_whose_words(told: Story) -> None:
    first, second = one(told, "answered").spoken, one(told, "answered", 1).spoken
    assert first
    assert second
    assert (first.move_words, first.requirements, first.why) == ("reveal", ("R1",), "plan: held")
    assert [(each.reason, each.text.head) for each in first.blocked] == [
        ("leaks: hidden ('7')", "the test says 7")
    ]
    assert (first.source_words, second.source_words) == (
        "fixed words",
        "the fixed words, in place of small's",
    )


def test_moves_of_requirements_are_told_with_what_brought_them_about(told: Story) -> None:
    assert "moved" not in kinds(told.entries)
    where = {(step.requirement, step.after): entry.kind for entry in told.entries for step in entry.moves}
    assert where == {
        ("R1", "revealed"): "answered",
        ("R1", "acknowledged"): "asked",
        ("R1", "satisfied"): "checkpoint",
        ("R2", "revealed"): "answered",
        ("R1", "violated"): "checkpoint",
    }
    assert [step.after for step in one(told, "asked", 1).moves] == ["acknowledged"]


def test_a_move_whose_cause_is_not_told_stands_alone() -> None:
    talk = begun(Blobs())
    talk.move("R1", "revealed", {"message": "m9"})
    talk.move("R1", "satisfied", {"judge": "it says so"})
    alone = story(talk.events, Blobs()).entries[1:]
    assert [entry.title for entry in alone] == [
        "R1: held → revealed (message m9)",
        "R1: revealed → satisfied (judge it says so)",
    ]


def test_a_state_tells_what_it_holds_and_what_changed_since_the_one_before(told: Story) -> None:
    plan, commit, stop, end = (entry.state for entry in told.entries if entry.state)
    assert (plan.is_plan, plan.of_words, plan.met) == (True, "plan", ())
    assert (commit.subject, commit.commit, commit.met, commit.unmet) == (
        "Open it",
        "ab" * 5,
        ("R1",),
        ("R2",),
    )
    assert (commit.checks, commit.checks_passed, commit.checks_unknown) == (3, 1, 1)
    assert commit.failed == ("count",)
    assert (commit.gained, commit.lost) == ((), ()), "there is no state of code before it"
    assert (stop.gained, stop.lost, stop.of_words) == ((), ("R1",), "the agent first wants to end")
    assert (end.gained, end.lost) == ((), ())
    texts = [entry.text.head for entry in told.entries if entry.state and entry.text]
    assert texts == ["1. open it", "+open"]


def test_what_comes_back_is_gained_and_what_nobody_can_tell_is_not_lost() -> None:
    talk = begun(Blobs())
    for met in (NEITHER, BOTH, {"R1": None, "R2": True}):
        talk.checkpoint("commit", met)
    _, second, third = (entry.state for entry in story(talk.events, Blobs()).entries if entry.state)
    assert (second.gained, second.lost) == (("R1", "R2"), ())
    assert (third.gained, third.lost, third.unknown) == ((), (), ("R1",))


def test_the_ledger_has_each_requirement_turn_by_turn_with_its_text_and_fate(told: Story) -> None:
    assert told.talk
    ledger = told.talk.ledger
    first, second = ledger.requirements
    assert first.text == "It is open until 02:00."
    assert [(turn, state) for turn, state, _ in first.moves] == [
        (1, "revealed"),
        (2, "acknowledged"),
        (2, "satisfied"),
        (3, "violated"),
    ]
    seqs = {entry.seq for entry in told.entries}
    assert all(seq in {step.seq for e in told.entries for step in e.moves} for _, _, seq in first.moves)
    assert (first.fate, first.met, first.told, first.label) == ("violated", False, 1, "regression")
    # Said last of all: the agent took no step after it, so nobody may call it forgotten.
    assert (second.fate, second.told, second.label) == ("revealed", 2, "undecided")
    assert told.failure
    assert second.label == ("undecided" if told.failure.undecided else "forgotten requirement")
    assert [one(told, "answered", at).seq for at in (0, 1)] == list(ledger.turns)
    assert set(ledger.turns) <= seqs
    assert ledger.stop == 3, "after the second turn"
    assert [(goal.id, goal.requirements) for goal in ledger.goals] == [("G1", ("R1", "R2"))]


def test_a_record_without_its_ledger_tells_ids_alone() -> None:
    blobs = Blobs()
    talk = story(held(blobs, ledger=None), blobs).talk
    assert talk
    assert [(each.id, each.text) for each in talk.ledger.requirements] == [("R1", None), ("R2", None)]
    assert talk.ledger.goals == ()


def test_the_first_wish_to_end_its_verdict_and_slips_are_told(told: Story) -> None:
    assert told.talk
    stop = next(entry for entry in told.entries if entry.state and entry.state.of == "stop")
    assert (told.talk.at_will, told.talk.stop, told.talk.persona) == ("unresolved", stop.seq, "nitpicker")
    assert one(told, "at_will").title.startswith("as it was when the agent first wanted to end: unresolved")
    assert [slip.words for slip in told.talk.slips] == ["no plan"]
    assert told.entries[-1].slips == ("no plan",)
    assert (told.talk.said, told.talk.blocked, told.talk.plan) == (2, 1, "c1")


def test_why_it_failed_is_told_with_the_events_that_show_it(told: Story) -> None:
    assert told.failure
    found = {each.requirement: each for each in told.failure.found}
    assert found["R1"].label == "regression"
    assert found["R1"].events
    assert set(found["R1"].events) <= {event for entry in told.entries for event in _events(entry)}


def _events(entry: Entry) -> Iterator[int]:
    yield entry.seq
    yield from (step.seq for step in entry.moves)


def test_where_all_was_asked_for_at_once_nothing_was_held_back_or_left_untold() -> None:
    blobs = Blobs()
    talk = begun(blobs, condition="single-turn")
    del talk.events[0].body["brief"]
    talk.checkpoint("end", FIRST)
    talk.verify("unresolved")
    found = story(talk.end("unresolved"), blobs).talk
    assert found
    assert not found.is_talk
    assert [(each.fate, each.label) for each in found.ledger.requirements] == [
        ("satisfied", None),
        ("violated", None),
    ]
    assert (found.held, found.held_at_will) == ((), ())


def test_a_trial_that_was_no_conversation_has_none() -> None:
    talk = Talk(condition="counter-edit")
    assert story(talk.end(), Blobs()).talk is None


def test_what_judges_said_stands_apart_with_their_names(told: Story) -> None:
    blobs = Blobs()
    label = OpinionLabel("regression", (3,), "It was there.", "R1")
    opinion = Opinion(AuditName.SWE_INTERACT, 1, "judge:m", 1, "k", (label,))
    score = Judgement("k", "plan", (CriterionScore("G1", 0.5, (), 0.5),), 50.0)
    judged = Judgements("judge:m", 1, (JudgedState("c1", "plan", score),))
    why = story_json(story(held(blobs), blobs, opinions=[opinion], judged=[judged]))["why"]
    assert why["opinions"][0]["judge"] == "judge:m"
    assert why["opinions"][0]["labels"] == [
        {"label": "regression", "events": [3], "why": "It was there.", "requirement": "R1"}
    ]
    assert why["judged"][0]["states"] == [{"state": "c1", "of": "plan", "score": 50.0, "goals": {"G1": 0.5}}]
    assert why["labels"] == story_json(told)["why"]["labels"], "no judge has a word in it"


def test_a_record_that_was_cut_anywhere_is_told_as_far_as_it_goes() -> None:
    blobs = Blobs()
    events = held(blobs)
    for length in range(len(events)):
        cut = story(events[:length], blobs)
        assert not cut.problems
        assert orjson.dumps(story_json(cut))


@settings(max_examples=60)
@given(st.randoms(use_true_random=False))
def test_whatever_is_missing_doubled_or_out_of_order_the_rest_is_told(chance: random.Random) -> None:
    blobs = Blobs()
    events = held(blobs)
    kept = [event for event in events if chance.random() < 0.8]
    kept += [event for event in events if chance.random() < 0.1]
    if chance.random() < 0.3:
        chance.shuffle(kept)
    told = story(kept, blobs)
    assert {entry.seq for entry in told.entries} <= {event.seq for event in kept}
    assert orjson.loads(story_bytes(told))["schema"] == 2


HOSTILE = "</script><b>\x1b[2J\u202e\x00"


def test_hostile_words_are_data_wherever_they_stand() -> None:
    blobs = Blobs()
    requirement = Requirement(HOSTILE, HOSTILE, (0, 1), weight=100)
    ledger = Ledger(HOSTILE, (requirement,), (Goal(HOSTILE, HOSTILE, 100, "", (HOSTILE,)),))
    talk = begun(blobs, ledger=ledger, brief=HOSTILE, persona=HOSTILE, opening=blobs.put(HOSTILE.encode()))
    question = talk.ask(HOSTILE)
    rejected = [{"text": HOSTILE, "reason": HOSTILE}]
    talk.answer(question, "reveal", HOSTILE, text=HOSTILE, why=HOSTILE, rejected=rejected, occasion=HOSTILE)
    talk.say(HOSTILE, HOSTILE, source="live", model=HOSTILE)
    talk.checkpoint(
        "commit",
        {HOSTILE: True},
        subject=HOSTILE,
        checks={HOSTILE: False},
        problem=HOSTILE,
        goals={HOSTILE: 1},
    )
    talk.checkpoint("commit", {HOSTILE: False}, diff=blobs.put(HOSTILE.encode()))
    events = talk.end("unresolved", slips=[{"slip": HOSTILE, "seq": 3}])
    told = story(events, blobs)
    assert not told.problems
    texts = list(_texts(story_json(told)))
    assert sum("</script>" in text for text in texts) > 20
    assert not [text for text in texts if visible(text) != text]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for part in pair for text in _texts(part))
    elif isinstance(value, list | tuple):
        yield from (text for each in value for text in _texts(each))
