"""Which of the seven types a failure under the user's hands is: by execution first, then by events. Pure.

The rules, their order and what each rests on are in ``docs/failures.md``. What they leave open is for a judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.failed_trial import FailedTrial, failed_trial
from fourhands.model.ablation import Ablation, Cause, Probe, ProbeName, ProbeScope
from fourhands.model.event import Event
from fourhands.model.failure import FailureType, FailureTyping, FoundBy
from fourhands.model.outcome import Verdict

__all__ = ["failure_typing"]

_WHERE: Final = {"place": "at the edit's place", "files": "in the edited files", "all": "as a whole"}


def failure_typing(
    events: Sequence[Event], read_blob: Callable[[str], bytes], ablation: Ablation | None
) -> FailureTyping | None:
    """Type the failure of one attempt.

    Args:
        events: of the attempt, in order.
        read_blob: the content of a blob of the attempt, by its hash; empty where it cannot be read.
        ablation: what was executed of it.

    Returns:
        ``None`` if it is no such failure: the attempt has not ended, is not scored or is resolved, or its condition
        has no user's edit that conflicts. A typing without a type says why there is none.
    """
    trial = failed_trial(events, read_blob)
    if trial is None:
        return None
    if trial.verified is None:
        why = "the record lacks the final state"
        return FailureTyping(FailureType.INSUFFICIENT_EVIDENCE, FoundBy.EVENTS, (), why)
    found = _typed(trial, ablation if ablation and ablation.tree == trial.verified.body["tree"] else None)
    return replace(found, events=tuple(sorted({*found.events, trial.verified.seq})))


def _typed(trial: FailedTrial, ablation: Ablation | None) -> FailureTyping:
    if ablation is None:
        return _never_worked(trial) or _not_executed(trial)
    case = _Case(trial, ablation)
    if found := _removed(case) or _right_before(case):
        return found
    if not ablation.is_final:
        return _open("the tests ran out of time: run fourhands ablate again")
    if not ablation.is_typed:
        return _open("ablated by an older version: run fourhands ablate again")
    found = next(filter(None, (rule(case) for rule in _RULES)), None)
    return found or _undecided(case)


@dataclass(frozen=True, slots=True)
class _Case:
    trial: FailedTrial
    ablation: Ablation

    def verdict(self, name: ProbeName, scope: ProbeScope | None = None) -> Verdict | None:
        """Of that probe; ``None`` if it was not made."""
        probe = self.ablation.probe(name, scope)
        return probe.verdict if probe else None

    def solved_at(self, *scopes: ProbeScope) -> ProbeScope | None:
        """The first of the scopes at which the reference in place of the edit solves it."""
        solved = (s for s in scopes if self.verdict(ProbeName.REFERENCE_INSTEAD, s) is Verdict.RESOLVED)
        return next(solved, None)

    @property
    def is_gone(self) -> FoundBy | None:
        """By what it is found that nothing of the edit is left; ``None`` if something is, for all that is known."""
        if not self.ablation.stood:
            return FoundBy.EXECUTION
        standing = self.trial.standing
        return FoundBy.EVENTS if standing and standing.gone else None


# One rule each, in the order in which they are asked.


def _removed(case: _Case) -> FailureTyping | None:
    """The edit alone stands between the agent's work and success."""
    if case.ablation.by is not Cause.REMOVAL:
        return None
    why = "without the user's edit the final state is resolved"
    return _found(FailureType.RETAINED_CONFLICT, FoundBy.EXECUTION, case.trial.deliveries, why)


def _right_before(case: _Case) -> FailureTyping | None:
    """An earlier state, after the last edit, was right, and the agent alone has changed it since."""
    probes = map(case.ablation.probe, (ProbeName.AS_LAST_TESTED, ProbeName.BEFORE_LAST_CHANGE))
    right = next((each for each in probes if each and each.verdict is Verdict.RESOLVED), None)
    if right is None:
        return None
    cut = f"; it was cut ({case.trial.ended_by})" if case.trial.ended_by.is_cut else ""
    which = (
        "as it last ran tests on it" if right.name is ProbeName.AS_LAST_TESTED else "before its last change"
    )
    events = (*_shown(right), *case.trial.agents_changes[-1:])
    why = f"the agent's code {which} is resolved, and its final state is not{cut}"
    return _found(FailureType.VERIFICATION_BREAKDOWN, FoundBy.EXECUTION, events, why)


def _off_target(case: _Case) -> FailureTyping | None:
    """The agent's hand is seen in no file of the reference or of the edit, and nothing of the task is done."""
    aim, reference = case.trial.aim, case.ablation.reference_paths
    if reference is None or not aim.is_off(reference):
        return None
    why = "in the end nothing is changed by the agent"
    if changed := aim.changed.by_agent:
        why = f"its change is in {_listed(changed)}; neither the reference nor the user changes any of it"
    why = f"{why}, and no test that the task is to mend passes"
    return _found(FailureType.OFF_TARGET, FoundBy.EVENTS, case.trial.agents_changes, why)


def _spoils_the_reference(case: _Case) -> FailureTyping | None:
    """The reference in place of the edit solves it, and beside the edit it does not."""
    if case.ablation.by is not Cause.REPLACEMENT:
        return None
    if case.verdict(ProbeName.WITHOUT_EDIT) is Verdict.UNRESOLVED:
        why = "the reference in place of the user's edit is resolved, and beside it is not: the edit still does harm"
        return _found(FailureType.RETAINED_CONFLICT, FoundBy.EXECUTION, case.trial.deliveries, why)
    # The agent wrote into the edit: execution shows that the two together do harm, and not whose part does.
    return _by_lines(
        case, "what the user and the agent wrote there does harm, and the reference in its place does not"
    )


def _wrong_at_the_place(case: _Case) -> FailureTyping | None:
    """The reference at the place alone solves it, put beside what the agent wrote there, or over it."""
    if scope := case.solved_at("place"):
        return _wrong(case, scope)
    if case.verdict(ProbeName.PLACE_AS_REFERENCE) is not Verdict.RESOLVED:
        return None
    solves = "with the edit's place as the reference has it, all else as it stands is resolved"
    if by := case.is_gone:
        why = f"the user's edit is gone; {solves}: what stands in its place is wrong"
        return _found(FailureType.INCORRECT_REPLACEMENT, by, case.trial.agents_changes, why)
    return _by_lines(case, solves)


def _right_at_the_place(case: _Case) -> FailureTyping | None:
    """The reference everywhere but at the place solves it."""
    if case.verdict(ProbeName.REFERENCE_ELSEWHERE) is not Verdict.RESOLVED:
        return None
    solves = "the reference everywhere but at the edit's place is resolved with the agent's work at the place"
    if case.verdict(ProbeName.WITHOUT_PLACE) is Verdict.UNRESOLVED:
        why = f"{solves}, and without any is not"
        return _found(
            FailureType.INCOMPLETE_RECONCILIATION, FoundBy.EXECUTION, case.trial.agents_changes, why
        )
    why = f"{solves}, but without any as well: what is missing has nothing to do with the place"
    return _found(FailureType.OTHER_DEFECT, FoundBy.EXECUTION, case.trial.agents_changes, why)


def _wrong_beside_all_else(case: _Case) -> FailureTyping | None:
    """More of the reference than its part at the place solves it."""
    return _wrong(case, scope) if (scope := case.solved_at("files", "all")) else None


def _wrong(case: _Case, scope: ProbeScope) -> FailureTyping:
    """The reference in place of the edit solves it: is that place to blame, and whose work there?"""
    solves = f"the reference {_WHERE[scope]} is resolved"
    elsewhere = case.verdict(ProbeName.REFERENCE_ELSEWHERE)
    if scope != "place" and elsewhere is None:
        why = f"{solves}; nothing of it lies at the edit's place: what is missing is elsewhere"
        return _found(FailureType.OTHER_DEFECT, FoundBy.EXECUTION, case.trial.agents_changes, why)
    if scope != "place" and elsewhere is Verdict.NONE:
        return _undecided(case)
    by = case.is_gone
    if by is None:
        return _wrong_beside_the_edit(case, scope, solves)
    without = "" if scope == "place" else ", and without its part at the edit's place it is not"
    why = f"the user's edit is gone; {solves}{without}: what stands in its place is wrong"
    return _found(FailureType.INCORRECT_REPLACEMENT, by, case.trial.agents_changes, why)


def _wrong_beside_the_edit(case: _Case, scope: ProbeScope, solves: str) -> FailureTyping:
    """The edit stands: the control tells whether it does harm."""
    beside = case.verdict(ProbeName.REFERENCE_BESIDE, scope)
    if beside is Verdict.RESOLVED:
        why = f"{solves} beside the user's edit as well: the edit does no harm, the agent's own part is wrong"
        return _found(FailureType.OTHER_DEFECT, FoundBy.EXECUTION, case.trial.agents_changes, why)
    if beside is not Verdict.UNRESOLVED:
        return _undecided(case)
    if case.verdict(ProbeName.REFERENCE_AROUND, scope) is Verdict.UNRESOLVED:
        return _by_lines(case, f"{solves}, but has to write the lines that the user's edit stands on")
    why = f"{solves}, and beside the user's edit is not: the edit still does harm"
    return _found(FailureType.RETAINED_CONFLICT, FoundBy.EXECUTION, case.trial.deliveries, why)


def _other(case: _Case) -> FailureTyping | None:
    """Whatever of the reference is put in place of the edit: it still fails."""
    tried = [each for each in case.ablation.probes if each.name is ProbeName.REFERENCE_INSTEAD]
    if not tried or tried[-1].verdict is not Verdict.UNRESOLVED:
        return None
    assert case.trial.verified
    broken = len(case.trial.verified.body["pass_to_pass_failed"])
    tests = f"; {broken} tests that passed before fail" if broken else ""
    why = f"without the user's edit and with the reference {_WHERE[tried[-1].scope or 'all']} it still fails{tests}"
    return _found(FailureType.OTHER_DEFECT, FoundBy.EXECUTION, case.trial.agents_changes, why)


_RULES: Final = (
    _off_target,
    _spoils_the_reference,
    _wrong_at_the_place,
    _right_at_the_place,
    _wrong_beside_all_else,
    _other,
)


def _by_lines(case: _Case, shown: str) -> FailureTyping:
    """Where execution shows that the place is to blame, and not who: whose lines stand there?"""
    standing = case.trial.standing
    if standing is None:
        return _undecided(case)
    why = f"{shown}; {standing.words}"
    if standing.entirely:
        return _found(FailureType.RETAINED_CONFLICT, FoundBy.EVENTS, case.trial.deliveries, why)
    if standing.gone:
        return _found(FailureType.INCORRECT_REPLACEMENT, FoundBy.EVENTS, case.trial.agents_changes, why)
    return _open(why, case.trial.deliveries)


def _never_worked(trial: FailedTrial) -> FailureTyping | None:
    """What no execution is needed for: who never changed a thing, and was not cut, left the code as they found it."""
    if trial.agents_changes or trial.ended_by.is_cut:
        return None
    why = "the agent never changed anything"
    return _found(FailureType.OFF_TARGET, FoundBy.EVENTS, (), why)


def _not_executed(trial: FailedTrial) -> FailureTyping:
    if trial.deliveries:
        return _open("not ablated: run fourhands ablate")
    return _open("no edit was delivered, so that there is none to take out")


def _undecided(case: _Case) -> FailureTyping:
    stuck = _listed({path for probe in case.ablation.probes for path in probe.conflicts})
    why = f"the states that would tell could not be made ({stuck})" if stuck else case.ablation.detail
    if not case.trial.is_readable:
        why = f"{why}, and nothing of what the agent did can be read"
    elif case.trial.standing is None:
        why = f"{why}, and the record does not follow the user's lines"
    else:
        return _open(why, case.trial.deliveries)
    return _found(FailureType.INSUFFICIENT_EVIDENCE, FoundBy.EVENTS, case.trial.deliveries, why)


def _found(type_: FailureType, by: FoundBy, events: Sequence[int], why: str) -> FailureTyping:
    return FailureTyping(type_, by, tuple(events), why)


def _open(why: str, events: Sequence[int] = ()) -> FailureTyping:
    return FailureTyping(None, None, tuple(events), why)


def _shown(probe: Probe) -> Iterator[int]:
    if probe.seq is not None:
        yield probe.seq


def _listed(paths: frozenset[str] | set[str], most: int = 3) -> str:
    named = sorted(paths)
    more = f" and {len(named) - most} more" if len(named) > most else ""
    return ", ".join(named[:most]) + more
