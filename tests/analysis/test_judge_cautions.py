"""Whoever reads a judge's numbers is told how far it is to be trusted, and how much nobody decides."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from fourhands.analysis.cautions import cautions
from fourhands.analysis.study import Study
from fourhands.model.audit import AUDITS, AuditName
from fourhands.model.failure import FailureLabel, FailureType, FoundBy

from .frames import study, talk, trial
from .said import agreement, audited, audits, labelled, opinion, typed

MISSING = FailureLabel.MISSING
VERSION = AUDITS[AuditName.SWE_INTERACT].version
SUBJECT = "judge:j (prompt version 1) says why conversations failed: "


def _of_judges(of: Study) -> list[str]:
    return [each for each in cautions(of) if "judge:" in each]


def _judged(**values: Any) -> Study:
    found = labelled((MISSING, FoundBy.EVENTS, "R1"))
    return study([talk("a", solved=False, **found, **audits(opinion((MISSING, "R1"), **values)))])


def test_an_unaudited_judge_is_called_so_and_how_to_begin_is_told() -> None:
    (told,) = _of_judges(_judged())
    assert told.startswith(f"{SUBJECT}unaudited, no person has checked")
    assert "fourhands audit sheet" in told


def test_a_judge_that_agrees_too_little_is_told_with_its_kappa() -> None:
    (told,) = _of_judges(audited(_judged(), agreement(0.41)))
    assert told.startswith(f"{SUBJECT}κ 0.41 < 0.6 with people. It is in no headline")
    (told,) = _of_judges(audited(_judged(), agreement(None)))
    assert told.startswith(f"{SUBJECT}κ undefined with people.")


def test_where_people_said_too_little_it_is_told_what_would_say_more() -> None:
    (told,) = _of_judges(audited(_judged(), replace(agreement(0.9), annotators=("ann",))))
    assert told.startswith(f"{SUBJECT}unaudited, for of what people read there is too little to say")
    assert "for two people or more" in told


def test_of_a_trusted_judge_there_is_nothing_to_say() -> None:
    assert _of_judges(audited(_judged(), agreement(0.6))) == []


def test_an_agreement_of_other_words_is_told_to_count_for_nothing() -> None:
    for other in (agreement(0.9, prompt=2), agreement(0.9, version=VERSION + 1)):
        (told,) = _of_judges(audited(_judged(), other))
        assert told.startswith(
            f"{SUBJECT}unaudited, for its agreement with people was measured with another version"
        )


def test_answers_to_an_older_question_are_told_to_count_nowhere() -> None:
    (told,) = _of_judges(_judged(version=VERSION + 1))
    assert told.startswith(f"{SUBJECT}its answers are to an older question, and count nowhere")


def test_a_judge_of_goals_is_told_as_well() -> None:
    scores = {"judge": "judge:g", "prompt_version": 2, "plan": 1.0, "final": 2.0, "unscored": 0, "points": 1}
    of = study([talk("a", judged=json.dumps([scores]))])
    (told,) = _of_judges(of)
    assert told.startswith(
        "judge:g (prompt version 2) says how much of the goals plans and code reach: unaudited"
    )
    assert _of_judges(audited(of, agreement(0.8, judge="judge:g", audit=AuditName.GOALS, prompt=2))) == []


def test_much_that_is_left_open_is_told_of_each_scheme() -> None:
    def told(left: int) -> list[str]:
        rows = [trial("a", repeat=repeat) for repeat in (1, 2, 3)]
        for repeat in range(1, 7):
            is_left = repeat <= left
            found = labelled(left=["R1"]) if is_left else labelled((MISSING, FoundBy.EVENTS, "R1"))
            rows.append(talk("a", solved=False, repeat=repeat, **found))
            shown = {} if is_left else typed(FailureType.OFF_TARGET, FoundBy.EVENTS)
            rows.append(trial("a", "counter-edit", solved=False, repeat=repeat, **shown))
        return [each for each in cautions(study(rows)) if each.startswith("Execution and events alone")]

    assert told(2) == []
    conversations, touched = told(3)
    assert "do not tell why conversations failed in 3 of 6 failures" in conversations
    assert "do not tell why trials failed under the user's hands in 3 of 6 failures" in touched
    assert touched.endswith(" 3 of them wait for fourhands ablate.")
    assert "ablate" not in conversations


def test_a_users_own_model_on_whose_word_labels_rest_is_told_of() -> None:
    found = labelled((FailureLabel.REGRESSION, FoundBy.JUDGE, "R7"))
    rows = [talk("a", "interactive[simulator=x]", solved=False, repeat=repeat, **found) for repeat in (1, 2)]
    (told,) = (each for each in cautions(study(rows)) if each.startswith("simulator:"))
    assert told == (
        "simulator:x, the user's own model, is all that tells whether some requirement is met in 2 failures: "
        "unaudited. What its word makes of why is in no headline, and in rows of its own only. Checks in the ledger "
        "would tell."
    )
    assert any("conversations failed in 2 of 2 failures" in each for each in cautions(study(rows)))


def test_conversations_that_are_open_for_the_users_edit_wait_for_an_ablation_too() -> None:
    row = talk("a", "four-hands", solved=False, failed_touched=True, **labelled(left=["R1"], edit=5))
    (told,) = (each for each in cautions(study([row])) if each.startswith("Execution and events alone"))
    assert told.endswith(" 1 of them wait for fourhands ablate.")
