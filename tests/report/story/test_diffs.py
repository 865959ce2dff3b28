"""A recorded change as a diff: exact, with its context, and every line with the hand that wrote it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourhands.report.story.model import DiffLine, FileDiff
from fourhands.workspace.lines import diff_contents
from fourhands.workspace.store import ObjectStore

from .scene import Log

BASE = b"".join(b"line %d\n" % number for number in range(1, 21))


def lines(diff: FileDiff) -> list[tuple[str, str, str]]:
    return [(line.sign, line.author, line.text) for hunk in diff.hunks for line in hunk.lines]


def diffs(log: Log, **limits: int) -> list[FileDiff]:
    return [diff for entry in log.story(**limits).entries for diff in entry.diffs]


def put(text: bytes, at: int, *new: bytes, out: int = 0) -> bytes:
    whole = text.split(b"\n")
    return b"\n".join([*whole[: at - 1], *new, *whole[at - 1 + out :]])


def test_each_line_has_its_author_be_it_added_removed_or_around() -> None:
    log = Log()
    edited = put(BASE, 5, b"the user's one", b"the user's two")
    log.change("user", BASE, edited, [[5, 4, 5, 6]], intervention="i1")
    worked = put(edited, 6, b"the agent's", out=1)
    log.change("agent", edited, worked, [[6, 6, 6, 6]])
    user, agent = diffs(log)
    assert lines(user) == [
        *[(" ", "base", f"line {number}") for number in (2, 3, 4)],
        ("+", "user", "the user's one"),
        ("+", "user", "the user's two"),
        *[(" ", "base", f"line {number}") for number in (5, 6, 7)],
    ]
    assert lines(agent) == [
        (" ", "base", "line 3"),
        (" ", "base", "line 4"),
        (" ", "user", "the user's one"),
        ("-", "user", "the user's two"),
        ("+", "agent", "the agent's"),
        *[(" ", "base", f"line {number}") for number in (5, 6, 7)],
    ]
    assert (agent.added, agent.removed) == (1, 1)
    assert log.story().authors == {"user": 1, "agent": 1}


def test_a_line_that_the_agent_moves_stays_whose_it_was() -> None:
    log = Log()
    edited = put(BASE, 5, b"the user's telling line")
    log.change("user", BASE, edited, [[5, 4, 5, 5]], intervention="i1")
    moved = put(put(edited, 5, out=1), 15, b"the user's telling line")
    log.change("agent", edited, moved, [[5, 5, 5, 4], [16, 15, 15, 15]])
    assert ("+", "user", "the user's telling line") in lines(diffs(log)[1])
    assert log.story().authors == {"user": 1}


def test_numbers_are_those_of_a_unified_diff() -> None:
    log = Log()
    log.change("agent", BASE, put(BASE, 10, b"new", out=2), [[10, 11, 10, 10]])
    (diff,) = diffs(log)
    (hunk,) = diff.hunks
    assert (hunk.old_start, hunk.new_start) == (7, 7)
    numbered = [(line.old, line.new) for line in hunk.lines]
    assert numbered == [
        (7, 7),
        (8, 8),
        (9, 9),
        (10, None),
        (11, None),
        (None, 10),
        (12, 11),
        (13, 12),
        (14, 13),
    ]


def test_changes_close_to_each_other_share_a_hunk_and_others_do_not() -> None:
    close, far = (put(put(BASE, second, b"y", out=1), 2, b"x", out=1) for second in (9, 10))
    log = Log()
    log.change("agent", BASE, close, [[2, 2, 2, 2], [9, 9, 9, 9]])
    other = Log()
    other.change("agent", BASE, far, [[2, 2, 2, 2], [10, 10, 10, 10]])
    assert [len(diffs(each)[0].hunks) for each in (log, other)] == [1, 2]


def test_new_deleted_and_unterminated_files() -> None:
    log = Log()
    log.change("agent", None, b"a\nb", [[1, 0, 1, 2]])
    log.change("agent", b"a\nb", None, [[1, 2, 1, 0]])
    log.change("agent", None, b"", [])
    added, deleted, empty = diffs(log)
    assert (added.status, deleted.status) == ("added", "deleted")
    assert added.hunks[0].lines[-1] == DiffLine("+", "b", "agent", None, 2, is_unterminated=True)
    assert lines(deleted) == [("-", "agent", "a"), ("-", "agent", "b")]
    assert (empty.note, empty.hunks) == ("empty", ())


def test_what_no_line_tells_is_told_in_words() -> None:
    log = Log()
    log.change("agent", BASE, BASE, [], modes=[0o100644, 0o100755])
    log.change("agent", b"\0", b"\0\1", [], binary=True)
    log.change("agent", None, b"target", [[1, 0, 1, 1]], modes=[None, 0o120000])
    assert [diff.note for diff in diffs(log)] == ["mode 100644 → 100755", "binary", "symbolic link"]
    assert [diff.binary for diff in diffs(log)] == [False, True, False]


def test_contents_that_are_gone_are_said_to_be_and_the_rest_is_told() -> None:
    log = Log()
    edited = put(BASE, 5, b"the user's")
    log.change("user", BASE, edited, [[5, 4, 5, 5]], intervention="i1")
    log.change("agent", edited, put(edited, 1, b"new"), [[1, 0, 1, 1]])
    gone = log.events[0].body["files"][0]["old"]
    log._contents.pop(gone)
    user, agent = diffs(log)
    assert user.missing
    assert user.note == "its contents are not there any more"
    assert (user.added, user.removed, user.hunks) == (1, 0, ())
    assert ("+", "agent", "new") in lines(agent)
    assert log.story().authors == {"user": 1, "agent": 1}


def test_hunks_that_do_not_fit_the_contents_are_not_made_up() -> None:
    for hunks in ([[90, 90, 90, 90]], [[5, 5, 5, 6]], [[5, 5, 6, 6]], [[8, 8, 8, 8], [5, 5, 5, 5]]):
        log = Log()
        log.change("agent", BASE, put(BASE, 5, b"x", out=1), hunks)
        (diff,) = diffs(log)
        assert diff.missing, hunks


def test_a_long_diff_and_a_long_line_are_cut_and_said_to_be() -> None:
    log = Log()
    log.change("agent", None, b"x" * 5000 + b"\n" + b"y\n" * 999, [[1, 0, 1, 1000]])
    (diff,) = diffs(log, diff=10, line=100)
    assert sum(len(hunk.lines) for hunk in diff.hunks) == 10
    assert (diff.added, diff.lines_left_out) == (1000, 990)
    assert lines(diff)[0] == ("+", "agent", "x" * 100 + " … 4,900 characters more")


def test_a_change_of_many_files_shows_the_first_and_counts_the_rest() -> None:
    log = Log()
    log.change("agent", None, b"x\n", [[1, 0, 1, 1]])
    files = [{**log.events[0].body["files"][0], "path": f"{number}.py"} for number in range(600)]
    log.events[0].body["files"] = files
    (entry,) = log.story(files=3).entries
    assert ([diff.path for diff in entry.diffs], entry.more_files) == (["0.py", "1.py", "2.py"], 597)
    assert log.story().authors == {"agent": 600}


def _applied(old: bytes, diff: FileDiff) -> Iterator[bytes]:
    """``old`` with the diff applied, line by line; what it removes and shows must be what is there."""
    whole = old.split(b"\n") if not old.endswith(b"\n") or not old else old[:-1].split(b"\n")
    whole = [] if not old else whole
    at = 0
    for hunk in diff.hunks:
        yield from whole[at : hunk.old_start - 1]
        at = hunk.old_start - 1
        for line in hunk.lines:
            text = line.text.encode()
            if line.sign != "+":
                assert whole[at] == text
                assert line.old == at + 1
                at += 1
            if line.sign != "-":
                yield text
    yield from whole[at:]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> ObjectStore:
    return ObjectStore(tmp_path_factory.mktemp("store") / "objects.git")


_TEXTS = st.lists(st.sampled_from(["a", "b", "", "  c", "long telling line"]), max_size=30).map("\n".join)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_TEXTS, _TEXTS)
def test_the_diff_of_any_change_makes_the_new_file_of_the_old_one(
    store: ObjectStore, old: str, new: str
) -> None:
    before, after = old.encode(), new.encode()
    hunks = diff_contents(store, before, after)
    log = Log()
    log.change("agent", before, after, [[h.old.start, h.old.end, h.new.start, h.new.end] for h in hunks])
    (diff,) = diffs(log)
    assert not diff.missing
    if hunks:
        assert b"\n".join(_applied(before, diff)) == after.removesuffix(b"\n")
        signs = [line.sign for hunk in diff.hunks for line in hunk.lines]
        assert (signs.count("+"), signs.count("-")) == (diff.added, diff.removed)
    else:
        assert before == after
