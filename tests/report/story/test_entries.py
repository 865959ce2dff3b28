"""Events that belong together become one entry, and each says what a reader would want to know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from fourhands.report.story import story_bytes
from fourhands.report.story.model import Clipped, Entry, Touched
from fourhands.report.story.talk import Blocked
from fourhands.report.text import visible

from .scene import Log

READ = {"path": "a.py", "kind": "read", "lines": [[1, 20]]}
TRIGGER = {"intervention": "i1", "moment": "after_action", "why": "read of a.py:5-9", "calls": ["c1"]}


def kinds(log: Log) -> list[str]:
    return [entry.kind for entry in log.story().entries]


def titles(log: Log) -> list[str]:
    return [entry.title for entry in log.story().entries]


def test_the_agents_words_are_told_with_their_step_and_tokens() -> None:
    log = Log()
    log.start()
    log.reply("I look at it.\nThen I change it.")
    said = log.entry("said")
    assert (said.text, said.form) == (Clipped("I look at it.\nThen I change it."), "words")
    assert (said.title, said.lane, said.step) == ("I look at it. Then I change it.", "agent", 1)
    assert (said.tokens, said.elapsed) == (115, 1.5)


def test_a_reply_without_words_gives_its_tokens_to_its_first_action() -> None:
    log = Log()
    log.reply("")
    log.act("bash", {"command": "ls"}, "c1")
    log.act("bash", {"command": "pwd"}, "c2")
    assert [(entry.kind, entry.tokens) for entry in log.story().entries] == [("acted", 115), ("acted", None)]


def test_an_action_and_its_result_are_one_entry() -> None:
    log = Log()
    log.reply()
    log.act("bash", {"command": "ls"}, "c1")
    log.act("bash", {"command": "false"}, "c2")
    log.result("", "c2", code=1)
    log.result("a.py\n", "c1", touches=[READ])
    first, second = log.story().entries
    assert (first.output, first.code, first.touches) == (
        Clipped("a.py"),
        0,
        (Touched("a.py", "read", ((1, 20),)),),
    )
    assert (second.output, second.code, second.step) == (None, 1, 1)


def test_output_is_clipped_at_the_limit() -> None:
    log = Log()
    log.act("bash", {"command": "yes"})
    log.result("y\n" * 500 + "x" * 100_000)
    output = log.entry("acted", output=4, output_bytes=64).output
    assert output == Clipped("y\ny", "x" * 32, 498, 996 + 100_000 - 32)


def test_the_touch_that_set_a_trigger_off_is_marked_and_no_other() -> None:
    log = Log()
    log.reply()
    log.act("bash", {"command": "cat a.py b.py"}, "c1")
    log.act("bash", {"command": "ls"}, "c2")
    beside = {"path": "a.py", "kind": "read", "lines": [[90, 99]]}
    log.result("…", "c1", touches=[READ, beside, {**READ, "path": "b.py"}])
    log.result("…", "c2")
    log.add("user", "trigger_fired", {**TRIGGER, "calls": ["c1", "c2"]})
    acted, other, triggered = log.story().entries
    assert acted.fired == ("i1",)
    assert [touch.fired for touch in acted.touches] == [True, False, False]
    assert other.fired == ()
    assert (triggered.title, triggered.lane) == ("trigger: read of a.py:5-9", "user")


def test_the_change_that_set_a_trigger_off_is_marked() -> None:
    log = Log()
    log.act("bash", {"command": "sed -i s/a/b/ a.py"})
    log.result("")
    log.change("agent", b"a\n", b"b\n", [[1, 1, 1, 1]])
    log.add("user", "trigger_fired", {**TRIGGER, "why": "edit of a.py:1-1"})
    assert log.entry("changed").fired == ("i1",)


def test_a_step_that_sets_a_trigger_off_marks_no_action() -> None:
    log = Log()
    log.act("bash", {"command": "ls"})
    log.result("", touches=[READ])
    log.add("user", "trigger_fired", {**TRIGGER, "why": "step 5 is reached"})
    assert log.entry("acted").fired == ()


def test_a_shadow_says_whose_user_would_have_acted() -> None:
    log = Log()
    log.add("harness", "shadow_trigger_fired", {**TRIGGER, "conditions": ["counter-edit", "co-edit"]})
    entry = log.entry("would_trigger")
    assert entry.title == "a user would have acted here: read of a.py:5-9"
    assert entry.details == ("the user of counter-edit", "the user of co-edit")


def test_the_users_change_and_what_became_of_the_edit_are_one_entry() -> None:
    log = Log()
    log.add("user", "edit_intended", {"intervention": "i1", "patch": "0" * 64})
    log.change("user", b"a\n", b"a\nb\n", [[2, 1, 2, 2]], intervention="i1")
    log.add(
        "user", "edit_applied", {"intervention": "i1", "outcome": "applied", "detail": "1 of 1", "files": []}
    )
    edited = log.entry("edited")
    assert edited.title == "edit i1: applied (1 of 1)"
    assert edited.diffs[0].added == 1


def test_an_edit_that_was_not_made_says_why() -> None:
    log = Log()
    log.add("user", "edit_not_applied", {"intervention": "i1", "outcome": "region_gone", "detail": "no a.py"})
    assert log.entry("missed").title == "edit i1 not made: region_gone (no a.py)"


def message(**more: Any) -> dict[str, Any]:
    return {
        "message": "m1",
        "intervention": "i1",
        "text": "I changed it.",
        "anchor": ["c1"],
        "source": "fixed",
        **more,
    }


def test_a_message_says_where_it_stands_and_which_requests_carried_it() -> None:
    log = Log()
    log.add("user", "message_sent", message())
    assert log.entry("messaged").carried is None
    log.add("harness", "message_carried", {"message": "m1", "first_request": 3})
    assert log.entry("messaged").carried == "from request 3"
    log.add("harness", "message_lost", {"message": "m1", "request": 5})
    log.add(
        "harness", "message_carried", {"message": "m1", "first_request": 3, "last_request": 9, "requests": 7}
    )
    sent = log.entry("messaged")
    assert (sent.text, sent.carried) == (Clipped("I changed it."), "from request 3 to 9, by 7 in all")
    assert sent.details == ("stands behind the result of c1",)
    assert titles(log)[1:] == [
        "message m1 carried from request 3",
        "message m1 lost its place at request 5",
        "message m1 carried from request 3 to 9 (7 requests)",
    ]


def test_words_of_a_model_say_whose_they_are_and_what_was_not_said() -> None:
    rejected = [{"text": "…", "reason": "it names a test"}]
    live = Log()
    live.add("user", "message_sent", message(source="live", model="gpt-x", rejected=rejected, anchor=[]))
    assert live.entry("messaged").details == (
        "stands with the main loop's next actions",
        "put into words by gpt-x",
        "not said: it names a test",
    )
    fallback = Log()
    fallback.add(
        "user", "message_sent", message(source="fallback", model="gpt-x", rejected=rejected, framed="<m>")
    )
    assert fallback.entry("messaged").details == (
        "stands behind the result of c1",
        "worded to the model as: <m>",
        "not said: it names a test",
        "the fixed words, in place of gpt-x's",
    )


def test_a_question_and_its_answer() -> None:
    log = Log()
    log.add("agent", "asked", {"question": "q1", "text": "Keep it?", "elapsed": 1.0})
    log.add("user", "answered", {"question": "q1", "text": "Yes.", "source": "fixed", "elapsed": 2.0})
    asked, answered = log.story().entries
    assert (asked.title, asked.lane, asked.elapsed) == ("asks: Keep it?", "agent", 1.0)
    assert (answered.title, answered.lane, answered.text) == ("answers: Yes.", "user", Clipped("Yes."))


def test_a_sub_agent_is_told_by_its_thread_and_apart_from_the_main_loops_calls() -> None:
    log = Log()
    log.reply("I delegate.")
    log.act("Task", {"prompt": "look"}, "c1")
    log.reply("I look.", thread="sub-1")
    log.act("Read", {"file_path": "a.py"}, "c1", thread="sub-1")
    log.result("content", "c1", thread="sub-1", touches=[READ])
    log.result("done", "c1")
    entries = log.story().entries
    assert [(entry.thread, entry.kind) for entry in entries] == [
        ("main", "said"), ("main", "acted"), ("sub-1", "said"), ("sub-1", "acted")
    ]  # fmt: skip
    assert [entry.output and entry.output.head for entry in entries if entry.kind == "acted"] == [
        "done",
        "content",
    ]


def test_side_calls_and_replies_that_broke_off_are_left_out() -> None:
    log = Log()
    log.reply("A title", side=True, step=None)
    log.reply("half a", complete=False, step=None)
    assert kinds(log) == []


def test_a_reply_that_was_not_taken_up_is_struck_and_the_next_one_is_not() -> None:
    log = Log()
    log.reply("First try.")
    log.act("bash", {"command": "ls"}, "c1")
    note = {"note": "reply_not_accepted", "step": 1, "calls": ["c1"]}
    log.add("harness", "note", note)
    log.reply("Second try.", step=1)
    log.act("bash", {"command": "ls"}, "c2")
    assert [(entry.title, entry.dropped) for entry in log.story().entries] == [
        ("First try.", True),
        ("bash $ ls", True),
        ("the agent did not take up the model's reply (step 1): it counts as a retry", False),
        ("Second try.", False),
        ("bash $ ls", False),
    ]


def test_words_alone_that_were_not_taken_up_are_struck() -> None:
    log = Log()
    log.reply("I only talk.")
    log.add("harness", "note", {"note": "reply_not_accepted", "step": 1, "calls": []})
    assert [entry.dropped for entry in log.story().entries] == [True, False]


NOTES: list[tuple[dict[str, Any], str]] = [
    ({"note": "message_moved", "message": "m1", "anchor": ["c2"]}, "m1 now stands behind the result of c2"),
    ({"note": "message_reinserted", "message": "m1", "request": 9}, "the user's first words from request 9"),
    ({"note": "client_announced", "request": 4, "words": "modified"}, "of a changed file: “modified”"),
    ({"note": "gateway_cut_off", "by": "agent", "reason": "firewall"}, "the doing of the agent: firewall"),
    ({"note": "harness_failed", "reason": "disk full"}, "our own side failed: disk full"),
    (
        {"note": "provider_failed", "status": 429, "said": "slow\n down"},
        "the provider answered 429: slow down",
    ),
    ({"note": "provider_failed", "status": 0, "said": ""}, "the provider broke off"),
    ({"note": "no_verdict", "reason": "no sandbox"}, "there is no verdict: no sandbox"),
    (
        {"note": "replay_unfinished", "asked": 2, "left": list(range(3, 20))},
        "request 3, 4, 5, 6, 7, 8, 9, 10, …",
    ),
    ({"note": "reply_not_accepted", "step": None, "calls": []}, "did not take up a sub-agent's reply"),
    ({"note": "from_the_future", "colour": "red"}, "note: from_the_future colour=red"),
    ({"note": "harness_failed"}, "note: harness_failed"),
]


@pytest.mark.parametrize(("note", "words"), NOTES)
def test_notes_are_told_in_words(note: dict[str, Any], words: str) -> None:
    log = Log()
    log.add("harness", "note", note)
    entry = log.entry("noted")
    assert words in (entry.text.head if entry.text else entry.title)


def test_a_diverged_replay_shows_its_difference() -> None:
    log = Log()
    log.add("harness", "diverged", {"request": 4, "expected": None, "diff": log.put("-a\n+b\n")})
    entry = log.entry("diverged")
    assert (entry.text, entry.form) == (Clipped("-a\n+b"), "diff")
    assert "at request 4 (the recording has no more)" in entry.title


VERIFIED: dict[str, Any] = {
    "verdict": "unresolved",
    "reward": 0.0,
    "timed_out": False,
    "seconds": 2.5,
    "fail_to_pass": {"test_a": "passed", "test_b": "failed", "test_c": "xfailed"},
    "pass_to_pass": 7,
    "pass_to_pass_failed": {"test_d": "error"},
    "missing": ["test_e"],
    "restored": {"written": ["tests/test_a.py"], "removed": ["conftest.py"]},
}


def test_the_verdict_names_the_tests_that_brought_it_about() -> None:
    log = Log()
    log.add("verifier", "verified", {**VERIFIED, "output": log.put("2 failed\n")})
    found = log.story().verification
    assert found
    assert found.fail_to_pass == (("test_b", "failed"), ("test_a", "passed"), ("test_c", "xfailed"))
    assert (found.fail_to_pass_passed, found.fail_to_pass_count, found.pass_to_pass) == (2, 3, 7)
    assert (found.pass_to_pass_failed, found.missing) == ((("test_d", "error"),), ("test_e",))
    assert found.restored == ("tests/test_a.py", "conftest.py (removed)")
    assert found.output == Clipped("2 failed")
    title = "unresolved: 2 of 3 tests to be fixed pass, 1 of 7 others fail, 2.5 s"
    assert log.entry("verified").title == title


def test_payloads_that_are_gone_are_said_to_be() -> None:
    log = Log()
    log.reply("words")
    log.act("bash", {"command": "ls"})
    log.result("output")
    log._blobs.clear()
    said, acted = log.story().entries
    gone = Clipped("(not in the record any more)")
    assert (said.text, acted.text, acted.output, acted.title) == (gone, gone, gone, "bash")


def test_a_result_without_its_action_is_told_all_the_same() -> None:
    log = Log()
    log.result("output", "c9")
    entry = log.entry("acted")
    assert entry.title == "result of call c9, of whose action the record does not tell"
    assert entry.output == Clipped("output")


def test_an_event_that_is_not_as_it_should_be_is_a_problem_and_no_more() -> None:
    log = Log()
    log.start()
    log.add("user", "message_sent", {"message": "m1"})
    log.add("agent", "workspace_changed", {"by": "agent", "files": [{"path": "a.py"}]})
    log.add("harness", "trial_ended", {"verdict": "resolved"})
    log.reply("Still told.")
    told = log.story()
    assert [entry.title for entry in told.entries] == ["Still told."]
    assert [problem[:7] for problem in told.problems[:3]] == ["event 1", "event 2", "event 3"]
    assert (told.task, told.repeat, told.ended, told.verdict) == ("ledger", 2, True, "resolved")


def test_without_any_event_there_is_an_empty_story() -> None:
    told = Log().story()
    assert (told.entries, told.ended, told.verdict, told.seconds, told.authors) == ((), False, None, None, {})
    assert orjson.loads(story_bytes(told))["entries"] == []


def test_times_are_seconds_since_the_first_request() -> None:
    log = Log()
    log.start()
    log.reply("one", elapsed=0.5)
    log.add("user", "trigger_fired", {**TRIGGER})
    said, fired = log.story().entries
    assert (said.elapsed, fired.elapsed) == (0.5, 1.5)
    assert log.story().seconds == 2.0


def test_what_was_before_the_first_request_has_no_time() -> None:
    log = Log()
    log.start()
    log.add("user", "trigger_fired", {**TRIGGER})
    log.reply("one", elapsed=0.5)
    fired, said = log.story().entries
    assert (fired.elapsed, said.elapsed) == (None, 0.5)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (found for each in value.items() for part in each for found in _strings(part))
    elif isinstance(value, list):
        yield from (found for each in value for found in _strings(each))


HOSTILE = "</script><b>\x1b[2J\u202e\ud83d\x00"


def test_hostile_text_stays_data_and_the_json_is_utf_8() -> None:
    log = Log()
    log.start()
    log.events[0].body["task"] = HOSTILE
    log.reply(HOSTILE)
    log.act(HOSTILE, {"command": "</script>\x1b[2J\u202e"}, HOSTILE, touches=[{**READ, "path": HOSTILE}])
    log.result(HOSTILE.encode("utf-8", "surrogatepass") + b"\xff\xfe", HOSTILE)
    log.change("agent", None, b"\x1b[2J\xff\n", [[1, 0, 1, 1]], path=HOSTILE)
    log.add("user", "message_sent", message(text=HOSTILE, message=HOSTILE))
    log.add("verifier", "verified", {**VERIFIED, "fail_to_pass": {HOSTILE: HOSTILE}, "output": None})
    log.add("harness", "note", {"note": HOSTILE, HOSTILE: HOSTILE})
    told = orjson.loads(story_bytes(log.story()))
    strings = list(_strings(told))
    assert sum("</script>" in each for each in strings) > 10
    assert not [each for each in strings if visible(each) != each]
    assert told["task"].startswith("</script><b>\\x1b[2J\\u202e")
    assert told["entries"][1]["text"]["head"] == "</script>\\x1b[2J\\u202e"
    assert not [problem for problem in told["problems"] if "not told" in problem]


def test_every_entry_has_a_place_of_its_own() -> None:
    log = Log()
    for _ in range(3):
        log.reply("words")
    entries: tuple[Entry, ...] = log.story().entries
    assert len({entry.seq for entry in entries}) == 3


def test_looks_moves_of_requirements_and_checkpoints_are_told_in_plain_words() -> None:
    log = Log()
    shown = {"code": 0, "output": log.put("+1"), "bytes": 2, "refused": None}
    log.add("user", "looked", {"argv": ["changes"], **shown})
    log.add("user", "looked", {"argv": ["find", "-delete"], **shown, "refused": "-delete is not allowed"})
    moved = {
        "requirement": "R1",
        "from": "revealed",
        "to": "satisfied",
        "turn": 1,
        "evidence": {"checkpoint": "c1"},
    }
    log.add("user", "requirement_moved", moved)
    body = {
        "checkpoint": "c1",
        "of": "stop",
        "subject": None,
        "additions": 3,
        "deletions": 1,
        "requirements": {"R1": True, "R2": False},
        "score": 50.0,
        "source": "checks",
        "problem": "slow",
    }
    log.add("harness", "checkpoint", body)
    assert kinds(log) == ["looked", "looked", "moved", "checkpoint"]
    assert titles(log) == [
        "is shown what changed",
        "looks: find -delete (refused: -delete is not allowed)",
        "R1: revealed → satisfied (checkpoint c1)",
        "checkpoint c1, the agent first wants to end, +3 −1: 50.0 of 100, by checks",
    ]
    first, second, _, last = log.story().entries
    assert (first.output, second.output) == (Clipped("+1"), None)
    assert last.state
    assert (last.state.met, last.state.unmet, last.state.problem) == (("R1",), ("R2",), "slow")


def test_of_two_verdicts_the_final_one_is_the_storys_and_the_earlier_one_is_noted() -> None:
    log = Log()
    body = {"fail_to_pass": {}, "pass_to_pass": 0, "pass_to_pass_failed": {}, "seconds": 1.0}
    log.add("verifier", "verified", {**body, "verdict": "unresolved", "phase": "at-will"})
    log.add("verifier", "verified", {**body, "verdict": "resolved"})
    assert kinds(log) == ["at_will", "verified"]
    assert titles(log)[0].startswith("as it was when the agent first wanted to end: unresolved")
    found = log.story().verification
    assert found is not None
    assert found.verdict == "resolved"


def test_what_a_talking_user_says_tells_their_move_and_why() -> None:
    log = Log()
    said = {"text": "Mind R1.", "source": "fixed", "elapsed": 1.0, "question": "q1"}
    talk = {"move": "approve_plan", "requirements": ["R1"], "why": "plan: nothing is held"}
    log.add("user", "answered", {**said, **talk, "rejected": [{"text": "7", "reason": "leak"}]})
    log.add(
        "user",
        "message_sent",
        {"message": "m1", "intervention": None, "text": "Go on.", "anchor": [], **talk},
    )
    answered, messaged = log.story().entries
    assert answered.spoken
    assert (answered.spoken.move_words, answered.spoken.requirements) == ("approve plan", ("R1",))
    assert answered.spoken.why == "plan: nothing is held"
    assert answered.spoken.blocked == (Blocked("leak", Clipped("7")),)
    assert messaged.intervention is None
