"""One agent, checked on this machine."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from fourhands.engine.agents.checking.findings import Finding, findings
from fourhands.engine.agents.checking.installed import find_installed, measure
from fourhands.engine.agents.checking.trial import play
from fourhands.engine.agents.registry import AGENTS
from fourhands.model.errors import FourhandsError, MissingError
from fourhands.model.event import Event
from fourhands.trajectories.run_folder import RunFolder

__all__ = ["Checked", "check_agent"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found of an agent. ``kept`` is the folder of its run, where something was not as it must be."""

    agent: str
    findings: tuple[Finding, ...]
    kept: Path | None = None

    @property
    def ok(self) -> bool:
        """Whether all is as it must be."""
        return all(finding.ok for finding in self.findings)


def check_agent(agent: str, watch: Callable[[Event], None]) -> Checked:
    """Install an agent of the registry if it is not there yet, and play one trial with it.

    Args:
        agent: its name.
        watch: called with every event of the trial, from several threads.

    Raises:
        SandboxError: no sandbox can run here.
    """
    entry = AGENTS[agent]
    was_there = find_installed(entry) is not None
    began = time.monotonic()
    try:
        megabytes = measure(entry).megabytes
    except MissingError as error:
        return Checked(agent, (Finding("installed", ok=False, seen="not here", remedy=str(error)),))
    when = "was there" if was_there else f"in {time.monotonic() - began:.0f} s"
    size = f"{megabytes} MB" if megabytes else "nothing of its own"
    installed = Finding("installed", ok=True, seen=f"{entry.version}: {size}, {when}", cell=str(megabytes))
    folder = Path(tempfile.mkdtemp(prefix="fourhands-check-"))
    try:
        evidence = asyncio.run(play(agent, RunFolder(folder), watch))
    except FourhandsError as error:
        shutil.rmtree(folder)
        return Checked(agent, (installed, Finding("runs", ok=False, seen="not begun", remedy=str(error))))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    checked = Checked(agent, (installed, *findings(evidence)))
    if not checked.ok:
        return replace(checked, kept=folder)
    shutil.rmtree(folder)
    return checked
