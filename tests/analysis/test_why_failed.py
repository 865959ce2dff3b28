"""The headline says why conversations failed by execution and events; of judges only those that are trusted enter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourhands.analysis.headline import headline
from fourhands.analysis.study import RunInfo, Study
from fourhands.model.agreement import Agreement, Estimate
from fourhands.model.audit import AUDITS, AuditName, Opinion
from fourhands.model.failure import FailureLabel, FoundBy

from .frames import study, talk, trial
from .said import agreement, audited, audits, labelled, opinion

TECHNICAL, FORGOTTEN, REGRESSION, MISREAD, MISSING = FailureLabel
EXECUTION, EVENTS, JUDGE = FoundBy
VERSION = AUDITS[AuditName.SWE_INTERACT].version


def _study(*, model: str = "m", judge: str = "judge:j", told_at_once: bool = True) -> Study:
    """Twelve failures: 5 with a requirement nobody said, 3 with a regression, 4 left to a judge who knows all."""
    rows = [trial(f"t{n}", "single-turn", model=model) for n in range(12)] if told_at_once else []
    for n in range(12):
        if n < 5:
            found = labelled((MISSING, EVENTS, "R1"))
        elif n < 8:
            found = labelled((REGRESSION, EXECUTION, "R1"))
        else:
            found = labelled(left=["R1"])
        said = audits(opinion((MISREAD, "R1"), judge=judge))
        rows.append(talk(f"t{n}", model=model, solved=False, **found, **said))
    return study(rows)


SHOWN = (
    "of 12 failures 5 had a requirement that nobody said and 3 a requirement that held and broke again; in 4 of "
    "the 12 something is left open"
)


def test_what_execution_and_events_show_is_in_the_headline() -> None:
    _, deeds = headline(_study())
    assert SHOWN in deeds
    assert "judge" not in deeds


def test_without_anything_to_compare_with_it_stands_behind_the_rate() -> None:
    first, _ = headline(_study(told_at_once=False))
    assert SHOWN in first


def test_where_users_also_touch_it_stands_with_what_was_told() -> None:
    found = labelled((MISSING, EVENTS, "R1"))
    rows = [trial("a", "single-turn"), talk("a", "four-hands", solved=False, delivered=1, **found)]
    assert "; of 1 failure 1 had a requirement that nobody said;" in headline(study(rows))[1]


def test_nothing_is_said_where_nothing_is_known_of_why() -> None:
    rows = [trial("a", "single-turn"), talk("a", solved=False, **labelled(left=["R1"]))]
    assert "of 1 failure" not in " ".join(headline(study(rows)))


def test_a_trusted_judge_is_heard_with_its_agreement_beside() -> None:
    _, deeds = headline(audited(_study(), agreement(0.71)))
    assert (
        "of 12 failures 5 had a requirement that nobody said and 3 a requirement that held and broke again; of 4 in "
        "which execution and events leave something open, judge:j (κ 0.71 with people) reads 4 as a requirement that "
        "was taken for something else"
    ) in deeds


@pytest.mark.parametrize(
    "known",
    [
        (),
        (agreement(0.59),),
        (agreement(None),),
        (agreement(0.99, judge="judge:k"),),
        (agreement(0.99, audit=AuditName.SWE_TOUCH),),
        (agreement(0.99, audit=AuditName.GOALS),),
        (agreement(0.99, version=VERSION + 1),),
        (agreement(0.99, prompt=2),),
        (agreement(0.99), agreement(0.59)),
    ],
    ids=[
        "unaudited",
        "too low",
        "undefined",
        "other judge",
        "other audit",
        "goals",
        "old question",
        "old prompt",
        "lower too",
    ],
)
def test_an_untrusted_or_unaudited_judge_never_gets_in(known: tuple[Agreement, ...]) -> None:
    told = audited(_study(), *known)
    assert headline(told) == headline(
        audited(study([_unjudged(row) for row in told.tables.trials.rows(named=True)]))
    )
    assert "judge" not in " ".join(headline(told))


def _unjudged(row: dict[str, object]) -> dict[str, object]:
    return {**row, "audits": None}


def test_a_judge_that_is_trusted_in_one_of_two_runs_does_not_get_in() -> None:
    told = audited(_study(), agreement(0.9))
    rows = told.tables.trials.rows(named=True)
    more = {**rows[-1], "run": "other", "repeat": 2}
    both = replace(
        audited(study([*rows, more]), agreement(0.9)), runs=(*told.runs, RunInfo("other", "/o", "run"))
    )
    assert "judge" not in " ".join(headline(both))


def test_however_many_failures_an_unaudited_judge_explains_the_headline_is_the_same() -> None:
    rows = [trial("a", "single-turn")]
    rows += [
        talk("a", repeat=repeat, solved=False, **labelled(left=["R1"]), **audits(opinion((MISSING, "R1"))))
        for repeat in range(1, 40)
    ]
    assert headline(study(rows)) == headline(study([{**row, "audits": None} for row in rows]))
    assert "reads 39 as a requirement that nobody said" in headline(audited(study(rows), agreement(0.6)))[1]


def test_of_a_trusted_judge_who_read_some_it_is_told_how_many() -> None:
    rows = [trial(f"t{n}", "single-turn") for n in range(4)]
    for n in range(4):
        said = audits(opinion((TECHNICAL, "R1"))) if n < 2 else {}
        rows.append(talk(f"t{n}", solved=False, **labelled(left=["R1"]), **said))
    rows.append(talk("t0", repeat=2, solved=False, **labelled((MISSING, EVENTS, "R1")), **audits(opinion())))
    assert (
        "of the 2 that it read, of 4 in which execution and events leave something open, judge:j (κ 0.80 with "
        "people) reads 2 as code that is wrong though it was understood"
    ) in headline(audited(study(rows), agreement(0.8)))[1]


def _simulated(*said: Opinion) -> list[dict[str, object]]:
    """Six failures of which the user's own model alone tells that a requirement is not met."""
    rows = [trial(f"t{n}", "single-turn") for n in range(6)]
    found = labelled((REGRESSION, JUDGE, "R7"))
    return rows + [
        talk(f"t{n}", "interactive[simulator=x]", solved=False, **found, **audits(*said)) for n in range(6)
    ]


def test_the_word_of_a_users_own_model_is_never_in_the_headline() -> None:
    rows = _simulated()
    known = [agreement(0.99), agreement(0.99, judge="simulator:x", prompt=0)]
    for of in (study(rows), audited(study(rows), *known)):
        told = " ".join(headline(of))
        assert "held and broke again" not in told
        assert "simulator:" not in told
    more = talk("t0", "interactive[simulator=x]", repeat=2, solved=False, **labelled((MISSING, EVENTS, "R1")))
    assert (
        "of 7 failures 1 had a requirement that nobody said; in 6 of the 7 something is left open"
        in (headline(study([*rows, more]))[1])
    )


def test_a_trusted_judge_is_heard_on_what_the_users_own_model_says() -> None:
    told = headline(audited(study(_simulated(opinion((FORGOTTEN, "R7")))), agreement(0.8)))[1]
    assert (
        "of 6 in which execution and events leave something open, judge:j (κ 0.80 with people) reads 6 as a "
        "requirement that was said and never taken up"
    ) in told


def _but(label: FailureLabel, kappa: float) -> Agreement:
    """Good in all labels but one."""
    known = agreement(0.8)
    own = Estimate(kappa, kappa - 0.1, kappa + 0.1)
    classes = tuple(
        replace(each, kappa=own) if each.label == label else each for each in known.counted.classes
    )
    return replace(known, counted=replace(known.counted, classes=classes))


def test_of_a_judge_that_is_trusted_as_a_whole_only_labels_are_heard_in_which_it_is() -> None:
    assert "judge:j (κ 0.80 with people) reads 4 as" in headline(audited(_study(), _but(TECHNICAL, 0.2)))[1]
    assert "judge:j (κ 0.66 with people) reads 4 as" in headline(audited(_study(), _but(MISREAD, 0.66)))[1]
    bad = audited(_study(), _but(MISREAD, 0.2))
    assert "judge" not in " ".join(headline(bad))
    rows = [
        talk("z", repeat=n, solved=False, **labelled(left=["R1"]), **audits(opinion((FORGOTTEN, "R1"))))
        for n in (1, 2)
    ]
    more = audited(study([*_study().tables.trials.rows(named=True), *rows]), _but(MISREAD, 0.2))
    assert "(κ 0.80 with people) reads 2 as a requirement that was said and never" in " ".join(headline(more))
