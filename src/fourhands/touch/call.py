"""One command of a shell line, and what it may ask of the shell around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fourhands.touch.flow import Flow

__all__ = ["Call", "Handler", "Shell"]


class Shell(Protocol):
    """The shell that a command runs in."""

    def path(self, word: str) -> str | None:
        """The path of ``word`` relative to the repository; ``""`` for the repository itself.

        ``None`` when it lies outside, or the text does not tell it.
        """
        ...

    def files(self, words: Sequence[str]) -> Flow:
        """Whole files named by ``words``; a wildcard is a listing. What is no file of the repository is left out."""
        ...

    def read(self, flow: Flow) -> None:
        """Note that ``flow`` was read to its end."""
        ...

    def run(self, argv: Sequence[str], stdin: Flow, here: str | None = None) -> Flow:
        """Run another command in this shell; what it lets through. ``here`` as in ``Call``."""
        ...

    def source(self, script: str) -> Flow:
        """Run a script in a shell of its own; what it lets through."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """A command: ``name`` without folders, its arguments, and what comes in.

    ``here`` is the text of a here-document or here-string on its standard input.
    """

    name: str
    args: tuple[str, ...]
    stdin: Flow
    here: str | None
    shell: Shell

    def inputs(self, operands: Sequence[str]) -> Flow:
        """The files named by ``operands``, or standard input if there are none; ``-`` is standard input too."""
        if not operands:
            return self.stdin
        flows = (self.stdin if word == "-" else self.shell.files([word]) for word in operands)
        return tuple(piece for flow in flows for piece in flow)


Handler = Callable[[Call], Flow]
"""What a command lets through to its standard output; what it reads and does not pass on, it notes."""
