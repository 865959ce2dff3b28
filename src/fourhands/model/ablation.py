"""Causal ablation: what executing a failed trial's final state without the user's edit has shown.

And what other states of it show, where that leaves open why the trial failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from fourhands.model.outcome import Verdict

__all__ = ["Ablation", "Cause", "Conclusion", "Probe", "ProbeName", "ProbeScope", "VerdictSource"]


class Conclusion(StrEnum):
    """Whether the user's edit caused the failure."""

    EDIT_CAUSED = "edit_caused"
    """Solved once the edit is out; or once the reference stands in its place, and not with the edit beside it."""
    ALSO_BROKEN_WITHOUT = "also_broken_without"
    """What is wrong is wrong without the edit too, or is solved with it; or nothing of the edit stood any more."""
    CANNOT_COMPOSE = "cannot_compose"
    """The states that would tell could not be made: the agent wrote into the edit, and nobody knows what else."""


class Cause(StrEnum):
    """How it was shown that the edit caused the failure."""

    REMOVAL = "removal"
    REPLACEMENT = "replacement"
    """Weaker: the agent's own work there was missing or mixed up with the edit, which spoils even the reference."""


class ProbeName(StrEnum):
    """The states that are made of a final state, and verified."""

    WITHOUT_EDIT = "without_edit"
    REFERENCE_INSTEAD = "reference_instead"
    """The edit is out, and the reference's part is in."""
    REFERENCE_BESIDE = "reference_beside"
    """The control: the reference's part is in, and the edit as well."""
    REFERENCE_AROUND = "reference_around"
    """What stood before the edit, and as much of the reference as fits beside the edit; only if that is not all."""
    AS_LAST_TESTED = "as_last_tested"
    """The agent's own state as it last ran tests on it, if it has changed it since, and nobody else has."""
    BEFORE_LAST_CHANGE = "before_last_change"
    """The agent's own state before its last change, where it ran no tests since the user's edit, or was cut."""
    PLACE_AS_REFERENCE = "place_as_reference"
    """The edit's place as the reference has it, whoever wrote there since; all else as it stands."""
    REFERENCE_ELSEWHERE = "reference_elsewhere"
    """All of the reference but its part at the edit's place, where the agent's work stands as it is."""
    WITHOUT_PLACE = "without_place"
    """The control of that: the base with all of the reference but its part at the edit's place."""


ProbeScope = Literal["place", "files", "all"]
"""How much of the reference was taken: the hunks at the edit's place, all in the edited files, or every one."""

VerdictSource = Literal["verifier", "cache", "trial"]
"""Run now, known from an equal state before, or that of the trial itself, whose state it is."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One state. It could not be composed where ``tree`` is ``None``: then ``conflicts`` are the paths.

    ``key`` is the verdict's (repository state, verifier, environment), ``seconds`` are the tests' when they ran.
    ``scope`` tells how much of the reference was taken. ``seq`` is of an earlier state the event that shows it.
    ``timed_out``: the tests ran out of time, which the machine may be to blame for.
    """

    name: ProbeName
    verdict: Verdict
    tree: str | None = None
    key: str | None = None
    seconds: float | None = None
    source: VerdictSource | None = None
    scope: ProbeScope | None = None
    conflicts: tuple[str, ...] = ()
    timed_out: bool = False
    seq: int | None = None


@dataclass(frozen=True, slots=True)
class Ablation:
    """The conclusion on one attempt, and the probes it follows from, in the order they were made.

    ``tree`` and ``key`` are of the final state as the trial was verified. ``stood``: whether anything of the edit
    was left in it, be it elsewhere or with other white space. ``user_lines`` are the lines of each intervention
    that stood there.

    ``reference_paths`` are the files that the reference changes. ``is_typed``: the states that tell the type of
    failure were verified too, as far as they were needed; both are missing where an older version ablated.
    """

    conclusion: Conclusion
    by: Cause | None
    detail: str
    stood: bool
    user_lines: Mapping[str, int]
    tree: str
    key: str
    probes: tuple[Probe, ...]
    reference_paths: tuple[str, ...] | None = None
    is_typed: bool = False

    @property
    def is_final(self) -> bool:
        """Whether nothing would be concluded otherwise by ablating again: no probe ran out of time."""
        return not any(probe.timed_out for probe in self.probes)

    def probe(self, name: ProbeName, scope: ProbeScope | None = None) -> Probe | None:
        """The one of that name, and of that scope if one is given; ``None`` if it was not made."""
        found = (each for each in self.probes if each.name is name and scope in {None, each.scope})
        return next(found, None)
