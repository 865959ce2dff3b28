from __future__ import annotations

import re
from typing import Any

import pytest

from fourhands.analysis.findings.conditions import condition_table
from fourhands.analysis.headline import headline

from .frames import study, talk, trial


def _arms(model: str, before: str, after: str, condition: str = "counter-edit") -> list[dict[str, Any]]:
    """One trial a task on either side; ``+`` is resolved."""
    return [
        trial(f"t{task:02}", label, model=model, solved=mark == "+")
        for label, marks in (("vanilla", before), (condition, after))
        for task, mark in enumerate(marks)
    ]


def _words(sentence: str) -> int:
    """Signs alone are none: ``95 %`` and ``p = 0.5`` are of one and of two."""
    return sum(bool(re.search(r"\w", each)) for each in sentence.split())


def test_one_agents_loss_is_told_with_its_interval_and_test() -> None:
    first, second = headline(study(_arms("m", "+" * 20, "+" * 8 + "-" * 12)))
    assert first.startswith(
        "Under counter-edit, m resolved 8 of 20 trials, 20 of 20 left alone: −60.0 points by task "
        "(95 % interval −"
    )
    assert first.endswith(", 20 tasks, p < 0.001).")
    assert "cannot tell" not in first
    assert second == (
        "The user acted in 20 of 20 trials; 8 of 20 tasks mostly solved left alone stay so (40 %; nothing "
        "here tells what noise alone would leave)."
    )


def test_two_tasks_are_said_to_be_too_few() -> None:
    first, _ = headline(study(_arms("m", "++", "--")))
    assert "−100.0 points by task" in first
    assert first.endswith("p = 0.5), which 2 tasks cannot tell from chance.")


def test_p_is_adjusted_for_all_conditions_that_the_headline_could_have_been_about() -> None:
    # Six tasks lost of six: p is 0.03 for one condition alone, and three were tried.
    rows = [
        *_arms("m", "++++++", "------", "edit-only"),
        *_arms("m", "", "++++++", "co-edit"),
        *_arms("m", "", "+++++-", "message-only"),
    ]
    alone, _ = headline(study(row for row in rows if row["condition"] in {"vanilla", "edit-only"}))
    assert "p = 0.031)" in alone
    assert "cannot tell" not in alone
    assert "adjusted" not in alone
    first, _ = headline(study(rows))
    assert first.startswith("Under edit-only, ")
    assert first.endswith("p = 0.094, adjusted for 3 conditions), which 6 tasks cannot tell from chance.")
    table = {row.condition: row.p_holm for row in condition_table(study(rows))}
    assert table["edit-only"] == pytest.approx(0.09375)


def test_over_several_agents_p_is_adjusted_as_well() -> None:
    rows = [
        row
        for model in ("m", "n")
        for row in (*_arms(model, "+" * 8, "-" * 8, "edit-only"), *_arms(model, "", "+" * 8, "co-edit"))
    ]
    assert "8 tasks, p = 0.016, adjusted for 2 conditions). The worst of 2 is " in headline(study(rows))[0]


@pytest.mark.parametrize("models", [("m",), ("m", "n")])
def test_its_first_sentence_is_short_however_much_must_be_said(models: tuple[str, ...]) -> None:
    rows = [
        row
        for model in models
        for row in (*_arms(model, "+++", "--+", "edit-only"), *_arms(model, "", "+++", "co-edit"))
    ]
    first = re.split(r"(?<=\.) (?=[A-Z])", headline(study(rows))[0])[0]
    assert "adjusted for 2 conditions), which 3 tasks cannot tell from chance" in first
    assert _words(first) <= 35


def test_of_several_agents_the_mean_and_the_worst_are_told() -> None:
    rows = [*_arms("good", "+" * 24, "+" * 24), *_arms("bad", "+" * 24, "+--" * 8)]
    first, _ = headline(study(rows))
    assert first.startswith(
        "Over 2 models, counter-edit changed the resolve rate by −33.3 points on average (95 % interval −"
    )
    assert ", 24 tasks, p < 0.001). The worst of 2 is bad: −66.7 (−" in first
    assert first.endswith(", not adjusted for having been picked).")


def test_agents_are_named_where_there_are_several() -> None:
    rows = [*_arms("m", "+", "-"), *(row | {"agent": "codex"} for row in _arms("m", "+", "-"))]
    first, _ = headline(study(rows))
    assert "Over 2 agents and models" in first
    assert "mini-swe-agent · m" in first


def test_it_is_about_the_counter_edit_where_there_is_one() -> None:
    rows = [
        *_arms("m", "++", "+-"),
        *_arms("m", "", "--", "edit-only"),
        *_arms("m", "", "+-", "counter-edit[k=5]"),
    ]
    assert headline(study(rows))[0].startswith("Under counter-edit, ")
    assert headline(study(row for row in rows if row["condition"] != "counter-edit"))[0].startswith(
        "Under counter-edit[k=5], "
    )
    others = [row for row in rows if not row["condition"].startswith("counter-edit")]
    assert headline(study(others))[0].startswith("Under edit-only, ")


def test_what_the_edits_did_is_told_from_lines_and_from_execution() -> None:
    rows = _arms("scripted/keeps", "+++", "---")
    rows[3] |= {
        "ablation": "edit_caused",
        "ablation_by": "removal",
        "ablation_stood": True,
        "ablation_final": True,
    }
    rows[5] |= {"delivered": 0, "failed_touched": False}
    found = {"run": "run", "intervention": "i", "shadow_of": [], "delivered": True, "has_edit": True}
    lines = {"written": 4, "kept": 2, "moved": 1, "removed": 1}
    interventions = [found | lines | {"trial": row["trial"]} for row in rows[3:5]]
    _, second = headline(study(rows, interventions))
    assert second == (
        "The user acted in 2 of 3 trials; 6 of 8 lines that they wrote stand at the end; executing without the edit "
        "shows that it caused 1 of 1 failure after one; 0 of 3 tasks mostly solved left alone stay so (0 %; nothing "
        "here tells what noise alone would leave); these models are scripted, so that this measures the "
        "product and no model."
    )


def test_retention_is_told_beside_what_noise_alone_would_leave() -> None:
    rows = [
        trial(f"t{task}", label, repeat=repeat, solved=(task + repeat) % 4 > 0)
        for label in ("vanilla", "counter-edit")
        for task in range(8)
        for repeat in (1, 2, 3)
    ]
    _, second = headline(study(rows))
    assert "8 of 8 tasks mostly solved left alone stay so (100 %, where noise alone would leave " in second


def test_what_was_said_is_told_of_the_condition_it_was_said_under() -> None:
    rows = [
        *(trial(task, "single-turn") for task in "ab"),
        *(
            talk(task, condition)
            for task in "ab"
            for condition in ("interactive", "interactive[persona=vague]")
        ),
    ]
    _, second = headline(study(rows))
    assert second.startswith("Under interactive, the user said 4 of 4 requirements")
    _, second = headline(study(rows[:2] + rows[2::2]))
    assert second.startswith("The user said 4 of 4 requirements")


def test_an_edit_that_never_landed_is_not_blamed() -> None:
    rows = [row | {"delivered": 0} for row in _arms("recorded/x", "++", "-+")]
    _, second = headline(study(rows))
    assert second == (
        "In none of its 2 trials did the user get to act, so it is not their doing; these models are recorded or "
        "scripted, so that this measures no live model."
    )


@pytest.mark.parametrize(
    ("rows", "first", "second"),
    [
        (
            _arms("m", "", "+-"),
            "Under counter-edit, m resolved 1 of 2 trials",
            "Vanilla was not run beside it",
        ),
        (
            _arms("m", "+++", ""),
            "Left alone, m resolved 3 of 3 trials (95 % interval 43.9 % to 100 %).",
            "No other",
        ),
        (
            [trial("a"), trial("b", "counter-edit")],
            "Left alone, m resolved 1 of 1 trial ",
            "No task has an outcome that counts on both sides",
        ),
        (
            [trial("a", solved=None), trial("b", solved=None, termination=None)],
            "None of 2 planned trials has an outcome that counts",
            "1 trial ended without one, and 1 did not run.",
        ),
        ([], "None of 0 planned trials", "0 trials ended without one"),
    ],
)
def test_what_cannot_be_compared_is_said_to_be_so(
    rows: list[dict[str, Any]], first: str, second: str
) -> None:
    one, two = headline(study(rows))
    assert one.startswith(first)
    assert two.startswith(second)


def _talks(model: str, at_will: str, end: str, condition: str = "interactive") -> list[dict[str, Any]]:
    """A trial a task: when the agent first wanted to end, and in the end."""
    return [
        talk(f"t{task:02}", condition, model=model, solved=last == "+", resolved_at_will=first == "+")
        for task, (first, last) in enumerate(zip(at_will, end, strict=True))
    ]


def _at_once(model: str, marks: str) -> list[dict[str, Any]]:
    return [
        trial(f"t{task:02}", "single-turn", model=model, solved=mark == "+")
        for task, mark in enumerate(marks)
    ]


def test_of_a_conversation_the_state_in_which_the_agent_first_wanted_to_end_leads() -> None:
    first, _ = headline(study([*_at_once("m", "+" * 8), *_talks("m", "-" * 8, "+" * 8)]))
    at_will, _, end = first.partition(". ")
    assert at_will.startswith(
        "Under interactive, m resolved 0 of 8 trials when it first wanted to end, 8 of 8 told all at once: "
        "−100.0 points by task (95 % interval "
    )
    assert at_will.endswith("8 tasks, p = 0.0078)")
    assert end.startswith("In the end it resolved 8 of 8: 0.0 points (95 % interval ")
    assert "cannot tell" not in first


def test_over_several_agents_the_end_of_conversations_follows_as_well() -> None:
    rows = [
        each
        for model in ("m", "n")
        for each in (*_at_once(model, "+" * 8), *_talks(model, "-" * 8, "+" * 4 + "-" * 4))
    ]
    first, _ = headline(study(rows))
    assert first.startswith(
        "Over 2 models, interactive changed the resolve rate, when they first wanted to end, by −100.0 points"
    )
    assert first.endswith(" In the end it is −50.0 points on average.")


def test_the_condition_that_costs_most_at_will_is_the_one_that_is_told_of() -> None:
    # In the end both come to the same.
    rows = [
        *_at_once("m", "+" * 8),
        *_talks("m", "-" * 4 + "+" * 4, "+" * 8),
        *_talks("m", "-" * 8, "+" * 8, "interactive[persona=vague]"),
    ]
    assert headline(study(rows))[0].startswith("Under interactive[persona=vague], m resolved 0 of 8 trials ")


def test_where_no_record_tells_of_that_state_the_end_is_compared() -> None:
    talks = [row | {"at_will": None, "resolved_at_will": None} for row in _talks("m", "-" * 8, "-" * 8)]
    first, _ = headline(study([*_at_once("m", "+" * 8), *talks]))
    assert first.startswith("Under interactive, m resolved 0 of 8 trials, 8 of 8 told all at once: −100.0")
    assert "In the end" not in first
