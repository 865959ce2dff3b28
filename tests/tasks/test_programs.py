"""Programs that a task needs besides Python, shown with stand-ins on PATH that answer as Node does."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from fourhands.model.errors import InputError, MissingError
from fourhands.tasks.find import bundled_tasks, find_tasks, list_known
from fourhands.tasks.folder import load_task
from fourhands.tasks.prepare import prepare
from fourhands.tasks.programs import find_program, lacking, needed_programs, program_path

NEEDED = ("node>=20",)


def put(folder: Path, version: str, *, file: Path | None = None, name: str = "node") -> Path:
    """A program that says it is ``version``, and that its own file is ``file``."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\nprintf '%s\\n%s\\n' '{file or program}' '{version}'\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder that is the whole of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.mark.parametrize(("version", "is_found"), [("v20.0.0", True), ("v100.1.0", True), ("v9.11.2", False)])
def test_a_program_counts_from_its_least_major_version(only: Path, version: str, is_found: bool) -> None:
    program = put(only, version)
    found = find_program("node>=20")
    assert (found is not None) is is_found
    assert found is None or (found.file, found.version) == (program, version)


def test_a_version_managers_shim_stands_for_the_program_itself(only: Path, tmp_path: Path) -> None:
    real = put(tmp_path / "versions" / "22" / "bin", "v22.1.0")
    put(only, "v22.1.0", file=real)
    (program,) = needed_programs(NEEDED, "t")
    assert program.file == real


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\nexit 3\n", "#!/bin/sh\necho nonsense\n", "#!/no/such/interpreter\n"]
)
def test_what_does_not_answer_as_the_program_is_none(only: Path, text: str) -> None:
    (only / "node").write_text(text)
    (only / "node").chmod(0o755)
    assert find_program("node>=20") is None


@pytest.mark.usefixtures("only")
def test_a_missing_program_is_named_with_the_task_and_how_to_get_it() -> None:
    with pytest.raises(
        MissingError, match=r"^task t needs node>=20 \(not found\): get it .*nodejs\.org.*leave"
    ) as e:
        needed_programs(NEEDED, "t")
    assert lacking(NEEDED, "t") == str(e.value)
    assert lacking((), "t") is None


def test_the_tasks_path_finds_the_program_and_the_tasks_python_first(tmp_path: Path, only: Path) -> None:
    put(only, "v21.0.0")
    put(tmp_path / "old", "v12.0.0")
    python = put(tmp_path / "venv", "", name="python")
    put(only, "", name="python")
    found = needed_programs(NEEDED, "t")
    path = program_path(found, f"{python.parent}:{tmp_path / 'old'}")
    assert shutil.which("node", path=path) == str(only / "node")
    assert shutil.which("python", path=path) == str(python)
    assert program_path(found, f"{python.parent}:{only}") == f"{python.parent}:{only}"


@pytest.mark.usefixtures("only")
def test_a_listed_task_says_what_it_lacks() -> None:
    known = {task.name: task for task in list_known()}
    assert "needs node>=20 (not found)" in (known["hours-overnight"].lacks or "")
    assert known["ledger-rounding"].lacks is None


async def test_a_task_whose_program_is_missing_is_not_prepared(
    only: Path,
) -> None:
    for name in ("git", "tar"):
        (only / name).symlink_to(shutil.which(name, path=os.defpath) or "")
    with pytest.raises(MissingError, match="hours-overnight needs node>=20"):
        await prepare(bundled_tasks()["hours-overnight"])


@pytest.mark.usefixtures("only")
def test_a_run_with_such_a_task_is_refused_before_it_begins() -> None:
    for names in (["ledger-rounding", "hours-overnight"], [str(bundled_tasks()["hours-overnight"])]):
        with pytest.raises(MissingError, match="hours-overnight needs node>=20"):
            find_tasks(names)
    assert len(find_tasks(["ledger-rounding"])) == 1


def test_an_unknown_program_is_refused_by_the_field(tmp_path: Path) -> None:
    text = (bundled_tasks()["hours-overnight"] / "task.toml").read_text()
    (tmp_path / "task.toml").write_text(text.replace("node>=20", "cobol>=85"))
    with pytest.raises(InputError, match=r"metadata\.fourhands\.programs\.0"):
        load_task(tmp_path)
