"""What an agent consists of, packed for a container: Python packages for its interpreter, or a folder of programs.

Packages are installed here by pip, from the hashed lock. So the container needs neither a package manager nor a
network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fourhands.model.errors import InputError, MissingError
from fourhands.model.sandbox import Sandbox
from fourhands.tasks.cache import content_key, provide
from fourhands.tasks.environment import python_environment

__all__ = [
    "Platform",
    "packed",
    "packed_folder",
    "platform_of",
    "read_platform",
    "refuse_foreign",
    "see_that_programs_run",
]

_BUILDER: Final = "packages 1"
_ARCHIVE: Final = "packages.tar"
_TAR: Final = ("tar", "--create", "--owner=0", "--group=0", "--numeric-owner", "--file")
_OLDEST_PYTHON: Final = (3, 12)
"""What the locks of agents are resolved for."""
_OLDEST_GLIBC: Final = 5
_LEGACY: Final = {"manylinux1": 5, "manylinux2010": 12, "manylinux2014": 17}
"""Names from before PEP 600, and the glibc 2.N that they stand for."""
_ASK_PLATFORM: Final = (
    "import platform, sys; print(*sys.version_info[:2], platform.machine(), *platform.libc_ver())"
)


@dataclass(frozen=True, slots=True)
class Platform:
    """What decides which wheels fit: Python 3.``minor``, glibc 2.``glibc``, and the machine's architecture."""

    minor: int
    machine: str
    glibc: int

    @property
    def tags(self) -> tuple[str, ...]:
        """Platform tags of the wheels that run there, the newest first."""
        modern = [f"manylinux_2_{n}_{self.machine}" for n in range(self.glibc, _OLDEST_GLIBC - 1, -1)]
        legacy = [f"{name}_{self.machine}" for name, glibc in _LEGACY.items() if glibc <= self.glibc]
        return (*modern, *legacy, f"linux_{self.machine}")


async def platform_of(sandbox: Sandbox, agent: str) -> Platform:
    """What the interpreter inside is.

    Raises:
        InputError: ``agent`` cannot be installed for it.
        SandboxError: the sandbox is gone.
    """
    return read_platform(await _ask(sandbox), agent)


async def _ask(sandbox: Sandbox) -> str:
    return (await sandbox.run([sandbox.python, "-I", "-S", "-c", _ASK_PLATFORM], cwd="/")).stdout.decode()


def read_platform(said: str, agent: str) -> Platform:
    """What an interpreter ``said`` of itself: two parts of its version, the machine, the C library and its version.

    Raises:
        InputError: ``agent`` cannot be installed for it.
    """
    major, minor, machine, *libc = said.split()
    if (int(major), int(minor)) < _OLDEST_PYTHON:
        raise InputError(
            f"{agent} needs Python {'.'.join(map(str, _OLDEST_PYTHON))} or later, and the image of the task has "
            f"{major}.{minor}: run it with --env local, or take --agent thin"
        )
    _see_glibc(libc, agent)
    return Platform(int(minor), machine, int(libc[1].split(".")[1]))


async def see_that_programs_run(sandbox: Sandbox, agent: str) -> None:
    """See that programs that were built for this machine run inside.

    Raises:
        InputError: ``agent`` consists of such, and they do not.
        SandboxError: the sandbox is gone.
    """
    refuse_foreign(await _ask(sandbox), agent)


def refuse_foreign(said: str, agent: str) -> None:
    """See `see_that_programs_run`; ``said`` is what `read_platform` reads."""
    _, _, machine, *libc = said.split()
    _see_glibc(libc, agent)
    if machine != os.uname().machine:
        raise InputError(
            f"{agent} is brought in as it runs on this machine ({os.uname().machine}), and the environment's is "
            f"{machine}: choose one alike, or take --agent thin"
        )


def _see_glibc(libc: Sequence[str], agent: str) -> None:
    if libc[:1] != ["glibc"]:
        raise InputError(
            f"{agent} needs an image with glibc, such as Debian's: the task's has another C library. "
            "Run it with --env local, or take --agent thin"
        )


def packed_folder(folder: Path) -> Path:
    """A compressed archive of what is in an entry of the cache, links and permissions with it; made once."""

    def build(scratch: Path, final: Path) -> None:
        del final
        # Quickly: it is made before a trial, and spares most of what could be spared.
        compress = "--use-compress-program=gzip -1"
        subprocess.run(
            [*_TAR, str(scratch / _ARCHIVE), compress, "--directory", str(folder), "."], check=True
        )

    return provide("packages", content_key(_BUILDER, folder.name), build) / _ARCHIVE


def packed(lock: Path, platform: Platform) -> Path:
    """An archive of what ``lock`` pins, as it lies in ``site-packages``, with its scripts in ``bin``; made once.

    Raises:
        MissingError: the package index cannot be reached, or has no wheel for ``platform``.
    """
    key = content_key(_BUILDER, lock.read_bytes(), repr(platform))
    return provide("packages", key, lambda scratch, _: _build(lock, platform, scratch)) / _ARCHIVE


def _build(lock: Path, platform: Platform, scratch: Path) -> None:
    folder = scratch / "site-packages"
    python = python_environment(None).prefix / "bin" / "python"
    options = ["--quiet", "--no-input", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    options += ["--no-compile", "--target", str(folder), "--implementation", "cp"]
    options += ["--python-version", f"3.{platform.minor}", "--abi", f"cp3{platform.minor}"]
    options += ["--abi", "abi3", "--abi", "none"]
    options += [part for tag in platform.tags for part in ("--platform", tag)]
    # The lock says it all: a constraint of the machine's must not contradict it.
    env = {**os.environ, "PIP_CONSTRAINT": os.devnull, "PIP_REQUIRE_VIRTUALENV": "0"}
    done = subprocess.run(
        [python, "-I", "-m", "pip", "install", *options, "-r", str(lock)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MissingError(
            f"{lock}: its requirements could not be installed for Python 3.{platform.minor} on {platform.machine} "
            f"with glibc 2.{platform.glibc}: {done.stderr.strip()}. Check that pip reaches its index (pip config "
            "list), then run the command again."
        )
    subprocess.run([*_TAR, str(scratch / _ARCHIVE), "--directory", str(folder), "."], check=True)
    shutil.rmtree(folder)
