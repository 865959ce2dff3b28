"""The labels of a failed conversation: by execution first, then by events; what these leave is a judge's. Pure.

The five are the SWE-Interact paper's, whose rules were not published: ours stand in ``docs/failures.md``. A label
that is found here by `FoundBy.JUDGE` rests on the word of the user's own model, where no check can tell: no judge of
an audit was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from json import dumps
from typing import Any, Final

import orjson
from pydantic import TypeAdapter

from fourhands.analysis.labels.course import Courses, courses
from fourhands.analysis.labels.why import Finding, reasons, tests_named
from fourhands.model.ablation import Ablation
from fourhands.model.condition import Condition
from fourhands.model.event import Event, EventKind
from fourhands.model.failure import FailureLabel, FoundBy, FoundLabel, LabelledFailure, Undecided
from fourhands.model.outcome import Outcome, Termination, Verdict
from fourhands.trajectories.ledgers import recorded_ledger

__all__ = ["failure_from_json", "failure_json", "failure_labels", "requirement_labels"]

_FAILURE: Final = TypeAdapter(LabelledFailure)


def failure_labels(
    events: Sequence[Event], read_blob: Callable[[str], bytes], *, ablation: Ablation | None = None
) -> LabelledFailure | None:
    """What execution and events show of why a conversation failed.

    Args:
        events: of an attempt, in order.
        read_blob: the content of a blob of the attempt, by its hash; empty where it cannot be read.
        ablation: what causal ablation concluded on it; of another state than the final one it counts for nothing.

    Returns:
        ``None`` for what is not of the population: a trial that has not ended, is not scored, resolved, broke the
        working agreement, or in which nobody talked.
    """
    if not _is_failed_conversation(events):
        return None
    ledger = recorded_ledger(events, read_blob)
    standing = courses(events, ledger)
    found = [*reasons(standing, events, ledger, read_blob, ablation)]
    return _labelled([*found, *_of_trial(standing, events, found)])


def requirement_labels(
    events: Sequence[Event], read_blob: Callable[[str], bytes], *, ablation: Ablation | None = None
) -> LabelledFailure:
    """The same of each requirement that is not met in the end, whatever came of the conversation."""
    ledger = recorded_ledger(events, read_blob)
    return _labelled(reasons(courses(events, ledger), events, ledger, read_blob, ablation))


def failure_json(found: LabelledFailure) -> str:
    """As the tidy table holds it."""
    told: dict[str, Any] = _FAILURE.dump_python(found)
    try:
        return orjson.dumps(told).decode()
    except orjson.JSONEncodeError:  # lone surrogates: broken text from a model, in its words
        return dumps(told, separators=(",", ":"))


def failure_from_json(text: str) -> LabelledFailure:
    """From the tidy table.

    Raises:
        pydantic.ValidationError: it is no such thing.
    """
    return _FAILURE.validate_json(text)


def _is_failed_conversation(events: Sequence[Event]) -> bool:
    started = next((event.body for event in events if event.kind is EventKind.TRIAL_STARTED), None)
    ended = next((event.body for event in reversed(events) if event.kind is EventKind.TRIAL_ENDED), None)
    if started is None or ended is None or not Condition.parse(started["condition"]).talks:
        return False
    outcome = Outcome(Verdict(ended["verdict"]), Termination(ended["termination"]), ended["reward"])
    return (
        outcome.is_scored
        and outcome.verdict is Verdict.UNRESOLVED
        and outcome.termination is not Termination.PROTOCOL_FAILURE
    )


def _labelled(found: Iterable[Finding]) -> LabelledFailure:
    every = list(found)
    return LabelledFailure(
        tuple(each for each in every if isinstance(each, FoundLabel)),
        tuple(each for each in every if isinstance(each, Undecided)),
    )


def _of_trial(standing: Courses, events: Sequence[Event], found: Sequence[Finding]) -> Iterator[Finding]:
    """What failed that belongs to no requirement; where a requirement explains the failure, nothing."""
    last = events[-1].seq if standing.verified is None else standing.verified
    unseen = [course.requirement for course in standing.requirements if course.met is None]
    failing = (*standing.shared, *standing.unmapped)
    if found:
        return
    if unseen:
        yield Undecided(None, (last,), f"nothing shows whether {', '.join(unseen)} is met")
    elif standing.shared:
        why = f"of several requirements, whose checks pass: {tests_named(standing.shared)}"
        yield Undecided(None, (last,), why)
    elif failing and set(failing) == set(standing.broken):
        why = f"every requirement is met, and what passed before is broken: {tests_named(standing.broken)}"
        seen = [course.requirement for course in standing.requirements if course.judged]
        if seen:
            why = f"{why}; that {', '.join(seen)} is met is the word of the user's own model"
        by = FoundBy.JUDGE if seen else FoundBy.EXECUTION
        yield FoundLabel(FailureLabel.TECHNICAL, by, None, (last,), why)
    elif failing:
        yield Undecided(None, (last,), f"of no requirement: {tests_named(standing.unmapped)}")
    else:
        yield Undecided(None, (last,), "the record names no test that failed")
