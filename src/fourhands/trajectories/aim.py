"""Whether an agent worked on something else than its task, as far as its record and its tests can tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.model.event import Event, EventKind
from fourhands.model.outcome import Termination
from fourhands.trajectories.agent_change import ChangedFiles, changed_files

__all__ = ["Aim", "aim_of"]

_PASSED: Final = frozenset({"passed", "xfailed"})


@dataclass(frozen=True, slots=True)
class Aim:
    """Of an attempt that failed.

    Attributes:
        changed: the files that are otherwise for the agent in the end.
        is_cut: whether a limit stopped it: then nobody knows where it was going.
        has_fixed: whether any test that the task is to mend passes: then something of the task is done, wherever.
    """

    changed: ChangedFiles
    is_cut: bool
    has_fixed: bool

    def is_off(self, reference: Iterable[str]) -> bool:
        """Whether it worked on something else; ``reference`` are its paths, as ``ablation.json`` has them."""
        return not self.is_cut and not self.has_fixed and self.changed.is_elsewhere(reference)


def aim_of(events: Sequence[Event]) -> Aim:
    """Fold the events of an attempt that has ended."""
    verified = next((event.body for event in reversed(events) if event.kind is EventKind.VERIFIED), {})
    return Aim(
        changed=changed_files(events),
        is_cut=Termination(events[-1].body["termination"]).is_cut,
        has_fixed=not _PASSED.isdisjoint(verified.get("fail_to_pass", {}).values()),
    )
