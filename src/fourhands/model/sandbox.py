"""What users, edits and verifiers need of an environment: run a program in it, with bytes in and out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

__all__ = ["WORKDIR", "ExecResult", "Sandbox", "SandboxSpec"]

WORKDIR: Final = "/testbed"
"""Where the repository lies inside, as recorded trajectories of SWE-bench expect it."""


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """What a task needs of the machine, as paths of the host.

    ``repository`` is laid at ``WORKDIR`` as a private, writable view; ``prefixes`` (interpreters, installed
    packages) are readable inside at their own paths; ``env`` is added to every command's environment, and its
    ``PATH`` decides what ``python`` is inside. Host paths can be seen inside: they must tell nothing.
    """

    repository: Path
    prefixes: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExecResult:
    """What a program left. ``stdout_bytes``/``stderr_bytes`` count all it wrote, also what was cut off.

    ``code`` is the exit status, ``128 + signal`` when a signal ended it, and 124 when it was out of time.
    """

    code: int
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    timed_out: bool = False


class Sandbox(Protocol):
    """An isolated environment that holds a repository at ``workdir``."""

    @property
    def workdir(self) -> str:
        """Absolute path of the repository inside."""
        ...

    @property
    def python(self) -> str:
        """Absolute path, inside, of an interpreter (3.9 or later) that nobody inside can replace."""
        ...

    async def run(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout: float | None = None,
        limit: int = 1 << 30,
    ) -> ExecResult:
        """Run ``argv`` to its end, without a shell. May be called from any event loop, in any thread.

        Args:
            argv: program and arguments; the program is looked up on the sandbox's PATH.
            cwd: working directory inside; ``workdir`` when ``None``.
            env: added to the sandbox's own environment.
            stdin: what the program reads.
            timeout: seconds; then the program and all it started are killed.
            limit: bytes kept of each stream; the rest is read, counted and dropped.

        Raises:
            SandboxError: the sandbox is gone or cannot start a program.
        """
        ...

    async def kill_all(self) -> None:
        """End every process inside but the sandbox's own first one."""
        ...
