from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fourhands.model.errors import FourhandsError, InputError, MissingError
from fourhands.tasks.fetch import Distribution, fetch_distribution
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.git import Base, GitError
from fourhands.tasks.repository import base_repository, sdist_repository

TOY = {"calc.py": "def double(n):\n    return n + n + 1\n", "tests/test_calc.py": ""}
PKG_INFO = b"Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n"


def run_git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Distribution]:
    """``release({"path": b"content"}, links={…})`` puts toy-1.0.tar.gz where pip looks, and nowhere else."""
    place = tmp_path / "index"
    place.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(place))

    def make(files: dict[str, bytes], links: dict[str, str] | None = None) -> Distribution:
        path = place / "toy-1.0.tar.gz"
        with tarfile.open(path, "w:gz") as tar:
            for name, data in ({"toy-1.0/PKG-INFO": PKG_INFO} | files).items():
                member = tarfile.TarInfo(name)
                member.size, member.uid, member.mode = (
                    len(data),
                    12345,
                    0o755 if name.endswith(".sh") else 0o664,
                )
                tar.addfile(member, io.BytesIO(data))
            for name, target in (links or {}).items():
                member = tarfile.TarInfo(name)
                member.type, member.linkname = tarfile.SYMTYPE, target
                tar.addfile(member)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return Distribution(package="toy", version="1.0", filename=path.name, sha256=digest)

    return make


def test_fetching_an_sdist_runs_nothing_of_it(release: Callable[..., Distribution], tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    code = f"open({str(mark)!r}, 'w')\n".encode()
    project = b'[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n'
    files = {"toy-1.0/setup.py": code, "toy-1.0/evil.py": code, "toy-1.0/pyproject.toml": project}
    wanted = release(files)
    assert fetch_distribution(wanted).name == "toy-1.0.tar.gz"
    assert not mark.exists()
    # The same sdist through pip as it is: the trap is real.
    command = [
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--no-binary",
        ":all:",
        "-d",
        str(tmp_path / "d"),
        "toy==1.0",
    ]
    subprocess.run(["python", "-m", *command], check=False, capture_output=True)
    assert mark.exists()


def test_another_file_than_the_pinned_one_is_refused(release: Callable[..., Distribution]) -> None:
    wanted = release({}).model_copy(update={"sha256": "0" * 64})
    with pytest.raises(MissingError, match=r"toy-1\.0\.tar\.gz.*pip config list"):
        fetch_distribution(wanted)


def test_an_sdist_is_one_commit_of_all_its_files(release: Callable[..., Distribution]) -> None:
    hidden = {
        "toy-1.0/.gitignore": b"*.log\n",
        "toy-1.0/kept.log": b"x\r\n",
        "toy-1.0/run.sh": b"#!/bin/sh\n",
    }
    repository = sdist_repository(release(hidden | {"toy-1.0/.gitattributes": b"* text=auto\n"}))
    assert run_git(repository, "log", "--format=%an %cn %cI").splitlines() == [
        "Maintainer Maintainer 2020-01-01T00:00:00+00:00"
    ]
    assert set(run_git(repository, "ls-files").split()) == {
        *(".gitattributes", ".gitignore", "PKG-INFO", "kept.log", "run.sh")
    }
    assert run_git(repository, "remote") == ""
    assert run_git(repository, "status", "--porcelain") == ""
    blobs = Base(repository).blobs()
    assert blobs["kept.log"].data == (repository / "kept.log").read_bytes() == b"x\r\n"
    assert [blobs[name].mode for name in ("run.sh", "kept.log")] == ["100755", "100644"]


@pytest.mark.parametrize(
    ("files", "links"),
    [
        ({"../outside": b"x"}, {}),
        ({"toy-1.0/../../outside": b"x"}, {}),
        ({}, {"toy-1.0/link": "/etc/passwd"}),
        ({"toy-1.0/link/x": b"x"}, {"toy-1.0/link": "../../.."}),
        ({"second/x": b"x"}, {}),
        ({"toy-1.0/sub/.git/config": b"[core]\n\tfsmonitor = evil\n"}, {}),
    ],
)
def test_an_sdist_that_reaches_outside_or_brings_a_repository_is_refused(
    release: Callable[..., Distribution], files: dict[str, bytes], links: dict[str, str], cache: Path
) -> None:
    with pytest.raises(FourhandsError, match=r"toy-1\.0\.tar\.gz"):
        sdist_repository(release(files, links))
    assert list((cache / "repositories").iterdir()) == []
    assert not list(cache.parent.rglob("outside"))


def test_a_history_gives_the_same_commits_everywhere(
    task: Task, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = run_git(base_repository(task), "rev-parse", "HEAD")
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2031-01-01T00:00:00Z")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    again = base_repository(task)
    assert again.is_relative_to(tmp_path / "other")
    assert run_git(again, "rev-parse", "HEAD") == first
    assert run_git(again, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]


def test_a_history_that_does_not_apply_names_the_patch(make_task: Callable[..., Path]) -> None:
    folder = make_task()
    series = folder / "environment" / "history"
    shutil.copy(next(series.glob("0001-*")), series / "0002-Again.patch")
    with pytest.raises(InputError, match=r"history: patch 2 does not apply"):
        base_repository(load_task(folder))


def test_patches_are_read_against_a_base_that_stays_as_it_is(task: Task) -> None:
    repository = base_repository(task)
    base = Base(repository)
    before = {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()}
    patched = base.patched(task.reference)
    assert {path: blob and blob.data for path, blob in patched.items()} == {
        "calc.py": b"def double(n):\n    return n + n\n"
    }
    old = b"diff --git a/calc.py b/calc.py\ndeleted file mode 100644\n--- a/calc.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n"
    assert base.patched(old + b"-def double(n):\n-    return n + n + 1\n") == {"calc.py": None}
    full = base.regenerated(task.reference)
    assert base.regenerated(full) == full
    assert len(full.split(b"index ")[1].split(b"..")[0]) == 40
    assert base.diff_of({"calc.py": b"def double(n):\n    return n + n\n"}) == full
    with pytest.raises(GitError, match="apply failed"):
        base.patched(task.reference.replace(b"n + n + 1", b"n + n + 2"))
    assert {path: path.read_bytes() for path in repository.rglob("*") if path.is_file()} == before


def test_a_patch_made_for_another_release_applies_with_less_context_and_becomes_exact(
    make_task: Callable[..., Path],
) -> None:
    lines = [f"line {n}\n" for n in range(9)]
    base = Base(base_repository(load_task(make_task(base={"f.txt": "".join(lines), **TOY}))))
    exact = base.diff_of({"f.txt": "".join([*lines[:4], "new\n", *lines[4:]]).encode()})
    stale = exact.replace(b" line 1\n", b" other 1\n").replace(b" line 6\n", b" other 6\n")
    assert stale != exact
    with pytest.raises(GitError, match="apply failed"):
        base.regenerated(stale)
    assert base.regenerated(stale, context=1) == exact
    far = exact.replace(b" line 3\n", b" other 3\n")
    with pytest.raises(GitError, match="apply failed"):
        base.regenerated(far, context=1)
