"""What the local sandbox can do on this machine."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from fourhands.engine.sandbox import cgroup
from fourhands.engine.sandbox.local import LocalSandbox
from fourhands.engine.sandbox.root import Layering
from fourhands.model.errors import FourhandsError
from fourhands.model.sandbox import SandboxSpec

__all__ = ["Capability", "probe"]


@dataclass(frozen=True, slots=True)
class Capability:
    """What a trial sandbox showed. ``problem`` says why there is none and what to do, or is ``None``.

    ``layering`` is how a repository is laid; ``process_limit`` what bounds the processes, ``None`` if nothing does.
    """

    user: str
    problem: str | None
    layering: Layering | None
    process_limit: str | None


def _process_limit() -> str | None:
    if os.geteuid() != 0:
        return "RLIMIT_NPROC"
    token = f"probe-{os.getpid()}"
    found = cgroup.create(token, 1) is not None
    cgroup.remove(token)
    return "pids cgroup" if found else None


async def probe(base: Path) -> Capability:
    """Start a sandbox below ``base``, run a program in it, and remove it."""
    user = "root" if os.geteuid() == 0 else f"ordinary user (uid {os.geteuid()})"
    with tempfile.TemporaryDirectory() as folder:
        try:
            async with LocalSandbox(SandboxSpec(Path(folder)), base=base) as sandbox:
                done = await sandbox.run([sandbox.python, "-I", "-S", "-c", "open('/testbed/probe', 'x')"])
        except FourhandsError as error:
            return Capability(user, str(error), None, None)
    problem = f"the sandbox does not work: {done.stderr.decode(errors='replace')}" if done.code else None
    return Capability(user, problem, sandbox.layering, _process_limit())
