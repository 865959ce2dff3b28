"""A judge is trusted where its agreement with people was measured, for these words and these runs, and is enough."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.analysis.study import RunInfo
from fourhands.analysis.trust import Trust, Voice, trust_among, trust_in
from fourhands.model.agreement import Agreement, Estimate
from fourhands.model.audit import AUDITS, AuditName

from .frames import study
from .said import agreement, audited

VERSION = AUDITS[AuditName.SWE_INTERACT].version
VOICE = Voice(AuditName.SWE_INTERACT, VERSION, "judge:j", 1)


@pytest.mark.parametrize(
    ("kappa", "told", "is_trusted"),
    [
        (0.72, "κ 0.72", True),
        (0.6, "κ 0.60", True),
        (0.5999, "κ 0.59 < 0.6", False),  # never rounded up to what it does not reach
        (0.41, "κ 0.41 < 0.6", False),
        (-0.2, "κ −0.20 < 0.6", False),
        (None, "κ undefined", False),
    ],
)
def test_a_judge_is_trusted_from_06_on(kappa: float | None, told: str, is_trusted: bool) -> None:
    found = trust_in(audited(study([]), agreement(kappa)), VOICE, {"run"})
    assert (found.told, found.is_audited, found.is_trusted, found.kappa) == (told, True, is_trusted, kappa)


@pytest.mark.parametrize(
    "other",
    [
        agreement(0.9, judge="judge:k"),
        agreement(0.9, audit=AuditName.GOALS),
    ],
)
def test_another_judge_or_audit_says_nothing_of_it(other: Agreement) -> None:
    found = trust_in(audited(study([]), other), VOICE, {"run"})
    assert (found.told, found.is_outdated, found.is_trusted) == ("unaudited", False, False)


@pytest.mark.parametrize("other", [agreement(0.9, version=VERSION + 1), agreement(0.9, prompt=2)])
def test_of_other_versions_it_is_unaudited_and_outdated(other: Agreement) -> None:
    found = trust_in(audited(study([]), other), VOICE, {"run"})
    assert (found.told, found.is_outdated, found.is_trusted) == ("unaudited", True, False)


def test_without_an_agreement_in_every_run_that_it_spoke_of_it_is_unaudited() -> None:
    both = audited(study([]), agreement(0.9), runs=("a", "b"))
    assert trust_in(both, VOICE, {"a", "b"}).is_trusted
    one = replace(both, runs=(both.runs[0], RunInfo("b", "/runs/b", "run")))
    assert trust_in(one, VOICE, {"a"}).is_trusted
    assert not trust_in(one, VOICE, {"a", "b"}).is_audited
    assert not trust_in(one, VOICE, {"a", "c"}).is_audited  # of which nothing is known
    assert trust_in(one, VOICE, ()) == Trust()


@given(st.lists(st.sampled_from([None, 0.1, 0.59, 0.6, 0.95]), min_size=1))
def test_of_several_the_least_counts(kappas: list[float | None]) -> None:
    found = trust_among([agreement(kappa) for kappa in kappas], VOICE)
    assert found.kappa == (None if None in kappas else min(filter(None, kappas)))
    assert found.is_trusted == all(kappa is not None and kappa >= 0.6 for kappa in kappas)


def with_people(**changes: object) -> Agreement:
    return replace(agreement(0.9), **changes)  # type: ignore[arg-type]


def counted(**changes: object) -> Agreement:
    known = agreement(0.9)
    return replace(known, counted=replace(known.counted, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "known",
    [
        with_people(annotators=("ann",)),
        counted(people=None),
        counted(people=0.39),
        counted(items=19),
        counted(kappa=Estimate(0.9, 0.39, 1.0)),
        counted(kappa=Estimate(0.9, None, None)),
        counted(classes=tuple(replace(each, positives=4) for each in agreement(0.9).counted.classes)),
        counted(classes=tuple(replace(each, positives=46) for each in agreement(0.9).counted.classes)),
    ],
)
def test_of_too_little_nothing_is_said(known: Agreement) -> None:
    found = trust_in(audited(study([]), known), VOICE, {"run"})
    assert (found.told, found.is_audited, found.is_trusted) == ("unaudited: too little to say", False, False)
    assert not found.is_outdated


def test_too_little_neither_hides_what_was_measured_nor_stands_for_it() -> None:
    little, bad, good = with_people(annotators=("ann",), sheet="l"), agreement(0.3), agreement(0.9)
    assert trust_among([little, good], VOICE).is_trusted
    assert trust_among([little, good, bad], VOICE).told == "κ 0.30 < 0.6"
    assert trust_among([little, bad], VOICE).told == "κ 0.30 < 0.6"
    runs = tuple(
        RunInfo(name, f"/runs/{name}", "run", agreements=(each,))
        for name, each in (("a", good), ("b", little), ("c", bad))
    )
    told = replace(study([]), runs=runs)
    assert trust_in(told, VOICE, {"a", "b"}).told == "unaudited: too little to say"
    assert trust_in(told, VOICE, {"a", "b", "c"}).told == "κ 0.30 < 0.6"


def test_of_a_label_its_own_kappa_tells_and_of_several_sheets_the_least_in_it() -> None:
    first, second, third, *rest = agreement(0.9).counted.classes
    low = replace(second, kappa=Estimate(0.5, 0.3, 0.7))
    rare = replace(third, positives=2)
    one = counted(classes=(first, low, rare, *rest))
    two = replace(agreement(0.8), sheet="t")
    of = {label: trust_among([one], VOICE, label) for label in (first.label, low.label, rare.label)}
    assert [each.told for each in of.values()] == ["κ 0.90", "κ 0.50 < 0.6", "unaudited: too little to say"]
    assert [each.is_trusted for each in of.values()] == [True, False, False]
    both = audited(study([]), one, two)
    assert [trust_in(both, VOICE, {"run"}, label).told for label in of] == [
        "κ 0.80",
        "κ 0.50 < 0.6",
        "κ 0.80",
    ]
    whole = agreement(0.5)
    assert not trust_among([whole, one], VOICE, first.label).is_trusted  # as a whole it is not
