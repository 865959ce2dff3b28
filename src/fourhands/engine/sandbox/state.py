"""The folder of one sandbox on the host, whose it is, and the removal of what dead owners left."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fourhands.engine.sandbox import cgroup
from fourhands.model.errors import SandboxError

__all__ = ["State", "sweep"]

_LOCK_SUFFIX: Final = ".lock"
_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class State:
    """``path`` holds the sandbox's writable parts; ``token`` names it and tells nothing.

    ``lock`` is an open, locked file beside it: the kernel lets go of it when its owner dies.
    """

    path: Path
    lock: int

    @property
    def token(self) -> str:
        """The random part of all names of this sandbox."""
        return self.path.name

    @classmethod
    def create(cls, base: Path) -> State:
        """Make a folder below ``base``.

        Raises:
            SandboxError: ``base`` cannot be written.
        """
        try:
            base.mkdir(parents=True, exist_ok=True)
            for _ in range(_ATTEMPTS):
                path = base / secrets.token_hex(6)
                lock = os.open(f"{path}{_LOCK_SUFFIX}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
                if _owns(lock, path):
                    path.mkdir()
                    return cls(path, lock)
                os.close(lock)  # a sweep took it between its making and its locking
        except OSError as error:
            raise SandboxError(f"sandbox: cannot write its state folder {base}: {error.strerror}") from error
        raise SandboxError(f"sandbox: cannot lock a file in {base}: does this file system support flock?")

    def remove(self) -> None:
        """Remove folder, cgroup and lock."""
        cgroup.remove(self.token)
        _remove_tree(self.path)
        Path(f"{self.path}{_LOCK_SUFFIX}").unlink(missing_ok=True)
        os.close(self.lock)


def _owns(lock: int, path: Path) -> bool:
    """Try to lock; whether the file that is now ours is still the one at its path."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(lock), Path(f"{path}{_LOCK_SUFFIX}").stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _remove_tree(path: Path) -> None:
    """Remove a tree in which an overlay, or an agent, may have left folders without permissions."""
    shutil.rmtree(path, ignore_errors=True)  # to start a program costs more than the usual tree
    if path.exists():
        subprocess.run(["chmod", "-R", "u+rwx", "--", str(path)], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(["rm", "-rf", "--", str(path)], stderr=subprocess.DEVNULL, check=False)


def sweep(base: Path) -> int:
    """Remove what sandboxes below ``base`` left whose process is gone; how many there were."""
    swept = 0
    for lock_file in base.glob(f"*{_LOCK_SUFFIX}"):
        path = lock_file.with_suffix("")
        try:
            lock = os.open(lock_file, os.O_RDWR)
        except OSError:
            continue
        if _owns(lock, path):
            State(path, lock).remove()
            swept += 1
        else:
            os.close(lock)
    return swept
