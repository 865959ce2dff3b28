from __future__ import annotations

import difflib
import json
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.engine.scripted.reference import parse_reference, steps
from fourhands.model.errors import InputError

LINES = st.lists(st.sampled_from(["a", "b", "", "@@ -1 +1 @@", "diff --git a/x b/x", "-- "]), max_size=60)


def _diff(before: list[str], after: list[str], name: str) -> str:
    hunks = difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="")
    return "".join(f"{line}\n" for line in [f"diff --git a/{name} b/{name}", *hunks])


def _applied(before: list[str], patch: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "f").write_text("".join(f"{line}\n" for line in before))
        subprocess.run(["git", "apply", "-"], cwd=folder, input=patch.encode(), check=True)
        return Path(folder, "f").read_text().split("\n")[:-1]


@given(LINES, LINES, LINES)
def test_what_was_taken_apart_is_the_same_patch_and_its_steps_apply_where_they_belong(
    head: list[str], middle: list[str], tail: list[str]
) -> None:
    filler = [f"line {number}" for number in range(12)]
    before = [*filler, *head, *filler, *tail, *filler]
    after = ["new", *filler, *middle, *filler, "new", *tail, "new", *filler]
    reference = parse_reference(_diff(before, after, "f").encode(), "patch")
    assert _applied(before, reference.text) == after
    parts = steps(reference)
    assert len(parts) == 2
    # The second step alone is the whole without the first: hunk numbers must count without the hunk left out.
    last, first = parts[1].text, parts[0].text
    undone = _applied(before, last)
    assert undone != before
    assert _applied(undone, first) == after


def test_several_files_are_several_steps() -> None:
    patch = _diff(["a"], ["b"], "x") + _diff(["a"], ["b"], "y")
    parts = steps(parse_reference(patch.encode(), "patch"))
    assert [part.paths for part in parts] == [("x",), ("y",)]
    assert "".join(part.text for part in parts) == parse_reference(patch.encode(), "patch").text


@pytest.mark.parametrize(
    ("head", "old", "new"),
    [
        ("diff --git a/n b/n\nnew file mode 100644\n", None, "n"),
        ("diff --git a/n b/n\ndeleted file mode 100644\n", "n", None),
        ("diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n", "o", "n"),
        ("diff --git a/o b/n\nsimilarity index 100%\ncopy from o\ncopy to n\n", None, "n"),
        ("diff --git a/n b/n\nold mode 100644\nnew mode 100755\n", "n", "n"),
        ("diff --git a/a b/c b/a b/c\nGIT binary patch\nliteral 0\nHcmV?d00001\n\n", "a b/c", "a b/c"),
    ],
)
def test_a_file_that_comes_goes_moves_or_is_no_text_is_no_plain_change(
    head: str, old: str | None, new: str | None
) -> None:
    (file,) = parse_reference(head.encode(), "patch").files
    assert (file.old, file.new, file.plain) == (old, new, False)


@pytest.mark.parametrize(
    ("patch", "what"),
    [
        (b"", "no git diff"),
        (b"diff --git a/\xff b/\xff\n", "not UTF-8"),
        (b'diff --git "a/\\t" "b/\\t"\n', "quotes"),
        (b"diff --git a/x b/y\n", "which file"),
    ],
)
def test_a_patch_that_no_shell_can_make_names_the_file(patch: bytes, what: str) -> None:
    with pytest.raises(InputError, match=rf"reference\.patch: .*{what}"):
        parse_reference(patch, "reference.patch")


def test_every_repair_of_swe_bench_verified_can_be_taken_apart(shared_data: Path) -> None:
    with (shared_data / "swe-bench" / "verified.jsonl").open() as rows:
        patches = {row["instance_id"]: row["patch"] for row in map(json.loads, rows)}
    assert len(patches) == 500
    for name, patch in patches.items():
        reference = parse_reference(patch.encode(), name)
        parts = steps(reference)
        assert parse_reference(reference.text.encode(), name) == reference
        assert sum(len(file.hunks) for part in parts for file in part.files) == patch.count("\n@@ ")
        assert len(parts) > 1 or len(reference.files[0].hunks) == 1
