"""The base repository of a task: built once per content, with no remote and no history that holds the fix."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path
from typing import Final

from fourhands.model.errors import InputError
from fourhands.tasks.cache import content_key, provide
from fourhands.tasks.fetch import Distribution, fetch_distribution
from fourhands.tasks.folder import Task
from fourhands.tasks.git import GitError, git

__all__ = ["base_repository", "sdist_repository"]

_BUILDER: Final = "repository 2"
"""Part of every key: raise it when the way a repository is built changes."""


def base_repository(task: Task) -> Path:
    """The task's repository at its base commit, in the cache; nobody may write to it.

    Raises:
        MissingError: the sdist could not be fetched.
        InputError: the history does not apply, or the sdist cannot be unpacked safely.
    """
    if task.sdist is not None:
        return sdist_repository(task.sdist)
    key = content_key(_BUILDER, "history", *task.history)
    return provide("repositories", key, lambda scratch, _final: _from_history(task, scratch))


def sdist_repository(sdist: Distribution) -> Path:
    """The files of a released sdist as one commit. Raises as ``base_repository``."""
    key = content_key(_BUILDER, "sdist", sdist.sha256)
    return provide("repositories", key, lambda scratch, _final: _from_sdist(sdist, scratch))


def _from_history(task: Task, repository: Path) -> None:
    _init(repository)
    for number, patch in enumerate(task.history, 1):
        try:
            git(repository, ["am", "--quiet", "--keep-cr", "--committer-date-is-author-date"], stdin=patch)
        except GitError as error:
            folder = task.directory / "environment" / "history"
            raise InputError(f"{folder}: patch {number} does not apply: {error}") from error
    _finish(repository)


def _from_sdist(sdist: Distribution, repository: Path) -> None:
    archive = fetch_distribution(sdist).read_bytes()
    _init(repository)
    unpacked = repository / ".git" / "unpacked"
    try:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            # "data" refuses paths that leave the folder, devices and outward links, and drops the owner.
            tar.extractall(unpacked, filter="data")
    except tarfile.TarError as error:
        raise InputError(f"{sdist.filename} cannot be unpacked: {error}") from error
    tops = list(unpacked.iterdir())
    if len(tops) != 1 or not tops[0].is_dir() or any(path.name == ".git" for path in tops[0].rglob(".git")):
        raise InputError(f"{sdist.filename} is no sdist: it must hold one folder, and no repository in it")
    for path in tops[0].iterdir():
        path.rename(repository / path.name)
    shutil.rmtree(unpacked)
    # Forced: an sdist ships files that its own .gitignore names.
    git(repository, ["add", "--all", "--force"])
    git(repository, ["commit", "--quiet", "--message", f"{sdist.package} {sdist.version}"])
    _finish(repository)


def _init(repository: Path) -> None:
    git(repository, ["init", "--quiet", "--initial-branch=main", "--template="])
    # The work tree and the blobs must be the same bytes, whatever the tree's own .gitattributes ask for.
    info = repository / ".git" / "info"
    info.mkdir()
    (info / "attributes").write_text("* -text -eol -filter -ident -working-tree-encoding\n")


def _finish(repository: Path) -> None:
    # Laid in a sandbox, a file has another inode and owner: without this git would take every file for changed.
    git(repository, ["config", "core.checkStat", "minimal"])
    git(repository, ["config", "core.trustCTime", "false"])
    # One pack instead of thousands of loose objects: a sandbox without overlays copies them.
    git(repository, ["repack", "-a", "-d", "-q"])
