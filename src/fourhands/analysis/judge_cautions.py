"""What a reader must know of the models whose word stands in the tables, and of what nobody decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from fourhands.analysis.findings.agreement import heard_voices
from fourhands.analysis.findings.evidence import SCHEMES, failed_arms
from fourhands.analysis.study import Study
from fourhands.analysis.trust import Trust, Voice, trust_in
from fourhands.analysis.words import count
from fourhands.model.agreement import Verdict
from fourhands.model.audit import AUDITS, AuditName

__all__ = ["judge_cautions"]

_MUCH: Final = 1 / 3
"""Of a population, so much left undecided is worth a word: its composition may be another."""
_SUBJECTS: Final = {
    AuditName.SWE_INTERACT: "why conversations failed",
    AuditName.SWE_TOUCH: "why trials failed under the user's hands",
    AuditName.GOALS: "how much of the goals plans and code reach",
}


def judge_cautions(study: Study) -> Iterator[str]:
    """All that apply: of each judge in each audit, of users' own models, then of what is left open in each scheme."""
    for voice, runs in heard_voices(study).items():
        if told := _standing(voice, trust_in(study, voice, runs)):
            prompt = f" (prompt version {voice.prompt_version})"
            yield f"{voice.judge}{prompt} says {_SUBJECTS[voice.audit]}: {told}"
    yield from _simulated(study)
    yield from _left_open(study)


def _standing(voice: Voice, trust: Trust) -> str | None:
    if voice.audit_version != AUDITS[voice.audit].version:
        return "its answers are to an older question, and count nowhere; fourhands audit judge asks anew."
    if trust.is_trusted:
        return None
    if trust.is_audited:
        return f"{trust.told} with people. It is in no headline, and its numbers are no more than its word."
    if trust.verdict is Verdict.TOO_LITTLE:
        return (
            "unaudited, for of what people read there is too little to say; fourhands audit sheet with more items "
            "that execution and events leave open, for two people or more, says more."
        )
    if trust.is_outdated:
        return (
            "unaudited, for its agreement with people was measured with another version of the question or of its "
            "prompt; fourhands audit sheet begins anew."
        )
    return "unaudited, no person has checked how far it can be trusted; fourhands audit sheet begins that."


def _simulated(study: Study) -> Iterator[str]:
    failures = [failure for arm in failed_arms(study) for failure in arm.failures]
    found = Counter(voice for failure in failures for voice in failure.simulated)
    for voice in sorted(found, key=lambda each: each.judge):
        yield (
            f"{voice.judge}, the user's own model, is all that tells whether some requirement is met in "
            f"{count(found[voice], 'failure')}: unaudited. What its word makes of why is in no headline, and in rows "
            "of its own only. Checks in the ledger would tell."
        )


def _left_open(study: Study) -> Iterator[str]:
    arms = failed_arms(study)
    for scheme in SCHEMES:
        failures = [failure for arm in arms if arm.scheme is scheme for failure in arm.failures]
        left = sum(bool(failure.left) for failure in failures)
        if left > _MUCH * len(failures):
            waiting = sum(failure.waits for failure in failures)
            yield (
                f"Execution and events alone do not tell {_SUBJECTS[scheme]} in {left} of "
                f"{count(len(failures), 'failure')}: what failures are composed of may be otherwise there."
                + (f" {waiting} of them wait for fourhands ablate." if waiting else "")
            )
