from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fourhands.model.errors import InputError, MissingError
from fourhands.tasks.find import find_tasks, list_known
from fourhands.tasks.interpreter import find_interpreter, own_interpreter

REAL = "django__django-11133"
PYENV, UV = (
    ".pyenv/versions/{}/bin/python3.9",
    ".local/share/uv/python/cpython-{}-linux-x86_64-gnu/bin/python3.9",
)
Stand = Callable[..., Path]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which no other Python is found: only what these tests put there."""
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


@pytest.fixture
def stand(home: Path) -> Stand:
    """``stand(path)`` puts a program there that answers as a Python 3.9 would that is installed at that place."""

    def put(path: str, *, implementation: str = "cpython", minor: int = 9, status: int = 0) -> Path:
        program = home / path
        program.parent.mkdir(parents=True)
        answer = json.dumps(
            [implementation, [3, minor], f"3.{minor}.2 (x)", str(program), str(program.parents[1])]
        )
        program.write_text(f"#!/bin/sh\n[ {status} = 0 ] && echo '{answer}'\nexit {status}\n")
        program.chmod(0o755)
        return program

    return put


@pytest.mark.parametrize(
    "wanted", [">=3.9", ">=3.12", f"=={sys.version_info.major}.{sys.version_info.minor}"]
)
def test_what_our_own_interpreter_meets_is_run_with_it(wanted: str, home: Path) -> None:
    assert find_interpreter(wanted, task="toy") == own_interpreter()
    assert not home.joinpath("bin").exists()


@pytest.mark.parametrize("place", ["bin/python3.9", PYENV.format("3.9.1"), UV.format("3.9.1")])
def test_an_exact_version_is_found_on_path_with_pyenv_and_with_uv(place: str, stand: Stand) -> None:
    program = stand(place)
    found = find_interpreter("==3.9", task="toy")
    assert (found.executable, found.release, found.base_prefix) == (program, "3.9.2", program.parents[1])


@pytest.mark.parametrize(
    ("variable", "place"),
    [
        ("PYENV_ROOT", "own/versions/3.9.1/bin/python3.9"),
        ("UV_PYTHON_INSTALL_DIR", "own/cpython-3.9.1-x/bin/python3.9"),
        ("XDG_DATA_HOME", "own/uv/python/cpython-3.9.1-x/bin/python3.9"),
    ],
)
def test_pyenv_and_uv_are_found_where_their_variables_say(
    variable: str, place: str, stand: Stand, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = stand(place)
    with pytest.raises(MissingError):
        find_interpreter("==3.9", task="toy")
    monkeypatch.setenv(variable, str(home / "own"))
    assert find_interpreter("==3.9", task="toy").executable == program


def test_path_comes_first_and_then_the_newest(stand: Stand) -> None:
    stand(UV.format("3.9.30"))
    stand(PYENV.format("3.9.2"))
    newest = stand(PYENV.format("3.9.18"))
    assert find_interpreter("==3.9", task="toy").executable == newest
    on_path = stand("bin/python3.9")
    assert find_interpreter("==3.9", task="toy").executable == on_path


def test_a_program_that_is_no_such_interpreter_is_passed_over(stand: Stand) -> None:
    stand("bin/python3.9", status=127)  # a shim of pyenv whose version is not chosen
    stand(PYENV.format("3.9.18"), implementation="pypy")
    stand(PYENV.format("3.9.17"), minor=8)
    usable = stand(PYENV.format("3.9.2"))
    assert find_interpreter("==3.9", task="toy").executable == usable


@pytest.mark.usefixtures("home")
def test_a_missing_interpreter_is_named_with_the_task_and_the_remedy() -> None:
    with pytest.raises(MissingError, match=r"^toy needs Python 3\.9, .*python3\.9.*uv python install 3\.9"):
        find_interpreter("==3.9", task="toy")


def test_nothing_is_fetched_before_every_name_and_interpreter_is_known(home: Path, cache: Path) -> None:
    with pytest.raises(MissingError, match=rf"{REAL} needs Python 3\.9"):
        find_tasks(["psf__requests-6028", REAL])
    with pytest.raises(InputError, match="'nothing' is no task"):
        find_tasks(["psf__requests-6028", "nothing"])
    assert not cache.exists()
    lacking = {task.name for task in list_known() if task.kind == "real" and task.lacks}
    assert lacking == {REAL}
    assert not home.joinpath("bin").exists()


def test_the_command_line_lists_what_is_lacking_and_refuses_to_run_or_check_it(home: Path) -> None:
    env = {**os.environ, "COLUMNS": "200"}

    def fourhands(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(Path(sys.executable).with_name("fourhands")), *arguments]
        return subprocess.run(command, env=env, cwd=home, check=False, capture_output=True, text=True)

    listed = fourhands("tasks", "list")
    assert listed.returncode == 0
    assert f"{REAL} needs Python 3.9" in listed.stdout
    rows = {row["name"]: row for row in json.loads(fourhands("tasks", "list", "--json").stdout)["tasks"]}
    assert "uv python install 3.9" in rows[REAL]["lacks"]
    assert rows["psf__requests-6028"]["lacks"] is None
    tasks = f"ledger-rounding,{REAL}"
    for refused in (fourhands("tasks", "check", REAL), fourhands("run", "--tasks", tasks, "--out", "r")):
        assert refused.returncode == 3, refused.stderr
        assert f"{REAL} needs Python 3.9" in refused.stderr
    assert not (home / "r" / "plan.json").exists()
