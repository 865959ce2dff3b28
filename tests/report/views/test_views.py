"""Every table that a study has: whole, defined, and telling what its numbers say."""

from __future__ import annotations

import pytest

from fourhands.report.rendering.markdown import markdown
from fourhands.report.rendering.records import names, records
from fourhands.report.table import TableView
from fourhands.report.views import VIEWS

from ..studies import conversing, in_parts, line, several, study, talk, trial  # noqa: TID252 - tests are no package that could be named

STUDY = several()
TALKING = conversing()
IN_PARTS = in_parts()
OF_TALK = {"conversations", "talk", "labels", "single-multi", "judged", "simulators", "simulator-pairs"} | {
    *("discovery", "goals-verifier", "requirement-states", "failures", "agreement"),
}


def _view(name: str) -> TableView:
    view = VIEWS[name](
        IN_PARTS if name in {"personas", "four-hands"} else TALKING if name in OF_TALK else STUDY
    )
    assert view is not None
    return view


def _table(name: str, *columns: str) -> list[str]:
    """Some columns of a table as text, a line for each row."""
    view = _view(name)
    chosen = [[column.name for column in view.columns].index(each) for each in columns]
    return [" | ".join(cells[i].text for i in chosen) for cells in view.rows]


@pytest.mark.parametrize("name", VIEWS)
def test_a_table_is_whole_and_each_column_is_defined(name: str) -> None:
    view = _view(name)
    assert view.name == name
    assert view.title
    assert len(names(view)) == len(set(names(view)))
    assert all(column.definition for column in view.columns)
    assert len({column.title for column in view.columns}) == len(view.columns)
    for cells in view.rows:
        assert len(cells) == len(view.columns)
        for column, cell in zip(view.columns, cells, strict=True):
            assert len(cell.more) in {0, len(column.more)}, column.name
    assert view.rows
    assert markdown(view)


@pytest.mark.parametrize("name", VIEWS)
def test_without_trials_there_is_no_table(name: str) -> None:
    assert VIEWS[name](study([])) is None


def test_resolved_and_the_difference_with_its_interval_and_test() -> None:
    columns = ("model", "condition", "scored", "resolve_rate", "delta", "p", "p_holm", "steps")
    assert _table("conditions", *columns) == [
        "m | vanilla | 8 | 8 = 100% |  |  |  | 10.0",
        "m | counter-edit | 8 | 4 = 50% | −50.0 | 0.50 | 1 | 12.0",
        "m | counter-edit[k=1] | 8 | 8 = 100% | +0.0 | 1 | 1 | 10.0",
        "n | vanilla | 8 | 8 = 100% |  |  |  | 10.0",
        "n | counter-edit | 6 of 8 | 6 = 100% | +0.0* | 1 | 1 | 12.0",
        "n | counter-edit[k=1] | 8 | 8 = 100% | +0.0 | 1 | 1 | 10.0",
    ]
    rows = records(_view("conditions"))
    assert (rows[1]["resolved"], rows[1]["pairs"], rows[1]["incomplete_pairs"]) == (4, 4, 0)
    assert (rows[4]["pairs"], rows[4]["incomplete_pairs"], rows[4]["trials"]) == (3, 1, 8)
    assert isinstance(rows[1]["delta_low"], float)
    assert isinstance(rows[1]["delta_high"], float)
    assert -1 <= rows[1]["delta_low"] < -0.5 < rows[1]["delta_high"]
    notes = _view("conditions").notes
    assert any(note.startswith("*: ") for note in notes)
    assert any("Holm" in note for note in notes)


def test_the_main_table_has_spread_ranks_and_retention_with_its_null() -> None:
    columns = ("model", "condition", "vanilla_resolve", "condition_resolve", "vanilla_rank", "condition_rank")
    assert _table("main", *columns, "rank_change", "retention", "null_retention") == [
        "m | counter-edit | 100.0 ± 0.0 | 50.0 ± 0.0 | 1= | 2 | −1 | 50.0%† | –",
        "m | counter-edit[k=1] | 100.0 ± 0.0 | 100.0 ± 0.0 | 1= | 1= | 0 | 100.0%† | –",
        "n | counter-edit | 100.0 ± 0.0 | 100.0 ± 0.0 | 1= | 1 | 0 | 100.0%† | –",
        "n | counter-edit[k=1] | 100.0 ± 0.0 | 100.0 ± 0.0 | 1= | 1= | 0 | 100.0%† | –",
    ]
    notes = " ".join(_view("main").notes)
    assert all(mark in notes for mark in ("†: ", "=: ", "*: ", "null: "))


def test_the_null_of_retention_stands_beside_it_where_there_are_tasks_and_repeats_enough() -> None:
    rows = [
        trial(task, label, repeat=repeat)
        for task in "abcdefgh"
        for label in ("vanilla", "counter-edit")
        for repeat in (1, 2, 3)
    ]
    view = VIEWS["main"](study(rows))
    assert view is not None
    assert [row["null_retention"] for row in records(view)] == [1.0]


def test_a_sign_that_does_not_occur_is_not_explained() -> None:
    view = VIEWS["main"](
        study([trial(repeat=n, condition=c) for n in (1, 2, 3) for c in ("vanilla", "co-edit")])
    )
    assert view is not None
    assert not any(note.startswith(("*", "†", "=")) for note in view.notes)


def test_what_the_user_did_is_left_blank_where_there_was_none() -> None:
    columns = ("model", "condition", "intended", "would_have_triggered", "triggered", "delivered", "carried")
    assert _table("delivery", *columns)[:3] == [
        "m | vanilla |  | 8 |  |  | ",
        "m | counter-edit | 8 | 8 | 8 | 8 | 8",
        "m | counter-edit[k=1] | 8 | – | 8 | 8 | 8",
    ]


def test_lines_answers_and_causes() -> None:
    assert _table(
        "after", "model", "interventions", "written", "kept", "re_read", "mentioned", "mode_ignores"
    ) == [
        "m | 8 | 32 | 32 | 8 | 8 | 8",
        "n | 8 | 32 | 32 | 8 | 8 | 8",
    ]
    columns = ("model", "failed_touched", "by_removal", "not_ablated", "edit_caused_rate", "lost_edit_caused")
    assert _table("causal", *columns) == ["m | 4 | 2 | 2 | 100% | 2 of 4"]
    assert _view("causal").notes == ("not yet: fourhands ablate RUN looks at them.",)


def test_tasks_that_change_sides() -> None:
    columns = ("model", "condition", "tasks", "solved_kept", "solved_to_unresolved", "p")
    assert _table("transitions", *columns)[0] == "m | counter-edit | 4† | 2 | 2 | 0.50"
    assert _table("transitions", *columns)[2] == "n | counter-edit | 3†* | 3 | 0 | 1"


def test_benchmarks_statuses_repeats_and_k_apart() -> None:
    assert (
        _table("long-horizon", "benchmark", "model", "condition", "delta")[0]
        == "verified | m | counter-edit | −50.0"
    )
    assert _table("by-status", "record_status", "model", "condition", "tasks", "delta")[1:3] == [
        "validated | m | counter-edit | 2 | −100.0",
        "validated | m | counter-edit[k=1] | 2 | +0.0",
    ]
    assert _table("pass-k", "model", "condition", "k", "pass_k")[2:4] == [
        "m | counter-edit | 1 | 50.0%",
        "m | counter-edit | 2 | 50.0%",
    ]
    assert _table("k-sweep", "model", "condition", "k", "resolve_rate", "delta")[:3] == [
        "m | counter-edit | 0 | 100.0% | –",
        "m | counter-edit | 1 | 100.0% | +0.0",
        "m | counter-edit | 3 | 50.0% | −50.0",
    ]


def test_by_interventions_delivered_is_a_description_and_says_so() -> None:
    columns = ("model", "condition", "delivered", "scored", "resolve_rate", "resolve_rate_low")
    assert _table("delivered-count", *columns)[:2] == [
        "m | counter-edit | 1 | 8 | 50.0% | 22–78%",
        "m | counter-edit[k=1] | 1 | 8 | 100.0% | 68–100%",
    ]
    assert records(_view("delivered-count"))[0]["resolved"] == 4
    (note,) = _view("delivered-count").notes
    assert note.startswith("Description only: ")
    assert note.endswith("conditioning on delivery is selection.")


@pytest.mark.parametrize(("gone", "after"), [(4, "0%"), (3, "–")])
def test_survival_stays_at_0_once_every_line_is_gone_and_is_unknown_beyond_what_was_watched(
    gone: int, after: str
) -> None:
    touched = trial("a", "counter-edit", steps=9)
    lines = [
        line(
            touched,
            line=n,
            written_step=1,
            **({"gone_step": 3, "first_revised_step": 3} if n <= gone else {}),
        )
        for n in (1, 2, 3, 4)
    ]
    view = VIEWS["survival"](study([trial("a"), touched], lines=lines))
    assert view is not None
    at = [column.name for column in view.columns].index("share_after_10")
    assert [(cells[at].text, cells[at].value) for cells in view.rows] == [
        (after, 0.0 if after == "0%" else None)
    ] * 2


def test_the_mean_over_agents_stands_below_them() -> None:
    lines = _table("controls", "condition", "agent", "model", "delta")
    assert lines[:3] == [
        "counter-edit | mini-swe-agent | m | −50.0",
        "counter-edit | mini-swe-agent | n | +0.0*",
        "counter-edit | mean | of 2 | −25.0",
    ]


def test_costs_are_dollars_and_the_value_is_the_amount() -> None:
    assert _table("costs", "model", "condition", "cost", "cost_total", "delta_cost")[1] == (
        "m | counter-edit | $0.100 | $0.800 | +$0.000"
    )
    assert records(_view("costs"))[1]["cost_total"] == pytest.approx(0.8)


def test_edits_are_measured() -> None:
    assert _table("patch-size", "benchmark", "patch", "tasks", "lines") == [
        "verified | counter-edit | 4 | 2.00"
    ]


def test_every_trial_has_a_line() -> None:
    rows = _table("trials", "task", "model", "condition", "repeat", "verdict", "termination")
    assert len(rows) == STUDY.tables.trials.height
    assert rows[0] == "a | m | vanilla | 1 | resolved | finished"


def test_conversations_show_both_rates_per_simulator_and_pooled() -> None:
    columns = ("condition", "simulator", "at_will", "full", "cut", "lenient", "strict", "held")
    cut = "b__mini-swe-agent-t__interactive[simulator=x]__r1: R2"
    assert _table("conversations", *columns) == [
        "interactive | grounded | 1/2 = 50% | 1/2 = 50% | 0 | 50% | 50% | –",
        f"interactive[simulator=x] | x (verifier-informed) | 1/2 = 50% | 1/1 = 100% | 1 | 50% | 50% | {cut}",
        f"interactive[simulator=*] | pooled (verifier-informed) | 2/4 = 50% | 2/3 = 67% | 1 | 50% | 50% | {cut}",
    ]
    view = _view("conversations")
    assert any(note.startswith("verifier-informed:") for note in view.notes)


def test_judges_have_rows_of_their_own_marked_unaudited_beside_what_checks_found_of_the_same_trials() -> None:
    columns = ("condition", "judge", "judged", "judged_plan", "judged_final", "final_score", "unscored")
    assert _table("judged", *columns) == [
        "interactive | judge:j, unaudited | 2 | 80.0 | 65.0 | 100.0 | 2 of 12",
        "interactive | judge:k, unaudited | 2 | – | – | 100.0 | 12 of 12",
    ]
    assert [row["audited"] for row in records(_view("judged"))] == [False, False]


def test_labels_count_trials_and_requirements_and_account_for_full_coverage() -> None:
    columns = ("simulator", "failed", "missing", "forgotten", "covered", "missing_covered", "missing_at_will")
    assert _table("labels", *columns) == [
        "grounded | 1 | 0 | 1 | 1 | 0 | 0",
        "x (verifier-informed) | 1 | 1 | 0 | 0 | 0 | 1",
        "pooled (verifier-informed) | 2 | 1 | 1 | 1 | 0 | 1",
    ]


def test_a_conversation_is_compared_with_the_same_tasks_told_at_once() -> None:
    columns = (
        "condition",
        "baseline",
        "tasks",
        "rate_single",
        "rate_at_will",
        "rate_multi",
        "rate_ratio",
        "steps_ratio",
    )
    assert (
        _table("single-multi", *columns)[0]
        == "interactive | single-turn | 2 | 100.0% | 50.0% | 50.0% | ×0.50 | ×1.00"
    )
    conditions = VIEWS["conditions"](TALKING)
    assert conditions is not None
    assert next(cells[2].text for cells in conditions.rows) == "single-turn"
    assert any("single-turn" in note for note in conditions.notes)


def test_a_persona_stands_beside_the_neutral_one_with_the_family_of_its_p() -> None:
    columns = ("condition", "persona", "tasks", "at_will", "end", "delta", "p", "p_holm", "said", "premature")
    assert _table("personas", *columns) == [
        "interactive | nitpicker | 2 | 50% vs 100% | 50% vs 100% | −50.0 | 1 | 1 | 6.0 vs 4.0 | 0% vs 0%"
    ]
    row = records(_view("personas"))[0]
    assert (row["family"], row["family_at_will"], row["said"], row["said_neutral"]) == (1, 1, 6.0, 4.0)
    assert any(
        note.startswith("p (Holm): the family is all personas of one agent")
        for note in _view("personas").notes
    )


def test_four_hands_stand_beside_their_parts_on_the_tasks_that_have_all_four() -> None:
    columns = (
        "state",
        "tasks",
        "rate_alone",
        "delta_talked",
        "delta_touched",
        "delta_both",
        "interaction",
        "lacking",
    )
    assert _table("four-hands", *columns) == [
        f"{state} | 1 of 2 | 100% | +0.0 | −100.0 | −100.0 | +0.0 | b: four-hands"
        for state in ("at will", "end")
    ]


def test_of_many_tasks_the_first_are_named_for_people_and_all_for_machines() -> None:
    tasks = [f"t{n}" for n in range(9)]
    rows = [trial(task, "single-turn") for task in tasks]
    rows += [trial(task, "counter-edit") for task in tasks]
    rows += [talk(task, label) for task in tasks for label in ("interactive", "four-hands")]
    view = VIEWS["four-hands"](study(rows))
    assert view is not None
    place = [column.name for column in view.columns].index("complete_tasks")
    assert view.rows[0][place].text == "t0, t1, t2, … 6 more"
    assert records(view)[0]["complete_tasks"] == ", ".join(tasks)


def test_ratios_and_both_populations_of_effort_are_told_with_costs_that_stay_unknown() -> None:
    view = VIEWS["single-multi"](
        study(
            [
                trial("a", "single-turn", steps=10, cost=None, cost_at_least=0.0),
                trial("b", "single-turn", steps=20, tokens=500, uncounted_replies=1),
                talk("a", steps=30),
                talk("b", steps=90, termination="step_limit"),
            ]
        )
    )
    assert view is not None
    (row,) = records(view)
    assert (row["steps_single"], row["steps_multi"], row["steps_ratio"]) == (15.0, 60.0, 4.0)
    assert (row["completed_steps_single"], row["completed_steps_multi"]) == (10.0, 30.0)
    assert (row["completed_single"], row["completed_multi"], row["completed_steps_ratio"]) == (1, 1, 3.0)
    assert row["completed_tasks"] == 1  # of the other no conversation came to its end
    assert (row["cost_single"], row["cost_multi"], row["cost_ratio"]) == (None, 0.1, None)
    assert (row["tokens_single"], row["tokens_ratio"]) == (750.0, None)
    shown = {column.name: cell.text for column, cell in zip(view.columns, view.rows[0], strict=True)}
    assert shown["steps_single"] == "15.0 → 60.0"
    assert shown["tokens_single"] == "≥ 750 → 1,000"
    assert shown["cost_single"] == "≥ $0.050 → $0.100"
    assert any(note.startswith("≥: ") for note in view.notes)
