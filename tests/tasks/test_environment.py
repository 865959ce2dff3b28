from __future__ import annotations

import asyncio
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fourhands.model.errors import MissingError
from fourhands.tasks.environment import python_environment
from fourhands.tasks.folder import load_task
from fourhands.tasks.prepare import prepare


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
