from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from fourhands.model.text import LineRange
from fourhands.workspace.attribution import (
    BASE,
    Attribution,
    Author,
    Owner,
    advance,
    line_counts,
    surviving,
    surviving_lines,
)
from fourhands.workspace.changes import FileChange, Hunk
from fourhands.workspace.store import ObjectStore

TreeMaker = Callable[..., str]


def _change(*hunks: Hunk, path: str = "f", new: str | None = "b", binary: bool = False) -> FileChange:
    return FileChange(path, "a", new, 0o100644, 0o100644 if new else None, hunks, binary)


@given(data=st.data(), length=st.integers(1, 12), steps=st.integers(1, 5))
def test_every_line_belongs_to_whoever_put_it_there_last(
    long_store: ObjectStore, tree_of: TreeMaker, data: st.DataObject, length: int, steps: int
) -> None:
    # All lines differ, so that a diff has one answer, and the model can be lists of (line, owner).
    lines = [(b"base %d" % n, BASE) for n in range(length)]
    attribution = Attribution()
    for step in range(steps):
        author: Author = data.draw(st.sampled_from(["agent", "user"]))
        owner = Owner(author, f"edit-{step}" if author == "user" else None)
        start = data.draw(st.integers(0, len(lines)))
        end = data.draw(st.integers(start, len(lines)))
        fresh = [(b"step %d line %d" % (step, n), owner) for n in range(data.draw(st.integers(0, 3)))]
        changed = [*lines[:start], *fresh, *lines[end:]]
        trees = [
            tree_of(long_store, {"f": b"".join(t + b"\n" for t, _ in state)}) for state in (lines, changed)
        ]
        attribution = advance(attribution, long_store.diff(*trees), author, owner.edit)
        lines = changed
    owners = attribution.files.get("f", ())
    assert (*owners, *[BASE] * (len(lines) - len(owners))) == tuple(owner for _, owner in lines)
    for step in range(steps):
        expected = [n for n, (_, owner) in enumerate(lines, 1) if owner.edit == f"edit-{step}"]
        assert surviving(attribution, f"edit-{step}") == len(expected)
        found = surviving_lines(attribution, f"edit-{step}").get("f", ())
        assert [n for r in found for n in range(r.start, r.end + 1)] == expected
    assert sum(line_counts(attribution).values()) == sum(owner != BASE for _, owner in lines)


def test_a_revised_user_line_becomes_the_agents() -> None:
    step = advance(Attribution(), [_change(Hunk(LineRange(3, 2), LineRange(3, 5)))], "user", "first")
    step = advance(step, [_change(Hunk(LineRange(4, 4), LineRange(4, 4)))], "agent")
    assert surviving_lines(step, "first") == {"f": (LineRange(3, 3), LineRange(5, 5))}
    assert line_counts(step) == {"user": 2, "agent": 1}


def test_a_deleted_or_binary_file_has_no_lines() -> None:
    start = advance(Attribution(), [_change(Hunk(LineRange(1, 0), LineRange(1, 2)))], "user", "e")
    assert surviving(start, "e") == 2
    assert advance(start, [_change(Hunk(LineRange(1, 2), LineRange(1, 0)), new=None)], "agent").files == {}
    assert advance(start, [_change(binary=True)], "agent").files == {}


def test_a_change_of_mode_keeps_the_owners() -> None:
    start = advance(Attribution(), [_change(Hunk(LineRange(1, 0), LineRange(1, 2)))], "user", "e")
    assert advance(start, [_change()], "agent") == start
