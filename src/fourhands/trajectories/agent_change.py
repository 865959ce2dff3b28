"""Which files the final state has otherwise than the user alone would have left them: what the agent worked on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fourhands.model.event import Actor, Event, EventKind
from fourhands.trajectories.ablations import printable_path

__all__ = ["ChangedFiles", "changed_files"]


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """Paths. ``by_agent``: of the final state, where the agent's hand is still seen. ``by_user``: ever.

    ``made`` are those of the agent's that were not there without it.
    """

    by_agent: frozenset[str]
    by_user: frozenset[str]
    made: frozenset[str] = frozenset()

    def is_elsewhere(self, reference: Iterable[str]) -> bool:
        """Whether the agent's hand is seen in no file that the user or the reference changed.

        What is done in a new file may be the task, done in another place than the reference does it: that file's
        name tells nothing.

        Args:
            reference: its paths, as ``ablation.json`` has them.
        """
        is_apart = self.by_agent.isdisjoint(self.by_user | self.made)
        return is_apart and not set(map(printable_path, self.by_agent)) & set(reference)


_Content = tuple[str | None, int | None]
"""A hash and a mode; ``None``: no file."""


@dataclass(slots=True)
class _File:
    """``now`` is as it is, ``alone`` as it would be without the agent."""

    now: _Content
    alone: _Content
    is_mixed: bool = False
    """Whether the user wrote where the agent had been: what it would be without the agent is not known."""


def changed_files(events: Iterable[Event]) -> ChangedFiles:
    """Fold the events of an attempt. A change that the agent took back is not its own any more."""
    files: dict[str, _File] = {}
    by_user: set[str] = set()
    for event in events:
        if event.kind is not EventKind.WORKSPACE_CHANGED:
            continue
        for change in event.body["files"]:
            path, modes = change["path"], change["modes"]
            old, new = (change["old"], modes[0]), (change["new"], modes[1])
            file = files.setdefault(path, _File(old, old))
            if event.actor is Actor.USER:
                by_user.add(path)
                file.is_mixed = file.is_mixed or file.alone != old
                file.alone = new
            file.now = new
    changed = {path for path, file in files.items() if file.is_mixed or file.now != file.alone}
    made = {path for path in changed if files[path].alone[0] is None}
    return ChangedFiles(frozenset(changed), frozenset(by_user), frozenset(made))
