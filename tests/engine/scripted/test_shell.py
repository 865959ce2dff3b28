from __future__ import annotations

from pathlib import Path

import pytest

from fourhands.engine.scripted import shell as scripts
from fourhands.engine.scripted.reference import Reference, parse_reference, steps
from fourhands.model.text import LineRange, Region
from fourhands.model.touch import touches_region
from fourhands.touch.shell import shell_touches

from .repositories import Files, Lay, patch_to, read, shell, write

NUMBERS = [f"line {number}" for number in range(1, 101)]


def _text(changes: dict[int, str] | None = None) -> str:
    return "".join(f"{(changes or {}).get(n, line)}\n" for n, line in enumerate(NUMBERS, 1))


BASE = {"src/it's.py": _text(), "gone.txt": "gone\n", "other.py": "other\n"}
WANTED = {
    "src/it's.py": _text({10: "first", 90: "second"}),
    "new.txt": "EOF\nEND_OF_PATCH\n",
    "other.py": "other\n",
}
FIRST_STEP = _text({10: "first"})


@pytest.fixture
def repository(lay: Lay) -> Path:
    return lay(BASE)


def _reference(repository: Path, wanted: Files = WANTED) -> Reference:
    return parse_reference(patch_to(repository, wanted), "reference.patch")


@pytest.mark.parametrize("favour", ["ours", "theirs"])
def test_left_alone_every_way_to_make_the_change_makes_it(repository: Path, favour: str) -> None:
    reference = _reference(repository)
    for command in (
        scripts.merge(reference, favour="ours" if favour == "ours" else "theirs"),
        scripts.write_whole(reference, reference.paths),
        scripts.start_over(reference),
    ):
        shell(repository, command)
        assert read(repository) == WANTED
        shell(repository, command)  # made twice, it is made once
        assert read(repository) == WANTED
        shell(repository, scripts.start_over())
        assert read(repository) == BASE


def test_steps_make_the_change_one_after_the_other(repository: Path) -> None:
    reference = _reference(repository, {**BASE, "src/it's.py": WANTED["src/it's.py"]})
    first, second = steps(reference)
    shell(repository, scripts.merge(first, favour="ours"))
    assert read(repository)["src/it's.py"] == FIRST_STEP
    shell(repository, scripts.merge(second, favour="ours"))
    assert read(repository)["src/it's.py"] == WANTED["src/it's.py"]


@pytest.mark.parametrize(("favour", "tenth"), [("ours", "user's"), ("theirs", "first")])
def test_a_merge_keeps_the_users_lines_but_where_the_change_is_favoured(
    repository: Path, favour: str, tenth: str
) -> None:
    reference = _reference(repository)
    users = {
        "src/it's.py": _text({10: "user's", 50: "user's too"}),
        "new.txt": "user's\n",
        "gone.txt": "kept\n",
    }
    write(repository, users)
    shell(repository, scripts.merge(reference, favour="ours" if favour == "ours" else "theirs"))
    merged = {"src/it's.py": _text({10: tenth, 50: "user's too", 90: "second"}), "other.py": "other\n"}
    left = {name: users[name] for name in ("new.txt", "gone.txt")} if favour == "ours" else {}
    assert read(repository) == {**merged, "new.txt": WANTED["new.txt"], **left}


def test_written_whole_the_users_lines_vanish_from_the_files_that_are_named(repository: Path) -> None:
    reference = _reference(repository)
    write(repository, {"src/it's.py": "user's\n", "other.py": "user's\n", "stray.py": "user's\n"})
    shell(repository, scripts.write_whole(reference, reference.paths))
    assert read(repository) == {**WANTED, "other.py": "user's\n", "stray.py": "user's\n"}
    shell(repository, scripts.write_whole(reference, ("other.py", "stray.py")))
    assert read(repository) == WANTED


def test_starting_over_leaves_nothing_of_anybody_else(repository: Path) -> None:
    reference = _reference(repository)
    write(repository, {"src/it's.py": "x\n", "gone.txt": "x\n", "stray/deep.py": "x\n"})
    (repository / "other.py").unlink()
    shell(repository, scripts.start_over(reference))
    assert read(repository) == WANTED


def test_what_is_read_is_seen_as_a_read_of_the_lines_around_each_hunk(repository: Path) -> None:
    reference = _reference(repository)
    file = next(file for file in reference.files if file.old == "src/it's.py")
    command = scripts.read_around(file)
    assert command is not None
    assert "line 90" in shell(repository, command)
    (touch,) = shell_touches(command)
    for line in (10, 90):
        assert touches_region(touch, Region("src/it's.py", LineRange(line, line)))
    assert not touches_region(touch, Region("src/it's.py", LineRange(50, 50)))


def test_a_file_that_is_not_there_yet_cannot_be_read(repository: Path) -> None:
    reference = _reference(repository)
    commands = {file.new: scripts.read_around(file) for file in reference.files}
    assert commands["new.txt"] is None
    assert commands[None] is not None  # the one that is deleted is read before
