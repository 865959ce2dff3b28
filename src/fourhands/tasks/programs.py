"""Programs of the machine that a task needs besides Python: found on PATH, or named as missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from fourhands.model.errors import MissingError

__all__ = ["PROGRAM", "Program", "find_program", "lacking", "needed_programs", "program_path"]

PROGRAM: Final = r"^(?:node)>=[1-9]\d*$"
"""How a task names a program: its name and its least major version."""

_ASKED: Final = {"node": ("-p", "process.execPath + '\\n' + process.version")}
"""What makes a program print its own file and its version: on PATH there may be a version manager's shim."""
_SOURCES: Final = {
    "node": "from nodejs.org or with the system's package manager (Debian: apt install nodejs)"
}
_PATIENCE: Final = 30.0


@dataclass(frozen=True, slots=True)
class Program:
    """A program of this machine. ``file`` is the executable itself, no link to it; ``version`` as it says it."""

    name: str
    file: Path
    version: str


def find_program(needed: str) -> Program | None:
    """The program that ``needed`` (``node>=20``) names, if PATH has it in such a version."""
    name, _, least = needed.partition(">=")
    program = _on_path(name, os.environ.get("PATH", os.defpath))
    if program is None or int((re.search(r"\d+", program.version) or ["0"])[0]) < int(least):
        return None
    return program


def needed_programs(needed: Iterable[str], task: str) -> list[Program]:
    """The programs that the task needs.

    Raises:
        MissingError: one is not on PATH, or too old; the message says how to get it.
    """
    wanted = tuple(needed)
    if said := lacking(wanted, task):
        raise MissingError(said)
    return [program for each in wanted if (program := find_program(each))]


def lacking(needed: Iterable[str], task: str) -> str | None:
    """Which programs the task needs and this machine has not, and how to get them; ``None`` if it has all."""
    missing = [each for each in needed if find_program(each) is None]
    if not missing:
        return None
    ways = "; ".join(
        f"needs {each} (not found): get it {_SOURCES[each.partition('>=')[0]]}" for each in missing
    )
    return f"task {task} {ways}; or leave the task out"


def program_path(programs: Iterable[Program], path: str) -> str:
    """``path``, a search path that begins with the task's Python, changed so that it finds ``programs``."""
    first, _, rest = path.partition(os.pathsep)
    folders = [
        str(program.file.parent)
        for program in programs
        if os.path.realpath(shutil.which(program.name, path=path) or "") != str(program.file)
    ]
    return os.pathsep.join([first, *dict.fromkeys(folders), rest])


@cache
def _on_path(name: str, path: str) -> Program | None:
    found = shutil.which(name, path=path)
    if found is None:
        return None
    try:
        done = subprocess.run([found, *_ASKED[name]], capture_output=True, check=True, timeout=_PATIENCE)
        file, version = done.stdout.decode().splitlines()
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Program(name, Path(file).resolve(), version)
