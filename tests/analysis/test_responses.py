from __future__ import annotations

from typing import Any

import orjson
import pytest

from fourhands.analysis.responses import (
    Activity,
    Response,
    ResponseMode,
    asks_the_user,
    mentions_the_user,
    responses,
)
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind

Hunk = tuple[int, int, int, int]


class Trial:
    """A trial, told act by act. The user's edit ``i1`` writes lines 10-12 of ``f`` in place of line 10."""

    def __init__(self, *, words: bool = True, followed: bool = True) -> None:
        self.events: list[Event] = []
        self.blobs: dict[str, bytes] = {}
        self.words, self.followed = words, followed
        self.step = 0
        self.calls = 0

    def add(self, actor: Actor, kind: EventKind, body: dict[str, Any]) -> None:
        self.events.append(Event(len(self.events), "", MAIN_THREAD, actor, kind, body))

    def blob(self, data: bytes) -> str:
        name = f"blob {len(self.blobs)}"
        self.blobs[name] = data
        return name

    def says(self, text: str | None = "", command: str | None = None) -> None:
        """One step of the agent: words, and a call that has not run yet."""
        self.step += 1
        body: dict[str, Any] = {"step": self.step}
        if self.words:
            body["text"] = None if text is None else self.blob(text.encode())
        self.add(Actor.AGENT, EventKind.MODEL_CALLED, body)
        if command is not None:
            self.calls += 1
            arguments = self.blob(orjson.dumps({"command": command}))
            seen = {"call": f"c{self.calls}", "step": self.step, "tool": "bash", "arguments": arguments}
            self.add(Actor.AGENT, EventKind.ACTION_SEEN, seen)

    def ran(self, *touches: tuple[str, list[list[int]] | None]) -> None:
        reads = [{"path": path, "kind": "read", "lines": lines} for path, lines in touches]
        self.add(Actor.AGENT, EventKind.ACTION_RESULT, {"call": f"c{self.calls}", "touches": reads})

    def does(self, command: str, *touches: tuple[str, list[list[int]] | None], text: str = "") -> None:
        self.says(text, command)
        self.ran(*touches)

    def changed(self, *hunks: Hunk, path: str = "f", fates: str = "", actor: Actor = Actor.AGENT) -> None:
        entries = [
            {"intervention": "i1", "line": n, "fate": fate, "path": path, "number": n, "whitespace": False}
            for n, fate in enumerate(fates.split(), 1)
        ]
        body: dict[str, Any] = {
            "intervention": "i1" if actor is Actor.USER else None,
            "files": [{"path": path, "old": "a", "new": "b", "hunks": [list(hunk) for hunk in hunks]}],
        }
        if self.followed:
            body["user_lines"] = entries
        self.add(actor, EventKind.WORKSPACE_CHANGED, body)

    def edited(self) -> None:
        self.changed((10, 10, 10, 12), fates="deleted written written written", actor=Actor.USER)
        self.add(Actor.USER, EventKind.EDIT_APPLIED, {"intervention": "i1"})
        self.add(Actor.USER, EventKind.MESSAGE_SENT, {"intervention": "i1"})

    def all_responses(self) -> tuple[Response, ...]:
        return responses(self.events, self.blobs.__getitem__)

    def response(self) -> Response:
        (one,) = self.all_responses()
        return one


@pytest.fixture
def trial() -> Trial:
    """The agent has read the file and the user has edited it."""
    started = Trial()
    started.does("cat f", ("f", None), text="Did you change this?")
    started.edited()
    return started


def test_what_came_before_the_edit_is_no_response(trial: Trial) -> None:
    trial.does("cat g", ("g", None))
    assert trial.response() == Response(
        intervention="i1",
        is_edit=True,
        seq=4,
        step=1,
        re_reads=0,
        first_re_read_step=None,
        changes=0,
        first_change_step=None,
        activity=Activity(reads=1, edits=0, tests=0),
        asked=False,
        mentioned=False,
        mode=ResponseMode.IGNORES,
    )


def test_reading_the_users_lines_again_is_counted_where_they_now_are(trial: Trial) -> None:
    trial.does("sed -n 10p f", ("f", [[1, 9], [13, 20]]))
    trial.does("ed")
    trial.changed((1, 0, 1, 5))
    trial.does("sed -n 15p f", ("f", [[15, 15]]))
    trial.does("cat f", ("f", None))
    trial.does("sed -n 10,12p f", ("f", [[10, 12]]))
    response = trial.response()
    assert (response.re_reads, response.first_re_read_step, response.changes) == (2, 4, 0)
    assert response.activity == Activity(reads=4, edits=1, tests=0)
    assert response.mode is ResponseMode.RE_READS


def test_tests_are_counted_after_an_edit(trial: Trial) -> None:
    trial.does("pytest -q")
    trial.changed((5, 5, 5, 5), path="g")
    trial.does("cat f && python -m pytest", ("f", None))
    assert trial.all_responses()[-1].activity == Activity(reads=1, edits=1, tests=2)


@pytest.mark.parametrize(
    ("hunk", "fates", "mode"),
    [
        ((10, 12, 10, 10), "removed removed removed put_back", ResponseMode.REVERTS),
        ((10, 12, 10, 9), "removed removed removed", ResponseMode.REVERTS),
        ((10, 12, 10, 12), "removed removed removed", ResponseMode.ADAPTS),
        ((11, 11, 11, 11), "changed", ResponseMode.ADAPTS),
        ((11, 10, 11, 14), "", ResponseMode.ADAPTS),
        ((10, 12, 10, 9), "moved moved moved", ResponseMode.ADAPTS),
        ((11, 10, 11, 12), "restored restored deleted", ResponseMode.IGNORES),
        ((20, 20, 20, 21), "", ResponseMode.IGNORES),
    ],
)
def test_a_change_of_the_users_lines_reverts_or_adapts(
    trial: Trial, hunk: Hunk, fates: str, mode: ResponseMode
) -> None:
    trial.does("ed f")
    trial.changed(hunk, fates=fates)
    response = trial.response()
    acted = mode is not ResponseMode.IGNORES
    assert (response.mode, response.changes) == (mode, int(acted))
    assert response.first_change_step == (2 if acted else None)


def test_the_first_response_is_the_mode_and_later_ones_are_counted(trial: Trial) -> None:
    trial.does("sed -n 11p f", ("f", [[11, 11]]), text="Your edit changed the default.")
    trial.does("ed f", text="Shall I keep it?")
    trial.changed((11, 11, 11, 11), fates="changed")
    response = trial.response()
    assert response.mode is ResponseMode.RE_READS
    assert (response.changes, response.asked, response.mentioned) == (1, True, True)


def test_words_alone_are_noticing_and_a_question_is_asking(trial: Trial) -> None:
    trial.does("cat g", text="I see that you changed the loop.")
    assert trial.response().mode is ResponseMode.NOTICES_ONLY
    trial.does("cat g", text="Should this stay as you wrote it in f.py?")
    assert trial.response().mode is ResponseMode.ASKS


def test_a_question_by_a_tool_is_asking(trial: Trial) -> None:
    trial.add(Actor.AGENT, EventKind.ASKED, {})
    response = trial.response()
    assert (response.asked, response.mode) == (True, ResponseMode.ASKS)


def test_what_the_model_had_already_asked_for_is_no_response() -> None:
    trial = Trial()
    trial.says("", "cat f && ed f && pytest")
    trial.edited()
    trial.ran(("f", None))
    trial.changed((11, 11, 11, 11), fates="changed")
    response = trial.response()
    assert (response.re_reads, response.changes, response.mode) == (0, 0, ResponseMode.IGNORES)
    assert response.activity == Activity(0, 0, 0)
    trial.does("ed f")
    trial.changed((11, 11, 11, 11), fates="changed")
    assert trial.response().mode is ResponseMode.ADAPTS


def test_what_an_action_without_a_result_had_done_is_no_response_either() -> None:
    trial = Trial()
    trial.says("", "ed f && submit")
    trial.edited()
    trial.changed((11, 11, 11, 11), fates="changed")
    response = trial.response()
    assert (response.changes, response.activity.edits) == (0, 0)


def test_the_words_of_a_side_call_are_not_the_agents(trial: Trial) -> None:
    text = trial.blob(b"Did you change this?")
    trial.add(Actor.AGENT, EventKind.MODEL_CALLED, {"step": None, "text": text})
    assert trial.response().asked is False


def test_lines_that_moved_are_followed_to_where_they_went(trial: Trial) -> None:
    trial.does("mv")
    trial.changed((1, 0, 1, 1), path="g", fates="moved")
    trial.does("head -1 g", ("g", [[1, 1]]))
    assert trial.response().re_reads == 1


def test_without_words_silence_is_unknown_and_not_a_lack() -> None:
    trial = Trial(words=False)
    trial.edited()
    trial.does("cat g")
    response = trial.response()
    assert (response.asked, response.mentioned, response.mode) == (None, None, None)
    trial.does("cat f", ("f", None))
    assert trial.response().mode is ResponseMode.RE_READS


def test_in_an_older_record_a_change_is_counted_but_not_named() -> None:
    trial = Trial(followed=False)
    trial.edited()
    trial.does("ed f")
    trial.changed((11, 11, 11, 11))
    trial.does("cat f", ("f", None))
    response = trial.response()
    assert (response.changes, response.re_reads, response.mode) == (1, 1, None)


def test_a_message_alone_has_no_lines_and_no_mode(trial: Trial) -> None:
    trial.add(Actor.USER, EventKind.MESSAGE_SENT, {"intervention": "m1"})
    trial.does("pytest", text="You asked for speed; do you mean the loop?")
    edit, message = trial.all_responses()
    assert (message.is_edit, message.asked, message.mode) == (False, True, None)
    assert message.activity == edit.activity == Activity(0, 0, 1)


def test_an_edit_that_was_not_delivered_has_no_response() -> None:
    trial = Trial()
    trial.add(Actor.USER, EventKind.EDIT_NOT_APPLIED, {"intervention": "i1"})
    trial.does("cat f", ("f", None))
    assert trial.all_responses() == ()


@pytest.mark.parametrize(
    "text",
    [
        "I notice you've changed the rounding.",
        "It looks like the user just edited `ledger.py`.",
        "The user's change conflicts with the issue.",
        "Your recent edit removes the guard.",
        "This line was added by the user.",
        "The file was modified externally since I read it.",
        "Someone else has already rewritten this function.",
    ],
)
def test_a_reference_to_the_users_change_is_a_mention(text: str) -> None:
    assert mentions_the_user(f"Let me look.\n{text}\nRunning tests.")


@pytest.mark.parametrize(
    "text",
    [
        "Now I will change the rounding, as the issue asks.",
        "The user model has a name.",
        "I changed the user lookup.",
        "All tests pass. Your issue is fixed.",
        "Users can edit their profile.",
        "",
    ],
)
def test_other_words_about_users_and_changes_are_none(text: str) -> None:
    assert not mentions_the_user(text)


def test_a_question_must_be_put_to_the_user() -> None:
    assert asks_the_user("I fixed it. Do you want me to keep the edit in ledger.py?")
    assert asks_the_user("Shall I revert it?\nThen I go on.")
    assert not asks_the_user("What does this function do? Let me look. You will see.")
    assert not asks_the_user("You can run it with `a ? b : c`.")
