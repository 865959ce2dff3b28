"""Why conversations failed, as clauses of the headline: by execution and events; by a judge only if it is trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from fourhands.analysis.findings.arms import Arm
from fourhands.analysis.findings.evidence import Failure, failed_arms
from fourhands.analysis.study import Study
from fourhands.analysis.trust import trust_in
from fourhands.analysis.words import count
from fourhands.model.audit import AuditName
from fourhands.model.failure import FailureLabel

__all__ = ["why_failed"]

_WORDS: Final[dict[str, str]] = {
    FailureLabel.TECHNICAL: "code that is wrong though it was understood",
    FailureLabel.FORGOTTEN: "a requirement that was said and never taken up",
    FailureLabel.REGRESSION: "a requirement that held and broke again",
    FailureLabel.MISINTERPRETATION: "a requirement that was taken for something else",
    FailureLabel.MISSING: "a requirement that nobody said",
}


def why_failed(study: Study, arms: Iterable[Arm]) -> list[str]:
    """Of these arms together, as far as their users talk; empty where nothing is known of why.

    A judge is heard on what execution and events leave open, if its agreement with people was measured, by the same
    question and prompt and for all runs that it spoke of, and is good enough, as a whole and in the label that is
    told; of others nothing is said here. Nor of what rests on the word of a user's own model, whose agreement nobody
    measures.
    """
    own = {(arm.agent, arm.model, arm.condition) for arm in arms}
    failures = [
        failure
        for found in failed_arms(study)
        if found.scheme is AuditName.SWE_INTERACT
        and (found.arm.agent, found.arm.model, found.arm.condition) in own
        for failure in found.failures
    ]
    shown = Counter(label for failure in failures for label in failure.found)
    judged = [*_judged(study, failures)]
    left = _left(failures)
    told = []
    if shown:
        told.append(f"of {count(len(failures), 'failure')} {_all(shown)}")
    if left and shown and not judged:
        told.append(f"in {left} of the {len(failures)} something is left open")
    return told + judged


def _all(shown: Counter[str]) -> str:
    """Each label, with its trials; a trial may have several."""
    first, *others = _ranked(shown)
    told = [f"{shown[first]} had {_WORDS[first]}", *(f"{shown[label]} {_WORDS[label]}" for label in others)]
    return " and ".join([", ".join(told[:-1]), told[-1]]) if others else told[0]


def _ranked(shown: Counter[str]) -> list[str]:
    """Those of most trials first; of equally many, by the paper's order."""
    order = [*_WORDS]
    return sorted(shown, key=lambda label: (-shown[label], order.index(label)))


def _judged(study: Study, failures: Sequence[Failure]) -> Iterator[str]:
    voices = {voice for failure in failures for voice in failure.opinions}
    left = _left(failures)
    for voice in sorted(voices, key=lambda each: (each.judge, each.prompt_version)):
        heard = [failure for failure in failures if voice in failure.opinions]
        runs = {failure.trial.run for failure in heard}
        added = Counter(label for failure in heard for label in failure.added(voice))
        trusts = ((label, trust_in(study, voice, runs, label)) for label in _ranked(added))
        if said := next(((label, trust) for label, trust in trusts if trust.is_trusted), None):
            label, trust = said
            read = _left(heard)
            yield (
                f"{f'of the {read} that it read, ' if read < left else ''}of {left} in which execution and events "
                f"leave something open, {voice.judge} ({trust.told} with people) reads {added[label]} as "
                f"{_WORDS[label]}"
            )


def _left(failures: Iterable[Failure]) -> int:
    return sum(bool(failure.left) for failure in failures)
