"""Why conversations failed, on records made by hand: what agents say there is in nobody's script."""

from __future__ import annotations

import json
from dataclasses import replace
from time import process_time
from typing import Any, Final

import pytest

from fourhands.analysis.digest import Subject, digest
from fourhands.analysis.failure_labels import (
    failure_from_json,
    failure_json,
    failure_labels,
    requirement_labels,
)
from fourhands.model.ablation import Ablation, Cause, Conclusion, Probe, ProbeName
from fourhands.model.condition import Condition
from fourhands.model.event import Actor, EventKind
from fourhands.model.failure import FailureLabel as L
from fourhands.model.failure import FoundBy, LabelledFailure
from fourhands.model.ledger import Ledger
from fourhands.model.outcome import Verdict
from fourhands.model.trial import AgentSpec, TrialKey

from .ledger_talks import ALSO_SAID, LEDGER, OTHERS_SAID, LedgerTalk

ALL = LEDGER.ids
UNDECIDED = None


def _label(talk: LedgerTalk, requirement: str) -> L | None:
    """The one thing that was found of a requirement."""
    found = failure_labels(talk.events, talk.read)
    assert found
    every: list[tuple[str | None, L | None]] = [(each.requirement, each.label) for each in found.found]
    every += [(each.requirement, UNDECIDED) for each in found.undecided]
    assert [name for name, _ in every] == [requirement]
    return every[0][1]


def _said(requirement: str, words: str) -> LedgerTalk:
    """All was told; the agent says that of one requirement, and something of another, and writes some code."""
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.reply(words)
    talk.change("pass")
    talk.state("commit", requirement, lines=1)
    talk.ask(f"{OTHERS_SAID if requirement != 'R3' else ALSO_SAID} Please review.")
    talk.close(requirement)
    return talk


@pytest.mark.parametrize(
    ("requirement", "words", "label"),
    [
        # As it was said, in other words and another order: the code is what is wrong.
        ("R1", "I'll reject every upload that is larger than 25 MB and answer with status 413.", L.TECHNICAL),
        ("R1", "- status 413 for rejected uploads, i.e. larger than 25MB\n- nothing else", L.TECHNICAL),
        ("R2", "Users that were deleted cannot log in any more.", L.TECHNICAL),
        ("R2", "Done! A deleted user isn't able to log in.", L.TECHNICAL),
        ("R4", "`export_csv` now writes its header line once, and not again when appending to a file.", L.TECHNICAL),
        ("R5", "If a download fails, try it again, `MAX_TRIES` times in all, before anybody hears.", L.TECHNICAL),
        ("R6", "Names whose capital letters differ are the same name.", L.TECHNICAL),
        # Another value, the opposite, a lost negation.
        ("R1", "Uploads larger than 50 MB will be rejected with status 413.", L.MISINTERPRETATION),
        ("R1", "I reject uploads larger than 25 MB with status 400.", L.MISINTERPRETATION),
        ("R2", "Deleted users must be able to log in, so I keep their sessions.", L.MISINTERPRETATION),
        ("R2", "My assumption: deleted users are able to log in until they leave.", L.MISINTERPRETATION),
        ("R3", "I list the invoices by date, the oldest first.", L.MISINTERPRETATION),
        ("R7", "The audit trail keeps each change for 30 days.", L.MISINTERPRETATION),
        # Not a word of it, although it speaks of others.
        ("R1", "Let me look at the code.", L.FORGOTTEN),
        ("R4", "I have sorted the invoices and made the download more robust.", L.FORGOTTEN),
        ("R5", "Everything is committed, the tests pass.", L.FORGOTTEN),
        # The same of what names nothing: lines of it could not be known, so silence shows nothing.
        ("R2", "I have sorted the invoices and made the download more robust.", UNDECIDED),
        ("R6", "Everything is committed, the tests pass.", UNDECIDED),
        # Neither said nor unsaid: left for a judge.
        ("R1", "Rejected now, with a status of its own.", UNDECIDED),
        ("R2", "I also thought about users who were deleted.", UNDECIDED),
        ("R5", "`MAX_TRIES` is a constant now.", UNDECIDED),
        ("R4", "I leave the header line of `export_csv`, once when it appends to a file, for later.", UNDECIDED),
        # Of a text in which hardly a word is the requirement's own nothing is seen: a limit.
        ("R1", "Nobody can fill the disk any more.", L.FORGOTTEN),
        # One word of its own is enough not to call it forgotten.
        ("R1", "Rejected now, by size.", UNDECIDED),
        ("R5", "retry downloads", UNDECIDED),
        ("R2", "lock out deleted accounts", UNDECIDED),
        ("R5", "Flaky connections are no problem any longer.", L.FORGOTTEN),
        # How things stand, or a question, is nothing that the agent means to do.
        ("R2", "The bug: deleted users are able to log in.", UNDECIDED),
        ("R3", "Currently the invoices are listed by date, oldest first.", UNDECIDED),
        ("R2", "Should deleted users be able to log in?", UNDECIDED),
        ("R1", "I replaced the status 400 that rejected larger uploads, now `MAX` decides.", UNDECIDED),
        # A denial is lost only if the piece grants what it forbade, and refuses nothing.
        ("R2", "Deleted users can log in.", L.MISINTERPRETATION),
        ("R2", "Deleted users may still log in.", L.MISINTERPRETATION),
        ("R2", "Logging in as a deleted user now raises AccountDeleted.", UNDECIDED),
        ("R2", "Users who log in after being deleted get a 403.", UNDECIDED),
        ("R2", "Added a test that a deleted user trying to log in gets 401.", UNDECIDED),
        ("R2", "Deleted users log in with an error now: LoginRefused.", UNDECIDED),
        # A denial of a part is none of the whole.
        ("R4", "`export_csv` never writes the header line.", L.MISINTERPRETATION),
        ("R4", "`export_csv` does not write the header line when it appends to a file that has one.", UNDECIDED),
        ("R4", "`export_csv` never writes the header line a second time when it appends to a file.", UNDECIDED),
        ("R5", "A download that fails is not tried again after MAX_TRIES.", UNDECIDED),
        # What is turned round twice is the same again.
        ("R3", "List invoices by date: the oldest go last.", UNDECIDED),
        # The last words count.
        ("R3", "Invoices by date, oldest first.\n\nNo: list the invoices by date, newest first.", L.TECHNICAL),
    ],
)  # fmt: skip
def test_what_the_agent_says_of_a_requirement_tells_why_it_was_never_met(
    requirement: str, words: str, label: L | None
) -> None:
    assert _label(_said(requirement, words), requirement) is label


def test_the_words_that_show_it_are_named_with_where_it_was_told_and_the_final_state() -> None:
    talk = _said("R3", "I list the invoices by date, the oldest first.")
    found = failure_labels(talk.events, talk.read)
    assert found
    (label,) = found.found
    assert label.by is FoundBy.EVENTS
    assert "oldest first" in label.why
    kinds = [talk.events[seq].kind for seq in label.events]
    assert kinds == [EventKind.REQUIREMENT_MOVED, EventKind.MODEL_CALLED, EventKind.CHECKPOINT]


def test_what_was_said_before_the_user_told_it_takes_nothing_up() -> None:
    talk = LedgerTalk()
    talk.tell("R3")
    talk.reply("I'll reject every upload that is larger than 25 MB and answer with status 413.")
    talk.tell("R1")
    talk.ask(OTHERS_SAID)
    talk.reply("Done.")
    talk.close("R1")
    found = failure_labels(talk.events, talk.read)
    assert found
    assert (L.FORGOTTEN, "R1") in [(each.label, each.requirement) for each in found.found]


def test_a_plan_and_the_subject_of_a_commit_are_words_of_the_agents_too() -> None:
    words = "List the invoices by date, newest first"
    for of in ("plan", "commit"):
        talk = LedgerTalk()
        talk.tell(*ALL)
        talk.state(of, "R3", **({"subject": words} if of == "commit" else {"text": talk.put(words.encode())}))
        talk.reply("Done.")
        talk.close("R3")
        assert _label(talk, "R3") is L.TECHNICAL


def test_of_an_agent_without_a_word_silence_says_nothing_unless_it_did_nothing_either() -> None:
    for changes, label in ((True, UNDECIDED), (False, L.FORGOTTEN)):
        talk = LedgerTalk()
        talk.tell("R2", "R6")
        talk.reply("")
        if changes:
            talk.change("pass")
        talk.reply("ok")
        talk.close("R6")
        assert _label(talk, "R6") is label


def test_an_agent_without_a_word_whose_lines_have_the_very_names_tried_it() -> None:
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.reply("")
    talk.change("for _ in range(MAX_TRIES):\n    download()")
    talk.state("commit", "R5", lines=2)
    talk.close("R5")
    assert _label(talk, "R5") is L.TECHNICAL


def test_names_in_lines_of_the_users_own_edit_are_not_the_agents() -> None:
    talk = LedgerTalk(condition="four-hands")
    talk.tell(*ALL)
    patch = talk.put(b"+for _ in range(MAX_TRIES):\n")
    talk.log(Actor.USER, EventKind.EDIT_INTENDED, {"intervention": "i1", "patch": patch})
    talk.change("for _ in range(MAX_TRIES):", actor=Actor.USER)
    talk.ask(OTHERS_SAID)
    talk.state("commit", "R5", lines=1)
    talk.reply("Done.")
    talk.close("R5")
    assert _label(talk, "R5") is L.FORGOTTEN


def test_a_check_that_came_to_pass_shows_an_attempt_where_the_agent_says_nothing() -> None:
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.reply("")
    talk.change("pass")
    talk.state("commit", "R1", checks={"c1a": False, "c1b": False}, lines=1)
    talk.change("pass # again")
    talk.close("R1", checks={"c1a": True, "c1b": False})
    assert _label(talk, "R1") is L.TECHNICAL


def test_code_that_changed_when_it_was_told_once_more_is_not_called_forgotten() -> None:
    """Not even of what names nothing: there the silence of one that was told again, and went on, shows it."""
    for name in ("R5", "R6"):
        for changes, label in ((True, UNDECIDED), (False, L.FORGOTTEN)):
            assert _label(_told_again(name, changes=changes), name) is label


def _told_again(name: str, *, changes: bool) -> LedgerTalk:
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.ask(OTHERS_SAID)
    talk.change("pass")
    talk.state("commit", name, lines=1)
    talk.correct(name)
    talk.reply("I see to that.")
    if changes:
        talk.change("pass # better")
    talk.ask("Again, please.")
    talk.close(name)
    return talk


def test_what_came_too_late_or_cannot_be_read_is_not_called_forgotten() -> None:
    talk = LedgerTalk()
    talk.ask(OTHERS_SAID)
    talk.tell(*ALL)
    talk.close("R6")
    assert _label(talk, "R6") is UNDECIDED
    talk = _said("R6", "Everything is committed, the tests pass.")
    lost = next(event.body["text"] for event in talk.events if event.kind is EventKind.MODEL_CALLED)
    del talk.blobs[lost]
    assert _label(talk, "R6") is UNDECIDED


def test_a_record_without_a_ledger_tells_regressions_and_what_was_never_told_and_leaves_the_rest() -> None:
    talk = LedgerTalk(ledger=None, condition="interactive[coverage=at-will]")
    talk.tell("R1", "R2")
    talk.reply("I list the invoices by date, the oldest first.")
    talk.change("pass")
    talk.state("commit", "R2", "R3")
    talk.change("pass # again")
    talk.close("R1", "R2", "R3")
    found = failure_labels(talk.events, talk.read)
    assert found
    assert [(each.requirement, each.label) for each in found.found] == [
        ("R1", L.REGRESSION),
        ("R3", L.MISSING),
    ]
    assert [each.requirement for each in found.undecided] == ["R2"]


def test_what_a_state_had_and_the_end_has_not_is_a_regression_whatever_was_said() -> None:
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.reply("")
    talk.change("pass")
    talk.state("commit")
    talk.change("fail")
    talk.state("commit", "R2")
    talk.close("R2")
    (found,) = requirement_labels(talk.events, talk.read).found
    assert (found.label, found.by, found.requirement) == (L.REGRESSION, FoundBy.EXECUTION, "R2")
    held, lost = [e.seq for e in talk.events if e.kind is EventKind.CHECKPOINT][:2]
    assert {held, lost} < set(found.events)


def test_what_was_lost_and_is_said_otherwise_is_both() -> None:
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.change("pass")
    talk.state("commit")
    talk.reply("I list the invoices by date, the oldest first.")
    talk.change("fail")
    talk.close("R3")
    found = failure_labels(talk.events, talk.read)
    assert found
    assert found.labels == (L.REGRESSION, L.MISINTERPRETATION)


def test_a_hidden_test_that_fails_is_of_its_requirement_where_no_check_shows_another_lack() -> None:
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.reply("")
    talk.close(failing=("t1",))
    (found,) = requirement_labels(talk.events, talk.read).found
    assert (found.label, found.by, found.requirement) == (L.TECHNICAL, FoundBy.EXECUTION, "R1")
    assert talk.events[found.events[-1]].kind is EventKind.VERIFIED
    talk = _said("R5", "Everything is committed.")
    talk.events[-2].body["fail_to_pass"]["t1"] = "failed"
    assert _label(talk, "R5") is L.FORGOTTEN  # and nothing of R1: it may fail for R5


def _whole(talk: LedgerTalk) -> LabelledFailure:
    found = failure_labels(talk.events, talk.read)
    assert found
    return found


def test_what_no_requirement_explains_is_of_the_trial_as_a_whole() -> None:
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.close(broken=("old",))
    (found,) = _whole(talk).found
    assert (found.label, found.by, found.requirement) == (L.TECHNICAL, FoundBy.EXECUTION, None)
    for failing, broken in ((("t23",), ()), ((), ())):
        talk = LedgerTalk()
        talk.tell(*ALL)
        talk.close(failing=failing, broken=broken)
        whole = _whole(talk)
        assert whole.found == ()
        assert [each.requirement for each in whole.undecided] == [None]


@pytest.mark.parametrize(
    ("verdict", "more", "condition"),
    [
        ("resolved", {}, "interactive[coverage=at-will]"),
        ("none", {}, "interactive[coverage=at-will]"),
        ("unresolved", {"termination": "protocol_failure"}, "interactive[coverage=at-will]"),
        ("unresolved", {"termination": "infrastructure_error"}, "interactive[coverage=at-will]"),
        ("unresolved", {}, "single-turn"),
    ],
)
def test_only_failed_conversations_that_kept_the_agreement_are_labelled(
    verdict: str, more: dict[str, str], condition: str
) -> None:
    talk = LedgerTalk(condition=condition)
    talk.tell("R1")
    talk.state("stop", "R1", "R2")
    talk.state("end", "R1", "R2")
    talk.end(verdict, **more)
    assert failure_labels(talk.events, talk.read) is None
    assert failure_labels(talk.events[:-1], talk.read) is None
    found = requirement_labels(talk.events, talk.read)
    assert [(each.requirement, each.label) for each in found.found] == [("R2", L.MISSING)]


@pytest.mark.parametrize(
    ("condition", "stops", "termination", "is_missing"),
    [
        ("interactive", False, "step_limit", False),
        ("interactive", True, "agent_timeout", False),
        ("interactive", True, "finished", False),
        ("interactive[coverage=at-will]", False, "budget", False),
        ("interactive[coverage=at-will]", True, "agent_timeout", True),
        ("interactive[coverage=at-will]", False, "finished", True),
    ],
)
def test_what_was_never_said_is_missing_only_if_the_user_could_have_said_it_and_would_not(
    condition: str, stops: bool, termination: str, is_missing: bool
) -> None:
    talk = LedgerTalk(condition=condition)
    talk.tell("R1")
    talk.reply("ok")
    if stops:
        talk.state("stop", "R2")
    talk.state("end", "R2")
    talk.end("unresolved", termination=termination)
    assert _label(talk, "R2") is (L.MISSING if is_missing else UNDECIDED)


def _four_hands(*, agent_after: str | None = None, removes: bool = False) -> LedgerTalk:
    """The agent had R2; the user made an edit; only then the agent's commit is looked at, as in real records.

    Afterwards the agent changes something, if anything, and may take the user's line out.
    """
    talk = LedgerTalk(condition="four-hands")
    talk.tell(*ALL)
    talk.change("pass")
    of_agent = talk.tree
    line = _user_edit(talk, "x = 1")
    talk.state("commit", tree=of_agent)
    if agent_after is not None:
        talk.change(agent_after)
    if removes:
        talk.events[-1].body["user_lines"].append({**line, "fate": "removed", "number": None})
    talk.state("commit", "R2")
    talk.close("R2")
    return talk


def _user_edit(talk: LedgerTalk, text: str) -> dict[str, Any]:
    """An edit of one line; what a record tells of the line."""
    patch = talk.put(f"+{text}\n".encode())
    talk.log(Actor.USER, EventKind.EDIT_INTENDED, {"intervention": "i1", "patch": patch})
    talk.change(text, actor=Actor.USER)
    line = {"intervention": "i1", "line": 1, "fate": "written", "path": "a", "number": 1, "whitespace": False}
    talk.events[-1].body["user_lines"].append(line)
    talk.log(
        Actor.USER,
        EventKind.EDIT_APPLIED,
        {"intervention": "i1", "outcome": "applied", "detail": "", "files": []},
    )
    return line


def _ablated(
    talk: LedgerTalk,
    conclusion: Conclusion,
    by: Cause | None = None,
    *,
    without: str | None = None,
    tree: str | None = None,
) -> Ablation:
    probes = [Probe(ProbeName.WITHOUT_EDIT, Verdict.UNRESOLVED, tree=without)] if without else []
    state = tree or talk.tree
    return Ablation(conclusion, by, "", stood=True, user_lines={}, tree=state, key="k", probes=tuple(probes))


def _labels_of(talk: LedgerTalk, ablation: Ablation | None = None) -> dict[str | None, L | None]:
    found = failure_labels(talk.events, talk.read, ablation=ablation)
    assert found
    every: dict[str | None, L | None] = {each.requirement: each.label for each in found.found}
    return every | dict.fromkeys(each.requirement for each in found.undecided)


def test_what_only_the_user_changed_since_a_state_had_it_is_no_regression_of_the_agents() -> None:
    """The order of a real record: the commit's checkpoint comes behind the edit, its tree is from before."""
    assert _labels_of(_four_hands()) == {"R2": UNDECIDED}
    also = _four_hands()
    assert _labels_of(also, _ablated(also, Conclusion.ALSO_BROKEN_WITHOUT)) == {"R2": UNDECIDED}


def test_what_was_lost_while_an_edit_of_the_users_stands_is_open_until_it_is_cleared() -> None:
    assert _labels_of(_four_hands(agent_after="y = 1")) == {"R2": UNDECIDED}
    assert _labels_of(_four_hands(agent_after="y = 1", removes=True)) == {"R2": L.REGRESSION}


@pytest.mark.parametrize(
    ("lacking", "without", "label"),
    [
        ("R2", "part", L.REGRESSION),
        ("R2", "other", UNDECIDED),
        ("R2", None, UNDECIDED),
        ("R6", "part", UNDECIDED),
    ],
)
def test_an_ablation_of_the_trial_clears_only_what_lacks_in_the_checked_state_without_the_edit(
    lacking: str, without: str | None, label: L | None
) -> None:
    """That the trial fails without the edit, too, may be for any other requirement."""
    talk = LedgerTalk(condition="four-hands")
    talk.tell(*ALL)
    talk.change("pass")
    talk.state("commit")
    _user_edit(talk, "x = 1")
    talk.change("y = 1")
    talk.state("commit", lacking, tree="part")  # without the user's lines
    talk.close("R2")
    assert _labels_of(talk, _ablated(talk, Conclusion.ALSO_BROKEN_WITHOUT, without=without)) == {"R2": label}


def test_only_a_solved_state_without_the_edit_shows_that_it_caused_all_of_the_failure() -> None:
    for by, r6 in ((Cause.REMOVAL, UNDECIDED), (Cause.REPLACEMENT, L.FORGOTTEN)):
        talk = LedgerTalk(condition="four-hands")
        talk.tell(*ALL)
        line = _user_edit(talk, "x = 1")
        talk.log(
            Actor.AGENT, EventKind.WORKSPACE_CHANGED, _plan(talk, {**line, "fate": "removed", "number": None})
        )
        talk.reply(OTHERS_SAID)
        talk.close("R6")
        assert _labels_of(talk, _ablated(talk, Conclusion.EDIT_CAUSED, by)) == {"R6": r6}


def _plan(talk: LedgerTalk, line: dict[str, Any]) -> dict[str, Any]:
    """A change of the plan alone, that tells that a line of the user's is gone."""
    file: dict[str, Any] = {"path": "PLAN.md", "old": None, "new": None, "binary": False, "hunks": []}
    return {
        "by": "agent",
        "intervention": None,
        "tree": talk.tree,
        "files": [file],
        "lines": {},
        "user_lines": [line],
    }


def test_an_ablation_of_another_state_than_the_final_one_counts_for_nothing() -> None:
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.change("pass")
    talk.state("commit")
    talk.change("fail")
    talk.close("R2")
    for tree, label in ((talk.tree, UNDECIDED), ("other", L.REGRESSION)):
        ablation = _ablated(talk, Conclusion.EDIT_CAUSED, Cause.REMOVAL, tree=tree)
        assert _labels_of(talk, ablation) == {"R2": label}
        key = TrialKey("a", AgentSpec("thin", "m"), Condition.parse("interactive"), 1)
        row = digest(Subject("r", key), 1, talk.events, talk.read, ablation=ablation).trial
        assert row.get("ablation") == (None if tree == "other" else "edit_caused")


def test_what_held_by_chance_and_was_lost_before_it_was_said_is_no_regression() -> None:
    for told_first, label in ((False, UNDECIDED), (True, L.REGRESSION)):
        talk = LedgerTalk()
        talk.tell(*(name for name in ALL if told_first or name != "R6"))
        talk.state("commit")
        talk.change("pass")
        talk.state("commit", "R6")
        if not told_first:
            talk.tell("R6")
        talk.ask(OTHERS_SAID)
        talk.close("R6")
        assert _labels_of(talk) == {"R6": label}


def test_what_the_agent_itself_brought_about_and_lost_is_a_regression_though_it_was_said_later() -> None:
    talk = LedgerTalk()
    talk.tell(*(name for name in ALL if name != "R6"))
    talk.state("commit", "R6")
    talk.change("pass")
    talk.state("commit")
    talk.change("fail")
    talk.state("commit", "R6")
    talk.tell("R6")
    talk.ask(OTHERS_SAID)
    talk.close("R6")
    assert _labels_of(talk) == {"R6": L.REGRESSION}


def test_an_attempt_in_lines_that_use_its_words_or_numbers_is_not_called_forgotten() -> None:
    for requirement, added, label in (
        ("R2", "if user.deleted_at:\n    raise LoginRefused('deleted')", UNDECIDED),
        ("R7", "RETENTION = timedelta(days=90)", UNDECIDED),
        ("R1", "limit = 25 * 1024 * 1024", UNDECIDED),
        ("R1", "limit = None", L.FORGOTTEN),
    ):
        talk = LedgerTalk()
        talk.tell(*ALL)
        talk.change(added)
        talk.state("commit", requirement, lines=1)
        talk.ask(OTHERS_SAID)
        talk.close(requirement)
        assert _labels_of(talk) == {requirement: label}


_CHECKED: Final = {name: name != "R7" for name in ALL}
_OF_R7: Final = replace(
    LEDGER,
    requirements=tuple(
        replace(each, tests=("t7",)) if each.id == "R7" else each for each in LEDGER.requirements
    ),
)


def _judged(
    *moves: str, ledger: Ledger = LEDGER, failing: tuple[str, ...] = (), broken: tuple[str, ...] = ()
) -> LedgerTalk:
    """Of R7 no check can tell: the user's own model says, after each other, ``moves``."""
    talk = LedgerTalk(ledger=ledger)
    talk.tell(*ALL)
    talk.reply(OTHERS_SAID)
    talk.change("pass")
    met = {name: has_checks or None for name, has_checks in _CHECKED.items()}
    talk.checkpoint("commit", met, tree=talk.tree)
    for each in moves:
        talk.move("R7", each)
    talk.checkpoint("end", met, tree=talk.tree)
    tests = {test: "failed" if test in failing else "passed" for test in ("t1", "t2", "t23", "t7")}
    failed = dict.fromkeys(broken, "failed")
    talk.verify("unresolved", fail_to_pass=tests, pass_to_pass_failed=failed, tree=talk.tree)
    talk.end("unresolved")
    return talk


def test_a_label_that_rests_on_the_word_of_the_users_model_is_found_by_a_judge_and_says_so() -> None:
    (found,) = _whole(_judged("satisfied", "violated")).found
    assert (found.requirement, found.label, found.by) == ("R7", L.REGRESSION, FoundBy.JUDGE)
    assert "the user's own model" in found.why


def test_a_failing_test_shows_that_the_model_erred_that_found_it_in_the_code() -> None:
    whole = _whole(_judged("satisfied", ledger=_OF_R7, failing=("t7",)))
    assert whole.found == ()
    assert [each.requirement for each in whole.undecided] == ["R7"]


def test_what_a_model_calls_lacking_explains_no_test_of_another_requirement() -> None:
    whole = _whole(_judged("violated", failing=("t1",)))
    found = {each.requirement: (each.label, each.by) for each in whole.found}
    assert found["R1"] == (L.TECHNICAL, FoundBy.EXECUTION)
    assert all(by is FoundBy.JUDGE for name, (_, by) in found.items() if name == "R7")


def test_that_all_is_met_is_no_better_known_than_the_least_of_it() -> None:
    (found,) = _whole(_judged("satisfied", broken=("old",))).found
    assert (found.requirement, found.label, found.by) == (None, L.TECHNICAL, FoundBy.JUDGE)


def test_tests_go_before_words() -> None:
    talk = _said("R2", "Deleted users can log in.")
    talk.events[-3].body["requirements"]["R2"] = True
    talk.events[-2].body["fail_to_pass"]["t2"] = "failed"
    (found,) = _whole(talk).found
    assert (found.requirement, found.label, found.by) == ("R2", L.TECHNICAL, FoundBy.EXECUTION)


@pytest.mark.parametrize(
    "words", ["```a\n" * 4000, "deleted users log in " + "?" * 16_000 + "a", "~~~\n" * 5000]
)
def test_long_words_are_read_in_a_moment(words: str) -> None:
    talk = _said("R2", words)
    began = process_time()
    failure_labels(talk.events, talk.read)
    assert process_time() - began < 1.0  # it took seconds, and twice as long four times that


def test_fenced_lines_are_no_words_and_a_fence_that_nothing_closes_fences_nothing() -> None:
    said = "I list the invoices by date, the oldest first."
    for words, label in (
        (f"```\n{said}\n```", UNDECIDED),
        (f"~~~ text\n{said}\n~~~", UNDECIDED),
        (f"```\n{said}", L.MISINTERPRETATION),
        (f"```\nx\n```\n{said}", L.MISINTERPRETATION),
    ):
        assert _label(_said("R3", words), "R3") is label


def test_no_blob_is_read_twice_and_none_where_execution_decides() -> None:
    talk = _said("R1", "Rejected now, with a status of its own.")
    lost = LedgerTalk()
    lost.tell("R1")
    lost.reply("Words.")
    lost.close("R2")
    talk.blobs |= lost.blobs
    read: list[str] = []

    def noted(digest: str) -> bytes:
        read.append(digest)
        return talk.blobs[digest]

    ledger = talk.events[0].body["ledger"]
    assert failure_labels(talk.events, noted)
    assert len(read) > 1
    assert len(read) == len(set(read))
    read.clear()
    assert failure_labels(lost.events, noted)
    assert read == [ledger]


def test_labels_go_into_a_table_and_come_back() -> None:
    found = _whole(_said("R1", "Rejected now, with a status of its own."))
    assert failure_from_json(failure_json(found)) == found


def test_a_row_has_the_requirements_of_each_label_and_their_fates_with_it() -> None:
    talk = LedgerTalk()
    talk.tell(*ALL)
    talk.state("commit", "R2", "R3", "R4", "R6")
    talk.reply(
        "Deleted users must be able to log in. `export_csv` writes the header line once when it appends to a file."
    )
    talk.reply("There is a list of invoices.")
    talk.close("R2", "R3", "R4", "R5", "R6")
    key = TrialKey("a", AgentSpec("thin", "m"), Condition.parse("interactive"), 1)
    row = digest(Subject("r", key), 1, talk.events, talk.read).trial
    assert {
        name: row[name] for name in ("missing", "forgotten", "regressed", "misread", "buggy", "undecided")
    } == {
        "missing": [],
        "forgotten": ["R6"],
        "regressed": ["R5"],
        "misread": ["R2"],
        "buggy": ["R4"],
        "undecided": ["R3"],
    }
    assert failure_from_json(row["failure_labels"]) == _whole(talk)
    labels = {fate["requirement"]: fate["label"] for fate in json.loads(row["fates"])}
    assert labels == {
        **dict.fromkeys(ALL),
        "R2": L.MISINTERPRETATION,
        "R4": L.TECHNICAL,
        "R5": L.REGRESSION,
        "R6": L.FORGOTTEN,
    }


def test_a_record_that_was_cut_anywhere_is_read_as_far_as_it_goes() -> None:
    events = _four_hands(agent_after="y = 1").events
    for length in range(1, len(events)):
        assert failure_labels(events[:length], lambda _: b"") is None
        assert len(requirement_labels(events[:length], lambda _: b"").undecided) <= 1
