"""What the verifier found, test by test, and what causal ablation concluded, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from fourhands.model.ablation import Ablation, Cause, Conclusion, Probe, ProbeScope
from fourhands.model.event import Event
from fourhands.report.story.clip import clip
from fourhands.report.story.model import Limits, Verification
from fourhands.report.story.payloads import Payloads

__all__ = ["PASSED", "ablation_words", "probe_name", "tests_words", "verification"]

PASSED: Final = frozenset({"passed", "xfailed"})
"""Statuses that count as passed: an expected failure does, as in SWE-bench."""


def verification(event: Event, payloads: Payloads, limits: Limits) -> Verification:
    """The `verified` event.

    Raises:
        KeyError: the body lacks its verdict.
    """
    body = event.body
    to_fix = _tests(body.get("fail_to_pass"))
    broken = _tests(body.get("pass_to_pass_failed"))
    output = payloads.blob(body.get("output"))
    printed = clip(output, most_bytes=limits.output_bytes, most_lines=limits.output) if output else None
    return Verification(
        seq=event.seq,
        verdict=str(body["verdict"]),
        reward=body.get("reward"),
        timed_out=bool(body.get("timed_out")),
        seconds=body.get("seconds"),
        # Those that decided it first.
        fail_to_pass=tuple(sorted(to_fix.items(), key=lambda test: test[1] in PASSED)[: limits.tests]),
        fail_to_pass_count=len(to_fix),
        fail_to_pass_passed=sum(status in PASSED for status in to_fix.values()),
        pass_to_pass=int(body.get("pass_to_pass") or 0),
        pass_to_pass_failed=tuple(broken.items())[: limits.tests],
        pass_to_pass_failed_count=len(broken),
        missing=tuple(map(str, body.get("missing") or ()))[: limits.tests],
        restored=tuple(_restored(body.get("restored")))[: limits.tests],
        output=printed,
    )


def _tests(found: object) -> Mapping[str, str]:
    return {str(test): str(status) for test, status in found.items()} if isinstance(found, dict) else {}


def _restored(found: object) -> Iterator[str]:
    """What the verifier put back before the tests ran: files it wrote, and files it took away."""
    if isinstance(found, dict):
        yield from map(str, found.get("written") or ())
        yield from (f"{path} (removed)" for path in found.get("removed") or ())


def tests_words(found: Verification) -> str:
    """The verdict and how many tests brought it about."""
    time = f", {found.seconds} s" if found.seconds is not None else ""
    late = ", out of time" if found.timed_out else ""
    return (
        f"{found.verdict}: {found.fail_to_pass_passed} of {found.fail_to_pass_count} tests to be fixed pass, "
        f"{found.pass_to_pass_failed_count} of {found.pass_to_pass} others fail{time}{late}"
    )


_CONCLUDED: Final[Mapping[Conclusion, str]] = {
    Conclusion.EDIT_CAUSED: "the user's edit caused the failure",
    Conclusion.ALSO_BROKEN_WITHOUT: "it fails without the user's edit as well",
    Conclusion.CANNOT_COMPOSE: "what would tell whether the edit caused the failure could not be made",
}


_SCOPES: Final[Mapping[ProbeScope, str]] = {
    "place": "at its place",
    "files": "in its files",
    "all": "as a whole",
}


def probe_name(probe: Probe) -> str:
    """A state that was verified, and how much of the reference is in it, where it may be more or less."""
    name = probe.name.replace("_", " ")
    return f"{name}, {_SCOPES[probe.scope]}" if probe.scope else name


def ablation_words(ablation: Ablation) -> str:
    """The conclusion as a sentence."""
    how = f" (by {ablation.by})" if isinstance(ablation.by, Cause) else ""
    return f"{_CONCLUDED[ablation.conclusion]}{how}: {ablation.detail}"
