"""Compositions of failures are what one counts by hand, and a judge never overrules what is known without it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.analysis.findings.agreement import agreement_table
from fourhands.analysis.findings.evidence import failed_arms
from fourhands.analysis.findings.failures import ALL, UNDECIDED, FailureRow, failure_table
from fourhands.analysis.statistics import rate_interval, wilson
from fourhands.analysis.study import Study
from fourhands.model.audit import AUDITS, AuditName
from fourhands.model.failure import FailureLabel, FailureType, FoundBy

from ..frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named
from ..said import audits, labelled, opinion, typed  # noqa: TID252

TECHNICAL, FORGOTTEN, REGRESSION, MISREAD, MISSING = FailureLabel
RETAINED, REPLACED, INCOMPLETE, OFF_TARGET, NO_EVIDENCE, BREAKDOWN, OTHER = FailureType
EXECUTION, EVENTS, JUDGE = FoundBy
TOUCH = AuditName.SWE_TOUCH


def _failed(
    task: str, *evidence: dict[str, Any], condition: str = "interactive", **values: Any
) -> dict[str, Any]:
    columns = {name: value for each in evidence for name, value in each.items()}
    return talk(task, condition, solved=False, **columns, **values)


def _counts(row: FailureRow) -> dict[str, tuple[int, int, int]]:
    """Of each label that there is: trials by execution, by events, by the judge."""
    return {
        each.label: (each.execution, each.events, each.judge)
        for each in row.shares
        if each.rate.count and each.label != UNDECIDED
    }


CONVERSATIONS = [
    # Both are known: what the judge says of them, or of others, adds nothing.
    _failed(
        "a",
        labelled((MISSING, EVENTS, "R1"), (REGRESSION, EXECUTION, "R2")),
        audits(opinion((TECHNICAL, "R1"), (FORGOTTEN, None))),
    ),
    # One is left: the judge fills it, and is not heard on the other.
    _failed(
        "b",
        labelled((MISSING, EVENTS, "R1"), left=["R2"]),
        audits(opinion((TECHNICAL, "R2"), (FORGOTTEN, "R1"))),
    ),
    # Tests that are of no requirement: whatever it names that is not settled may be why.
    _failed("c", labelled(left=[None]), audits(opinion((MISREAD, "R1")))),
    # Settled for one requirement by the weaker evidence, for another by the better: the trial counts there.
    _failed("a", labelled((TECHNICAL, EVENTS, "R1"), (TECHNICAL, EXECUTION, None)), repeat=2),
    # Left, and the judge has not read it; then it has, and none applies; then it had no opinion.
    _failed("b", labelled(left=["R1"]), repeat=2),
    _failed("c", labelled(left=["R1"]), audits(opinion()), repeat=2),
    _failed("c", labelled(left=["R1"]), audits(opinion((FORGOTTEN, "R1"), problem="no JSON")), repeat=3),
    # The judge repeats what is known of another requirement: nothing is left, and nothing is added.
    _failed("d", labelled((FORGOTTEN, EVENTS, "R1"), left=["R2"]), audits(opinion((FORGOTTEN, "R2")))),
    # No failures of the population.
    talk("e"),
    _failed("f", labelled(left=["R1"]), termination="protocol_failure"),
    talk("g", solved=None),
    trial("h", "single-turn", solved=False),
]


def test_without_a_judge_each_trial_counts_where_its_best_evidence_is() -> None:
    row, _ = failure_table(study(CONVERSATIONS))
    assert (row.agent, row.condition, row.voice, row.is_whole) == (
        "mini-swe-agent",
        "interactive",
        None,
        True,
    )
    assert (row.n, row.unresolved, row.read, row.left, row.heard) == (8, 9, 0, 6, ())
    assert _counts(row) == {
        TECHNICAL: (1, 0, 0),
        FORGOTTEN: (0, 1, 0),
        REGRESSION: (1, 0, 0),
        MISSING: (0, 2, 0),
    }
    assert row.undecided == 6
    assert [each.label for each in row.shares] == [*AUDITS[AuditName.SWE_INTERACT].names, UNDECIDED]


def test_a_judge_is_heard_on_what_is_left_and_on_nothing_else() -> None:
    _, row = failure_table(study(CONVERSATIONS))
    assert row.voice is not None
    assert (row.voice.judge, row.read, row.heard) == ("judge:j", 5, ("run",))
    assert _counts(row) == {
        TECHNICAL: (1, 0, 1),
        FORGOTTEN: (0, 1, 0),
        REGRESSION: (1, 0, 0),
        MISREAD: (0, 0, 1),
        MISSING: (0, 2, 0),
    }
    assert row.undecided == 3  # not read, none applies, no opinion
    given = {each.label: each.judged for each in row.shares if each.judged}
    assert given == {TECHNICAL: 2, FORGOTTEN: 3, MISREAD: 1}  # its own opinion is kept beside


def test_shares_are_of_labels_and_rates_of_trials_with_both_intervals() -> None:
    row, _ = failure_table(study(CONVERSATIONS))
    missing = row.share_of(MISSING)
    assert missing.share == 2 / 11  # 5 labels, and 6 trials in which something is left
    assert sum(each.share or 0 for each in row.shares) == pytest.approx(1)
    assert (missing.rate.count, missing.rate.n, missing.rate.rate) == (2, 8, 0.25)
    assert missing.rate.wilson == wilson(2, 8)
    assert missing.rate.clustered == rate_interval([1 / 2, 1 / 2, 0, 0])  # of tasks a, b, c and d


def test_a_trial_that_could_not_be_labelled_is_left_to_the_judge_whole() -> None:
    told = audits(opinion((MISSING, "R1"), (REGRESSION, None)))
    without, with_judge = failure_table(study([_failed("a", told)]))
    assert (_counts(without), without.undecided) == ({}, 1)
    assert (_counts(with_judge), with_judge.undecided) == ({MISSING: (0, 0, 1), REGRESSION: (0, 0, 1)}, 0)


def test_what_a_judge_says_of_a_settled_requirement_is_not_heard_where_tests_of_none_are_left() -> None:
    found = labelled((MISSING, EVENTS, "R1"), left=[None])
    _, row = failure_table(study([_failed("a", found, audits(opinion((TECHNICAL, "R1"))))]))
    assert (_counts(row), row.undecided) == ({MISSING: (0, 1, 0)}, 1)


def test_only_opinions_by_the_question_as_it_is_today_are_heard() -> None:
    old = audits(opinion((TECHNICAL, "R1"), version=AUDITS[AuditName.SWE_INTERACT].version + 1))
    (row,) = failure_table(study([_failed("a", labelled(left=["R1"]), old)]))
    assert row.voice is None


def test_each_judge_and_each_version_of_its_prompt_has_rows_of_its_own() -> None:
    said = (
        opinion((TECHNICAL, "R1"), judge="judge:k"),
        opinion((FORGOTTEN, "R1"), prompt=2),
        opinion((MISREAD, "R1")),
    )
    rows = failure_table(study([_failed("a", labelled(left=["R1"]), audits(*said))]))
    told = [(row.voice and (row.voice.judge, row.voice.prompt_version), [*_counts(row)]) for row in rows]
    assert told == [
        (None, []),
        (("judge:j", 1), [MISREAD]),
        (("judge:j", 2), [FORGOTTEN]),
        (("judge:k", 1), [TECHNICAL]),
    ]


def test_all_come_first_then_each_agent_then_each_condition_where_that_is_news() -> None:
    found = labelled((MISSING, EVENTS, "R1"))
    rows = [
        _failed("a", found, model="m"),
        _failed("a", found, model="m", condition="interactive[simulator=x]"),
        _failed("a", labelled((REGRESSION, EXECUTION, "R1")), model="n"),
    ]
    table = failure_table(study(rows))
    assert [(row.model, row.condition, row.n, row.is_whole) for row in table] == [
        (ALL, ALL, 3, True),
        ("m", ALL, 2, False),
        ("m", "interactive", 1, False),
        ("m", "interactive[simulator=x]", 1, False),
        ("n", "interactive", 1, False),
    ]
    assert _counts(table[0]) == {REGRESSION: (1, 0, 0), MISSING: (0, 2, 0)}
    alone = failure_table(study(rows[:2]))
    assert [(row.condition, row.is_whole) for row in alone][:2] == [(ALL, True), ("interactive", False)]


def test_of_a_judge_who_read_one_agent_only_the_others_have_no_row() -> None:
    rows = [
        _failed("a", labelled(left=["R1"]), audits(opinion((MISSING, "R1"))), model="m", run="x"),
        _failed("a", labelled(left=["R1"]), model="n", run="y"),
    ]
    table = [row for row in failure_table(study(rows)) if row.voice]
    assert [(row.model, row.n, row.read, row.heard, row.runs) for row in table] == [
        (ALL, 2, 1, ("x",), ("x", "y")),
        ("m", 1, 1, ("x",), ("x",)),
    ]


def _touched() -> list[dict[str, Any]]:
    """Of three tasks the condition loses one: `lost`; `never` was not solved before, `kept` is solved still."""
    sides = {"lost": ("+++", "--+"), "kept": ("+++", "++-"), "never": ("---", "---")}
    rows = [
        trial(task, label, solved=mark == "+", repeat=repeat)
        for task, both in sides.items()
        for label, marks in zip(("vanilla", "counter-edit"), both, strict=True)
        for repeat, mark in enumerate(marks, 1)
    ]
    for row in rows:
        if row["condition"] == "counter-edit" and row["resolved"] is False:
            row.update(typed(OTHER, EXECUTION))
    first, second = (row for row in rows if row["task"] == "lost" and row["resolved"] is False)
    first |= typed(RETAINED, EXECUTION) | audits(opinion((OFF_TARGET, None), audit=TOUCH))
    second |= {"failure_type": None, "failure_type_by": None}
    second |= audits(opinion((INCOMPLETE, None), audit=TOUCH))
    return rows


def test_under_the_users_hands_the_population_is_the_failed_trials_of_tasks_that_were_lost() -> None:
    without, with_judge = failure_table(study(_touched()))
    assert (without.scheme, without.n, without.unresolved) == (TOUCH, 2, 6)
    assert (_counts(without), without.undecided) == ({RETAINED: (1, 0, 0)}, 1)
    assert (_counts(with_judge), with_judge.undecided) == ({RETAINED: (1, 0, 0), INCOMPLETE: (0, 0, 1)}, 0)
    assert with_judge.share_of(OFF_TARGET).judged == 1


def test_without_a_baseline_no_task_is_known_to_be_lost() -> None:
    assert failure_table(study([row for row in _touched() if row["condition"] != "vanilla"])) == ()


def test_a_condition_that_talks_and_touches_is_in_both_schemes_each_with_its_labels() -> None:
    rows = [trial("a", "single-turn", repeat=repeat) for repeat in (1, 2, 3)]
    columns = labelled((MISSING, EVENTS, "R1")) | typed(RETAINED, EXECUTION)
    rows += [talk("a", "four-hands", solved=False, repeat=repeat, **columns) for repeat in (1, 2, 3)]
    assert [(arm.scheme, len(arm.failures)) for arm in failed_arms(study(rows))] == [
        (AuditName.SWE_INTERACT, 3),
        (TOUCH, 3),
    ]
    said, done = failure_table(study(rows))
    assert (_counts(said), _counts(done)) == ({MISSING: (0, 3, 0)}, {RETAINED: (3, 0, 0)})


def test_a_label_that_the_audit_does_not_have_is_none() -> None:
    _, row = failure_table(study([_failed("a", labelled(left=["R1"]), audits(opinion(("bad luck", "R1"))))]))
    assert (_counts(row), row.undecided, [each.label for each in row.shares if each.judged]) == ({}, 1, [])


_REQUIREMENTS = st.sampled_from([None, "R1", "R2", "R3"])
_FOUND = st.tuples(st.sampled_from(FailureLabel), st.sampled_from(FoundBy), _REQUIREMENTS)
_SAID = st.tuples(st.sampled_from([*FailureLabel, "bad luck"]), _REQUIREMENTS)
_TRIAL = st.tuples(
    st.lists(_FOUND, max_size=3), st.sets(_REQUIREMENTS, max_size=3), st.none() | st.lists(_SAID)
)


@given(st.lists(_TRIAL, min_size=1, max_size=6))
def test_whatever_a_judge_says_what_is_known_stays_and_only_what_was_left_gets_less(trials: Any) -> None:
    rows = [
        _failed(f"t{n}", labelled(*found, left=left), {} if said is None else audits(opinion(*said)))
        for n, (found, left, said) in enumerate(trials)
    ]
    without, *heard = failure_table(study(rows))
    judges = [row for row in heard if row.voice and row.voice.judge == "judge:j"]
    assert len(judges) == any(said is not None for _, _, said in trials)
    assert not any(each.judge for each in without.shares)
    for row in heard:
        for before, after in zip(without.shares, row.shares, strict=True):
            assert (after.execution, after.events) == (before.execution, before.events)
        assert without.undecided - row.undecided <= row.read
        assert row.undecided <= without.undecided == without.left
        assert sum(each.share or 0 for each in row.shares) == pytest.approx(1)
        if without.left == 0:
            assert not any(each.judge for each in row.shares)


def _row_of(judge: str | None, of: Study) -> FailureRow:
    (row,) = (row for row in failure_table(of) if (row.voice and row.voice.judge) == judge)
    return row


def test_a_judge_closes_the_requirements_that_it_speaks_of_and_no_other() -> None:
    found = labelled(left=["R2", "R3"])
    one, both = [(TECHNICAL, "R2")], [(TECHNICAL, "R2"), (FORGOTTEN, "R3")]
    for said, labels, undecided in ((one, [TECHNICAL], 1), (both, [TECHNICAL, FORGOTTEN], 0)):
        row = _row_of("judge:j", study([_failed("a", found, audits(opinion(*said)))]))
        assert ([*_counts(row)], row.undecided) == (labels, undecided)


def test_a_label_of_no_requirement_closes_no_requirement() -> None:
    said = audits(opinion((TECHNICAL, None)))
    row = _row_of("judge:j", study([_failed("a", labelled((MISSING, EVENTS, "R1"), left=["R2"]), said)]))
    assert (_counts(row), row.undecided) == ({MISSING: (0, 1, 0)}, 1)
    row = _row_of("judge:j", study([_failed("a", labelled(left=[None]), said)]))
    assert (_counts(row), row.undecided) == ({TECHNICAL: (0, 0, 1)}, 0)
    row = _row_of("judge:j", study([_failed("a", labelled(left=[None, "R2"]), said)]))
    assert (_counts(row), row.undecided) == ({TECHNICAL: (0, 0, 1)}, 1)


def test_what_the_users_own_edit_caused_is_no_label_and_is_left_to_nobody() -> None:
    said = audits(opinion((REGRESSION, "R2")))
    of = study([_failed("a", labelled(excused=["R2"]), said)])
    for row in failure_table(of):
        assert (_counts(row), row.n, row.left, row.undecided) == ({}, 1, 0, 0)
    assert failure_table(of)


SIMULATED = "simulator:x"


def _simulated(*evidence: dict[str, Any]) -> dict[str, Any]:
    return _failed("a", *evidence, condition="interactive[simulator=x]")


def test_what_rests_on_the_users_own_model_is_open_and_has_a_voice_of_its_own() -> None:
    of = study([_simulated(labelled((REGRESSION, JUDGE, "R7"), (MISSING, EVENTS, "R1"), left=["R2"]))])
    without = _row_of(None, of)
    assert (_counts(without), without.left, without.undecided) == ({MISSING: (0, 1, 0)}, 1, 1)
    own = _row_of(SIMULATED, of)
    assert _counts(own) == {MISSING: (0, 1, 0), REGRESSION: (0, 0, 1)}
    assert (own.read, own.undecided) == (1, 1)  # of R2 it says nothing
    alone = _row_of(SIMULATED, study([_simulated(labelled((REGRESSION, JUDGE, "R7")))]))
    assert (_counts(alone), alone.undecided) == ({REGRESSION: (0, 0, 1)}, 0)


def test_what_better_evidence_settles_is_not_the_users_own_models() -> None:
    found = labelled((REGRESSION, EXECUTION, "R1"), (MISREAD, JUDGE, "R1"))
    (row,) = failure_table(study([_simulated(found)]))
    assert (row.voice, _counts(row), row.left) == (None, {REGRESSION: (1, 0, 0)}, 0)


def test_each_users_model_speaks_for_its_own_trials_and_judges_are_heard_on_all_of_them() -> None:
    found = labelled((REGRESSION, JUDGE, "R7"))
    said = audits(opinion((FORGOTTEN, "R7")))
    rows = [
        _simulated(found, said),
        _failed("a", found, said, condition="interactive[simulator=y]"),
    ]
    whole = [row for row in failure_table(study(rows)) if row.is_whole]
    told = [(row.voice and row.voice.judge, _counts(row), row.undecided, row.read) for row in whole]
    assert told == [
        (None, {}, 2, 0),
        ("judge:j", {FORGOTTEN: (0, 0, 2)}, 0, 2),
        (SIMULATED, {REGRESSION: (0, 0, 1)}, 1, 1),
        ("simulator:y", {REGRESSION: (0, 0, 1)}, 1, 1),
    ]


def test_the_users_own_model_is_no_judge_that_is_compared_with_others() -> None:
    rows = [_simulated(labelled((REGRESSION, JUDGE, "R7"), (TECHNICAL, EXECUTION, "R1")))]
    assert agreement_table(study(rows)) == ()


@pytest.mark.parametrize(
    ("known", "waits"),
    [
        ({}, 1),
        ({"ablation": "also_broken_without", "ablation_final": False, "ablation_typed": False}, 1),
        ({"ablation": "also_broken_without", "ablation_final": True, "ablation_typed": False}, 1),
        ({"ablation": "also_broken_without", "ablation_final": True, "ablation_typed": True}, 0),
        ({"failed_touched": False}, 0),
    ],
    ids=["not yet", "out of time", "by an older version", "to the end", "no edit"],
)
def test_what_is_open_for_want_of_an_ablation_or_of_one_to_the_end_waits_for_it(
    known: dict[str, Any], waits: int
) -> None:
    rows = [trial("a"), trial("a", "counter-edit", solved=False, **known)]
    (row,) = failure_table(study(rows))
    assert (row.left, row.waiting) == (1, waits)
    for edit, waiting in ((5, waits), (None, 0)):  # what is open for other reasons no ablation decides
        left = labelled(left=["R1"], edit=edit)
        talked = _failed("a", left, condition="four-hands", **{"failed_touched": True} | known)
        (row,) = failure_table(study([talked]))
        assert (row.scheme, row.left, row.waiting) == (AuditName.SWE_INTERACT, 1, waiting)


def test_a_row_over_several_conditions_tells_of_all_that_failed_under_them() -> None:
    """`b` is lost under neither; under k=5 nothing is lost at all."""
    rows = [trial("a", model=model) for model in "mn"] + [
        trial("b", solved=False, model=model) for model in "mn"
    ]
    shown = typed(RETAINED, EXECUTION)
    for model in "mn":
        for condition, solved in (
            ("counter-edit", False),
            ("counter-edit[k=5]", model == "m"),
            ("edit-only", False),
        ):
            rows.append(trial("a", condition, solved=solved, model=model, **shown))
            rows.append(trial("b", condition, solved=False, model=model, **shown))
    told = [(row.model, row.condition, row.n, row.unresolved) for row in failure_table(study(rows))]
    assert told == [
        (ALL, ALL, 5, 11),
        ("m", ALL, 2, 5),
        ("m", "counter-edit", 1, 2),
        ("m", "edit-only", 1, 2),
        ("n", ALL, 3, 6),
        ("n", "counter-edit", 1, 2),
        ("n", "counter-edit[k=5]", 1, 2),
        ("n", "edit-only", 1, 2),
    ]
