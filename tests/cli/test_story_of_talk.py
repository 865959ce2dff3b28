"""A conversation in a terminal: the same facts as on the page, in plain lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourhands.cli.story import tell
from fourhands.model.agreement import Agreement
from fourhands.model.audit import AuditName, Opinion, OpinionLabel
from fourhands.model.failure import FoundBy, LabelledFailure
from fourhands.report.story import story

from ..analysis.said import agreement  # noqa: TID252 - no package has tests
from ..report.story.test_conversation import HOSTILE, Blobs, begun, held  # noqa: TID252


def _lines(agreements: tuple[Agreement, ...] = ()) -> list[str]:
    blobs = Blobs()
    label = OpinionLabel("regression", (3, 4), "It was there.", "R1")
    opinions = [
        Opinion(AuditName.SWE_INTERACT, 1, "judge:m", 1, "k", (label,)),
        Opinion(AuditName.SWE_INTERACT, 1, "judge:silent", 1, "k", problem="no JSON"),
        Opinion(AuditName.SWE_INTERACT, 1, "judge:content", 1, "k"),
    ]
    return [line.plain for line in tell(story(held(blobs), blobs, opinions=opinions), agreements)]


def test_it_says_moves_reasons_what_was_not_said_states_and_the_ledger() -> None:
    lines = _lines()
    told = "\n".join(lines)
    for part in (
        "persona nitpicker · 2 messages of the user · told 2 of 2 requirements · at will unresolved",
        "opens: “It is never open.”",
        "            reveal R1 (plan: held)",
        "            not said, leaks: hidden ('7'):",
        "              the test says 7",
        "            R1: held → revealed",
        "reveal R2 (review: held); the fixed words, in place of small's",
        "checkpoint c2, commit “Open it”, +4 −0: 50.0 of 100, by checks",
        "            met: R1; not met: R2",
        "            1 of 3 checks pass, 1 not known",
        "            ↓ R1",
        "agreement broken: no plan",
        "The ledger, turn by turn",
        "      12  end",
        "  R1  RS  V    violated, told in turn 1, regression",
        "      It is open until 02:00.",
        "Why it failed (in brackets: the events that show it)",
        "  R1: regression, by execution: ",
    ):
        assert part in told, part


def test_a_label_that_rests_on_the_users_own_model_says_so() -> None:
    blobs = Blobs()
    told = story(held(blobs), blobs)
    assert told.failure
    (found,) = (each for each in told.failure.found if each.requirement == "R1")
    simulated = replace(told, failure=LabelledFailure((replace(found, by=FoundBy.JUDGE),)))
    lines = [line.plain for line in tell(simulated)]
    assert any(line.startswith("  R1: regression, by the user's own model, unaudited: ") for line in lines)


def test_a_diff_of_a_state_is_not_told_again() -> None:
    assert not [line for line in _lines() if line.endswith("+open")]


@pytest.mark.parametrize(
    ("agreements", "words"),
    [
        ((), "(unaudited)"),
        ((agreement(0.7, judge="judge:m", version=1),), "(κ 0.70 with people)"),
        ((agreement(0.5, judge="judge:m", version=1),), "(κ 0.50 < 0.6 with people)"),
    ],
)
def test_a_judge_is_marked_by_its_agreement_with_people(
    agreements: tuple[Agreement, ...], words: str
) -> None:
    lines = _lines(agreements)
    assert f"  judge:m, swe-interact {words}" in lines
    assert "    R1: regression: It was there. [3, 4]" in lines
    assert "    no opinion: no JSON" in lines
    assert "    none of the labels applies" in lines


def test_of_many_turns_the_last_have_their_columns() -> None:
    blobs = Blobs()
    talk = begun(blobs)
    for turn in range(60):
        talk.answer(talk.ask(), "reveal" if turn == 0 else "answer", *(["R1"] if turn == 0 else []))
    talk.checkpoint("end", {"R1": True, "R2": False})
    lines = [line.plain for line in tell(story(talk.end("unresolved"), blobs))]
    (row,) = (line for line in lines if line.startswith("  R1 "))
    assert row.split()[1:3] == ["R" * 40, "S"]


def test_hostile_words_move_no_cursor() -> None:
    blobs = Blobs()
    talk = begun(blobs, brief=HOSTILE, persona=HOSTILE)
    talk.answer(
        talk.ask(HOSTILE), "reveal", HOSTILE, why=HOSTILE, rejected=[{"text": HOSTILE, "reason": HOSTILE}]
    )
    talk.checkpoint("end", {HOSTILE: False}, subject=HOSTILE, problem=HOSTILE)
    text = "\n".join(line.plain for line in tell(story(talk.end("unresolved"), blobs)))
    assert text.count("</script>") > 8
    assert "\x1b" not in text
    assert "\u202e" not in text
