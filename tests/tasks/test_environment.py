from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.errors import MissingError
from fourhands.tasks.cache import cache_root
from fourhands.tasks.environment import environment_digest, python_environment
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.interpreter import Interpreter, find_interpreter
from fourhands.tasks.prepare import prepare
from fourhands.tasks.testrun import run_tests


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A hashed lock for one small package, which only a folder of ours offers."""
    index = tmp_path / "index"
    index.mkdir()
    wheel = index / "toy-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("toy.py", "def main():\n    print('toy')\n")
        archive.writestr("toy-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        archive.writestr(
            "toy-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("toy-1.0.dist-info/entry_points.txt", "[console_scripts]\ntoy = toy:main\n")
        archive.writestr("toy-1.0.dist-info/RECORD", "")
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    path = tmp_path / "lock.txt"
    path.write_text(f"toy==1.0 --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    return path


def output_of(*command: str | Path, path: str) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env={"PATH": path}
    ).stdout.strip()


def test_the_environment_works_where_it_stands_and_is_built_once(
    lock: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_CONSTRAINT", str(lock.with_name("no-such-file")))
    built = python_environment(lock)
    assert built.prefix.parent == cache / "environments"
    assert output_of("toy", path=built.path) == "toy"
    for name in ("python", "python3"):
        said = output_of(name, "-c", "import sys, toy; print(sys.prefix, toy.__cached__)", path=built.path)
        prefix, compiled = said.split()
        assert prefix == str(built.prefix)
        assert Path(compiled).is_file()
    assert not [
        path for path in built.prefix.joinpath("bin").iterdir() if b".new-" in path.read_bytes()[:4096]
    ]
    assert python_environment(lock) == built


def test_the_prefixes_hold_all_that_the_interpreter_needs(lock: Path) -> None:
    built = python_environment(lock)
    program = "import sys; print('\\n'.join([sys.base_prefix, *filter(None, sys.path)]))"
    places = [Path(line) for line in output_of("python", "-c", program, path=built.path).splitlines()]
    readable = (*built.prefixes, Path("/usr"))
    assert all(any(place.is_relative_to(prefix) for prefix in readable) for place in places)


def test_a_pin_without_a_wheel_is_named(lock: Path) -> None:
    lock.write_text("onlysource==2.0 --hash=sha256:" + "0" * 64 + "\n")
    with pytest.raises(MissingError, match=r"onlysource==2\.0 has no wheel"):
        python_environment(lock)


def test_a_wheel_that_is_not_the_pinned_one_is_refused(lock: Path, cache: Path) -> None:
    lock.write_text("toy==1.0 --hash=sha256:" + "0" * 64 + "\n")
    with pytest.raises(MissingError, match="requirements could not be installed"):
        python_environment(lock)
    assert list((cache / "environments").iterdir()) == []


def with_lock(folder: Path, lock: Path) -> Path:
    """The task in ``folder``, with ``lock`` for its requirements."""
    (folder / "requirements.txt").write_text(lock.read_text())
    toml = folder / "task.toml"
    toml.write_text(toml.read_text().replace("licence =", 'requirements = "requirements.txt"\nlicence ='))
    return folder


async def test_preparing_twice_at_once_gives_one_specification(
    make_task: Callable[..., Path], lock: Path
) -> None:
    folder = with_lock(make_task(), lock)
    one, other = await asyncio.gather(prepare(folder), prepare(folder))
    assert one == other
    assert one.env["PATH"].startswith(str(one.prefixes[0]))
    assert one.env["PYTHONPATH"] == "/testbed"
    assert (one.repository / "calc.py").is_file()
    assert "toy" not in "".join(str(path.name) for path in (one.repository, *one.prefixes))
    assert load_task(folder).requirements == folder / "requirements.txt"


def test_a_task_without_requirements_gets_a_bare_interpreter() -> None:
    built = python_environment(None)
    assert output_of("python", "-c", "import sys; print(sys.version)", path=built.path) == sys.version


@pytest.fixture
def old() -> Interpreter:
    """The oldest Python under which tests of a task may run."""
    try:
        return find_interpreter("==3.9", task="this test")
    except MissingError as error:
        pytest.skip(str(error))


def test_an_environment_is_made_with_another_interpreter(lock: Path, old: Interpreter) -> None:
    built = python_environment(lock, old)
    assert built.prefix != python_environment(lock).prefix
    assert output_of("toy", path=built.path) == "toy"
    said = output_of(
        "python", "-c", "import sys; print(sys.version); print(*sys.path, sep='\\n')", path=built.path
    )
    version, _, places = said.removeprefix(old.version).partition("\n")
    assert (version, said[: len(old.version)]) == ("", old.version)
    readable = (*built.prefixes, Path("/usr"))
    assert all(
        any(Path(place).is_relative_to(prefix) for prefix in readable) for place in places.split() if place
    )


def test_an_interpreter_that_makes_no_environment_is_named(lock: Path, tmp_path: Path) -> None:
    program = tmp_path / "python3.9"
    program.write_text("#!/bin/sh\necho ensurepip is not here >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(
        MissingError, match=r"python3\.9 cannot make virtual environments: ensurepip is not here"
    ):
        python_environment(lock, Interpreter(program, "3.9.0 (x)", tmp_path))


def test_the_environments_digest_follows_the_interpreter(task: Task) -> None:
    other = dataclasses.replace(task.interpreter, version="3.9.18 (main)")
    moved = dataclasses.replace(task.interpreter, executable=Path("/elsewhere"))
    digest = environment_digest(task)
    assert environment_digest(dataclasses.replace(task, interpreter=moved)) == digest
    assert environment_digest(dataclasses.replace(task, interpreter=other)) != digest


async def test_a_task_that_needs_another_interpreter_runs_and_is_verified_under_it(
    make_task: Callable[..., Path], old: Interpreter
) -> None:
    folder = make_task()
    toml = folder / "task.toml"
    toml.write_text(toml.read_text().replace('python = ">=3.12"', 'python = "==3.9"'))
    task = load_task(folder)
    assert task.interpreter == old
    async with LocalSandbox(await prepare(folder), cache_root() / "sandboxes") as sandbox:
        said = await sandbox.run(["python", "-c", "import sys; print(sys.version)"])
        assert said.stdout.decode().strip() == old.version
        assert (await run_tests(sandbox, task)).failed == ("test_double (tests.test_calc.Calc)",)
        assert (await sandbox.run(["git", "apply", "-"], stdin=task.reference)).code == 0
        # A json of the repository's own must not come before Python's.
        planted = "open('json.py', 'w').write('raise SystemExit(0)')"
        assert (await sandbox.run(["python", "-c", planted])).code == 0
        assert (await run_tests(sandbox, task)).resolved


@pytest.mark.parametrize("recorder", ["pytest_recorder", "unittest_recorder", "sympy_recorder"])
def test_a_recorder_can_be_loaded_by_the_oldest_interpreter(recorder: str, old: Interpreter) -> None:
    source = files("fourhands.tasks").joinpath("inside", f"{recorder}.py").read_text()
    program = "import sys; names = {}; exec(sys.stdin.read(), names); print(callable(names['run']))"
    done = subprocess.run(
        [old.executable, "-I", "-c", program], input=source, capture_output=True, text=True, check=False
    )
    assert done.stdout == "True\n", done.stderr
