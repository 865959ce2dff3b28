"""What of an agent lies on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fourhands.engine.agents.registry import AgentEntry
from fourhands.model.errors import MissingError
from fourhands.tasks.cache import cache_root, nothing_built

__all__ = ["Installed", "find_installed", "measure"]


@dataclass(frozen=True, slots=True)
class Installed:
    """An agent that can be run at once.

    ``bytes`` is what it takes on the disk, the interpreter that it shares with others left out.
    """

    bytes: int

    @property
    def megabytes(self) -> int:
        """To the nearest, of a million bytes each."""
        return round(self.bytes / 1e6)


def find_installed(entry: AgentEntry) -> Installed | None:
    """Look for an agent without bringing anything in; ``None`` if something of it is missing."""
    try:
        with nothing_built():
            return measure(entry)
    except MissingError:
        return None


def measure(entry: AgentEntry) -> Installed:
    """Bring an agent in if it is not there yet, and see what it takes.

    Raises:
        MissingError: as `AgentEntry.prefixes`.
    """
    cached = [prefix for prefix in entry.prefixes() if prefix.is_relative_to(cache_root())]
    # The first is the agent's own; behind it stands what it runs on.
    return Installed(_size(cached[0]) if cached else 0)


def _size(folder: Path) -> int:
    paths = [path for path in folder.rglob("*") if not path.is_symlink()]
    inodes = {(status := path.stat()).st_ino: status.st_blocks * 512 for path in paths}
    return sum(inodes.values())
