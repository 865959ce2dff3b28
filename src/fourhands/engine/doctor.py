"""What trials need of a machine, tried one by one."""

from __future__ import annotations

import asyncio
import platform
import shutil
import subprocess
from dataclasses import dataclass

from fourhands.engine.environments import see_that_it_runs
from fourhands.engine.sandbox import probe
from fourhands.model.errors import SandboxError
from fourhands.tasks.cache import cache_root

__all__ = ["Finding", "examine"]

_PROGRAMS = {"git": "apt-get install git", "tar": "apt-get install tar", "bash": "apt-get install bash"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at, and what to do when it is not as trials need it."""

    what: str
    ok: bool
    found: str
    remedy: str = ""


async def examine() -> list[Finding]:
    """Look at the interpreter, the programs, the cache, the sandbox and Docker."""
    findings = [Finding("Python", ok=True, found=platform.python_version())]
    findings += [await asyncio.to_thread(_program, name, remedy) for name, remedy in _PROGRAMS.items()]
    cache = cache_root()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(cache).free >> 30
        findings.append(Finding("cache", ok=True, found=f"{cache}, {free} GiB free"))
    except OSError as error:
        findings.append(
            Finding("cache", ok=False, found=str(error), remedy="set FOURHANDS_CACHE to a folder you own")
        )
    can = await probe(cache / "sandboxes")
    if can.problem is None:
        found = f"runs as {can.user}, {can.layering}, processes limited by {can.process_limit or 'nothing'}"
        findings.append(Finding("sandbox", ok=True, found=found))
    else:
        findings.append(Finding("sandbox", ok=False, found="cannot run", remedy=can.problem))
    findings.append(await asyncio.to_thread(_containers))
    return findings


def _containers() -> Finding:
    """Whether Docker is there; nothing is missing without it."""
    try:
        see_that_it_runs("docker")
    except SandboxError:
        return Finding("docker", ok=True, found="not running here; only --env docker needs it")
    return Finding("docker", ok=True, found="runs: --env docker can be used")


def _program(name: str, remedy: str) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding(name, ok=False, found="not on PATH", remedy=remedy)
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return Finding(name, ok=True, found=(said.stdout.splitlines() or [path])[0])
