"""Four hands against their parts: the same tasks, the same parameters, the same baseline."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.analysis.findings.conversations import four_hands_table, without_parts
from fourhands.analysis.statistics import paired_interval, sign_flip

from ..frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named


def _rows(
    alone: str, talked: str, touched: str, both: str, *, baseline: str = "single-turn", **values: Any
) -> list[dict[str, Any]]:
    """A task per letter of ``abcdefgh``; each argument names those that are solved."""
    tasks = "abcdefgh"
    return [
        *(trial(task, baseline, solved=task in alone, **values) for task in tasks),
        *(talk(task, solved=task in talked, **values) for task in tasks),
        *(trial(task, "counter-edit", solved=task in touched, **values) for task in tasks),
        *(talk(task, "four-hands", solved=task in both, **values) for task in tasks),
    ]


@pytest.mark.parametrize("baseline", ["single-turn", "vanilla"])
def test_losses_of_each_part_and_of_both_and_what_is_beyond_their_sum(baseline: str) -> None:
    rows = _rows("abcdefgh", "abcdef", "abcdefg", "ab", baseline=baseline)
    at_will, end = four_hands_table(study(rows))
    assert (at_will.state, end.state, end.baseline) == ("at will", "end", baseline)
    assert (end.talked, end.touched, end.condition) == ("interactive", "counter-edit", "four-hands")
    assert end.complete == tuple("abcdefgh")
    assert [each.delta for each in (end.delta_talked, end.delta_touched, end.delta_both)] == [
        -0.25,
        -0.125,
        -0.75,
    ]
    # by task F - T - C + B: a, b: 0; c to f: -1; g: 0 - 0 - 1 + 1; h: 0 - 0 - 0 + 1
    by_task = [0, 0, -1, -1, -1, -1, 0, 1]
    found = end.interaction
    assert found
    assert found.value == sum(by_task) / 8 == -0.75 - (-0.25 - 0.125)
    half = paired_interval([each / 2 for each in by_task])
    assert found.interval
    assert half
    assert (found.interval.low, found.interval.high) == (2 * half.low, 2 * half.high)
    assert found.test.p == sign_flip(by_task)


def test_at_will_only_the_verdicts_of_those_who_talk_change() -> None:
    rows = _rows("abcdefgh", "abcdefgh", "abcd", "abcd")
    for row in rows:
        if row["condition"] == "four-hands":
            row["resolved_at_will"] = row["task"] in "ab"
    at_will, end = four_hands_table(study(rows))
    assert (at_will.delta_touched, at_will.delta_talked) == (end.delta_touched, end.delta_talked)
    assert (at_will.delta_both.delta, end.delta_both.delta) == (-0.75, -0.5)
    assert at_will.interaction
    assert end.interaction
    assert (at_will.interaction.value, end.interaction.value) == (-0.25, 0.0)


def test_a_task_that_lacks_an_arm_is_in_none_of_it_and_is_named_with_what_it_lacks() -> None:
    rows = _rows("abcdefgh", "abcdefgh", "", "")
    for row in rows:
        if row["task"] == "h" and row["condition"] in {"counter-edit", "four-hands"}:
            row |= {"scored": False, "resolved": None, "verdict": "none"}
    rows = [row for row in rows if (row["task"], row["condition"]) != ("g", "interactive")]
    _, end = four_hands_table(study(rows))
    assert end.complete == tuple("abcdef")
    assert end.incomplete == (("g", ("interactive",)), ("h", ("counter-edit", "four-hands")))
    assert end.alone.n == end.both.n == 6
    assert {each.pairs for each in (end.delta_talked, end.delta_touched, end.delta_both)} == {6}


def test_parts_have_the_parameters_of_the_whole() -> None:
    rows = [
        trial("a", "single-turn"),
        *(trial("a", label, solved=False) for label in ("counter-edit", "counter-edit[k=5,trigger=edit]")),
        *(talk("a", label) for label in ("interactive", "interactive[simulator=x,persona=vague]")),
        talk("a", "four-hands[k=5,trigger=edit,simulator=x,persona=vague]", solved=False),
        talk("a", "four-hands[k=1]", solved=False),
    ]
    found = four_hands_table(study(rows))
    assert {(row.talked, row.touched) for row in found} == {
        ("interactive[simulator=x,persona=vague]", "counter-edit[k=5,trigger=edit]")
    }
    assert without_parts(study(rows)) == ("mini-swe-agent · m · four-hands[k=1]",)
    assert four_hands_table(study([row for row in rows if row["condition"] != "single-turn"])) == ()


def test_without_a_task_that_has_all_there_is_no_interaction() -> None:
    rows = [trial("a", "single-turn"), talk("b"), trial("a", "counter-edit"), talk("a", "four-hands")]
    _, end = four_hands_table(study(rows))
    assert (end.complete, end.interaction, end.delta_both.delta, end.alone.rate) == ((), None, None, None)


solved = st.sets(st.sampled_from("abcdefgh")).map("".join)


@settings(max_examples=20)
@given(solved, solved, solved, solved)
def test_the_interaction_is_what_is_left_of_the_three_differences(
    alone: str, talked: str, touched: str, both: str
) -> None:
    _, end = four_hands_table(study(_rows(alone, talked, touched, both)))
    deltas = [end.delta_both.delta, end.delta_talked.delta, end.delta_touched.delta]
    assert end.interaction
    assert None not in deltas
    assert end.interaction.value == pytest.approx(deltas[0] - deltas[1] - deltas[2])  # type: ignore[operator]
    assert end.interaction.interval
    assert -2 <= end.interaction.interval.low <= end.interaction.value <= end.interaction.interval.high <= 2
