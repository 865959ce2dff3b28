"""Programs that run inside a container, sent as source text to the interpreter (3.9 or later) of its image.

Each stands alone: the standard library only, nothing of ours, no syntax younger than 3.9 outside annotations.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

__all__ = ["command"]


def command(python: str, program: Literal["run", "end"], *args: str) -> list[str]:
    """What runs ``program`` inside, isolated from the environment, user site and working directory."""
    return [python, "-I", "-S", "-W", "ignore", "-c", _source(program), *args]


@cache
def _source(program: str) -> str:
    return files(__package__).joinpath(f"{program}.py").read_text(encoding="utf-8")
