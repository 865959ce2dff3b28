"""Edits that no longer stand where they were made, followed through a trial's changes and then undone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.model.text import LineRange
from fourhands.workspace.attribution import Author
from fourhands.workspace.compose import Conflict, MergedTree
from fourhands.workspace.counterfactual import counterfactuals
from fourhands.workspace.edit import regenerate
from fourhands.workspace.revert import Reverted, revert
from fourhands.workspace.standing import RecordedChange, user_edits
from fourhands.workspace.store import ObjectStore

TreeMaker = Callable[..., str]
Files = Mapping[str, bytes]

BASE = b"".join(b"def line_%d_of_the_module():\n    return %d\n" % (n, n) for n in range(1, 11))
FIVE = b"    return 5\n"
USER = b"    # what the user wants here\n    return the_users_own_five\n"


def swapped(content: bytes, *pairs: tuple[bytes, bytes]) -> bytes:
    for old, new in pairs:
        assert content.count(old) == 1
        content = content.replace(old, new)
    return content


REPLACED = swapped(BASE, (FIVE, USER))
ADDED = swapped(BASE, (FIVE, USER + FIVE))
SIX = b"def line_6_of_the_module():\n    return 6\n"


class Trial:
    """A base, and what agent and user made of it in turn."""

    def __init__(self, store: ObjectStore, tree_of: TreeMaker, base: Files) -> None:
        self.store, self.tree_of = store, tree_of
        self.base = self.tree = tree_of(store, base)
        self.changes: list[RecordedChange] = []

    def user(self, files: Files, edit: str = "i1") -> None:
        self._write(files, edit)

    def agent(self, files: Files) -> None:
        self._write(files, None)

    def _write(self, files: Files, edit: str | None) -> None:
        before, self.tree = self.tree, self.tree_of(self.store, files)
        author: Author = "user" if edit else "agent"
        self.changes.append(RecordedChange(author, edit, self.store.diff(before, self.tree)))

    def revert(self, *, force: bool = False) -> tuple[Files, Reverted]:
        found = revert(self.store, user_edits(self.store, self.changes), self.tree, force=force)
        return self.files(found.tree), found

    def files(self, tree: str) -> Files:
        found = self.store.read_tree(tree)
        entries = {path.decode(): found.get(path) for path in found}
        return {path: self.store.get_blob(entry.blob) for path, entry in entries.items() if entry}

    def stood(self) -> bool:
        reference = self.store.git(
            "diff-tree", "-p", "--full-index", self.base, self.tree_of(self.store, {"other": b"o\n"})
        ).stdout
        edits = user_edits(self.store, self.changes)
        compiled = regenerate(self.store, self.base, reference)
        return counterfactuals(self.store, self.tree, edits, compiled).stood


@pytest.fixture
def trial(store: ObjectStore, tree_of: TreeMaker) -> Trial:
    return Trial(store, tree_of, {"f": BASE})


@pytest.mark.parametrize("after", [REPLACED, ADDED], ids=["replaced", "added"])
@pytest.mark.parametrize(
    ("stub", "extra"),
    [
        pytest.param(None, b"", id="renamed"),
        pytest.param(b"from f2 import *\n", b"", id="moved, an import is left"),
        pytest.param(b"from f2 import *\n", b"# more of the agent's\n", id="moved and gone on with"),
    ],
)
def test_an_edit_in_a_file_that_was_moved_is_taken_out_where_it_is(
    trial: Trial, after: bytes, stub: bytes | None, extra: bytes
) -> None:
    left = {} if stub is None else {"f": stub}
    trial.user({"f": after})
    trial.agent({"f2": after + extra, **left})
    files, found = trial.revert()
    assert files == {"f2": BASE + extra, **left}
    assert found.contested == ()
    assert trial.stood()


def test_a_deletion_beside_other_lines_of_the_edit_follows_the_file(trial: Trial) -> None:
    after = swapped(REPLACED, (b"    return 9\n", b""))
    trial.user({"f": after})
    trial.agent({"f2": after})
    assert trial.revert()[0] == {"f2": BASE}


@pytest.mark.parametrize("after", [REPLACED, ADDED], ids=["replaced", "added"])
def test_a_block_that_was_moved_within_its_file_is_exchanged_where_it_is(trial: Trial, after: bytes) -> None:
    moved = swapped(after, (USER, b""), (SIX, SIX + b"\ndef elsewhere():\n    pass\n" + USER))
    trial.user({"f": after})
    trial.agent({"f": moved})
    files, found = trial.revert()
    back = FIVE if after == REPLACED else b""
    assert files == {"f": swapped(moved, (USER, back))}
    assert found.contested == ()
    assert trial.stood()


def test_lines_that_replaced_nothing_are_taken_out_one_by_one_wherever_they_went(trial: Trial) -> None:
    one, two = USER.splitlines(keepends=True)
    moved = swapped(
        BASE, (b"    return 1\n", one + b"    return 1\n"), (b"    return 9\n", b"    return 9\n" + two)
    )
    trial.user({"f": ADDED})
    trial.agent({"f": moved})
    files, found = trial.revert()
    assert (files, found.contested) == ({"f": BASE}, ())


@pytest.mark.parametrize(
    ("indent", "back"),
    [
        pytest.param(b"        ", b"        return 5\n", id="deeper"),
        pytest.param(b"  ", b"  return 5\n", id="less deep"),
        pytest.param(b"\t", None, id="in another way"),
    ],
)
def test_what_an_indented_line_had_replaced_comes_back_indented_alike(
    trial: Trial, indent: bytes, back: bytes | None
) -> None:
    after, now = (swapped(BASE, (FIVE, each + b"return the_users_own\n")) for each in (b"    ", indent))
    trial.user({"f": after})
    trial.agent({"f": now})
    files, found = trial.revert()
    if back is None:
        assert files == {"f": now}
        assert [part.hunk and part.hunk.new for part in found.contested] == [LineRange(10, 10)]
        assert trial.revert(force=True)[0] == {"f": BASE}
    else:
        assert files == {"f": swapped(BASE, (FIVE, back))}
        assert found.contested == ()
    assert trial.stood()


@pytest.mark.parametrize(
    ("around", "stuck"),
    [
        pytest.param((b"    if agent:\n", b""), True, id="all that is in it"),
        pytest.param((b"    if agent:\n        pass\n", b""), False, id="beside another line"),
        pytest.param((b"    if (agent) {\n", b"    }\n"), False, id="closed by a bracket"),
    ],
)
def test_lines_that_replaced_nothing_do_not_leave_an_empty_block(
    trial: Trial, around: tuple[bytes, bytes], *, stuck: bool
) -> None:
    line = b"the_users_own_call()\n"
    trial.user({"f": swapped(BASE, (FIVE, b"    " + line + FIVE))})
    now = swapped(BASE, (FIVE, around[0] + b"        " + line + around[1] + FIVE))
    trial.agent({"f": now})
    files, found = trial.revert()
    assert bool(found.contested) is stuck
    assert files == {"f": now if stuck else swapped(now, (b"        " + line, b""))}
    assert trial.revert(force=True)[1].stuck == ((b"f",) if stuck else ())


def test_white_space_within_a_line_hides_nothing(trial: Trial) -> None:
    trial.user({"f": swapped(BASE, (FIVE, b"    return  users( 1,2 )\n"))})
    trial.agent({"f": swapped(BASE, (FIVE, b"    return users(1, 2)\n"))})
    assert trial.revert()[0] == {"f": BASE}


def test_a_line_that_was_split_stands_and_is_contested(trial: Trial) -> None:
    now = swapped(BASE, (FIVE, b"    return users(\n        1, 2\n    )\n"))
    trial.user({"f": swapped(BASE, (FIVE, b"    return users(1, 2)\n"))})
    trial.agent({"f": now})
    files, found = trial.revert()
    assert (files, len(found.contested)) == ({"f": now}, 1)
    assert trial.stood()
    assert trial.revert(force=True)[0] == {"f": BASE}


def test_a_moved_block_into_which_the_agent_wrote_is_contested_and_forced_out_line_by_line(
    trial: Trial,
) -> None:
    one, two = USER.splitlines(keepends=True)
    stub = swapped(REPLACED, (USER, b""))
    trial.user({"f": REPLACED})
    trial.agent({"f": stub, "g": one + b"    agent = 1\n" + two})
    files, found = trial.revert()
    assert files == {"f": stub, "g": one + b"    agent = 1\n" + two}
    assert [part.edit.path for part in found.contested] == [b"f"]
    forced = trial.revert(force=True)[0]
    assert forced["f"] == stub
    assert forced["g"] == FIVE + b"    agent = 1\n"


def test_a_created_file_that_was_renamed_goes(trial: Trial) -> None:
    trial.user({"f": BASE, "new": USER})
    trial.agent({"f": BASE, "newer": USER})
    assert trial.revert()[0] == {"f": BASE}


def test_what_became_of_a_created_file_elsewhere_is_taken_out_there(trial: Trial) -> None:
    trial.user({"f": BASE, "new": USER})
    trial.agent({"f": BASE + USER})
    files, found = trial.revert()
    assert (files, found.contested) == ({"f": BASE}, ())
    trial.agent({"f": BASE + USER.splitlines(keepends=True)[1]})
    assert [part.edit.path for part in trial.revert()[1].contested] == [b"new"]
    assert trial.revert(force=True)[0] == {"f": BASE}


def test_two_edits_on_the_same_lines_come_off_in_turn_in_a_renamed_file(trial: Trial) -> None:
    again = swapped(REPLACED, (b"the_users_own_five", b"something_else_of_the_user"))
    trial.user({"f": REPLACED})
    trial.user({"f": again}, "i2")
    trial.agent({"f2": again})
    assert trial.revert()[0] == {"f2": BASE}


def test_lines_that_are_gone_stand_nowhere(trial: Trial) -> None:
    trial.user({"f": REPLACED})
    trial.agent({"f": swapped(BASE, (FIVE, b"    pass\n"))})
    files, found = trial.revert()
    assert files == {"f": swapped(BASE, (FIVE, b"    pass\n"))}
    assert found.contested == ()
    assert not trial.stood()


def test_the_reference_follows_the_file_that_was_renamed(trial: Trial) -> None:
    trial.user({"f": REPLACED})
    trial.agent({"f": b"from f2 import *\n", "f2": REPLACED})
    reference = swapped(BASE, (b"    return 7\n", b"    return the_references_seven\n"))
    edited = trial.tree_of(trial.store, {"f": reference})
    diff = trial.store.git("diff-tree", "-p", "--full-index", trial.base, edited).stdout
    compiled = regenerate(trial.store, trial.base, diff)
    states = counterfactuals(trial.store, trial.tree, user_edits(trial.store, trial.changes), compiled)
    assert isinstance(states.without_edit, MergedTree)
    (part,) = states.replaced
    assert not isinstance(part.instead, Conflict)
    assert trial.files(part.instead.tree) == {"f": b"from f2 import *\n", "f2": reference}
    assert part.control
    assert isinstance(part.control.beside, MergedTree)
    assert trial.files(part.control.beside.tree)["f2"] == swapped(reference, (FIVE, USER))


LINES = st.lists(
    st.sampled_from([b"a\n", b"b\n", b"  b\n", b"long enough to be told\n", b"}\n", b"\n"]), max_size=7
).map(b"".join)


@settings(deadline=None, max_examples=60)
@given(before=LINES, after=LINES, now=LINES, elsewhere=st.booleans())
def test_nobody_elses_line_is_ever_taken_out(
    long_store: ObjectStore,
    tree_of: TreeMaker,
    before: bytes,
    after: bytes,
    now: bytes,
    *,
    elsewhere: bool,
) -> None:
    trial = Trial(long_store, tree_of, {"f": before})
    trial.user({"f": after})
    trial.agent({"g" if elsewhere else "f": now})
    edits = user_edits(trial.store, trial.changes)
    users = Counter(spot for edit in edits for spots in edit.spots for spot in spots if spot and spot.number)
    lines = now.splitlines(keepends=True)
    others = Counter(lines) - Counter(lines[(spot.number or 0) - 1] for spot in users)
    files, found = trial.revert()
    left = Counter(line for content in files.values() for line in content.splitlines(keepends=True))
    assert others <= left
    assert found == trial.revert()[1]


@settings(deadline=None, max_examples=30)
@given(before=LINES, after=LINES)
def test_an_edit_whose_file_was_only_renamed_is_undone_whole_or_contested(
    long_store: ObjectStore, tree_of: TreeMaker, before: bytes, after: bytes
) -> None:
    trial = Trial(long_store, tree_of, {"f": before})
    trial.user({"f": after})
    trial.agent({"g": after})
    files, found = trial.revert()
    edits = user_edits(trial.store, trial.changes)
    if any(edit.stands() for edit in edits):
        assert files == {"g": before} or found.contested
