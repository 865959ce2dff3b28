"""The composition of failures and the agreement of judges as tables: no number of a judge's without its mark."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fourhands.analysis.study import Study
from fourhands.model.failure import FailureLabel, FoundBy
from fourhands.report.composition import compositions
from fourhands.report.document import study_document
from fourhands.report.rendering.latex import latex
from fourhands.report.rendering.records import records
from fourhands.report.summary import summary
from fourhands.report.table import TableView
from fourhands.report.views import VIEWS

from ..studies import frames, judged, said, study, talk  # noqa: TID252 - tests are no package that could be named

TECHNICAL, FORGOTTEN, REGRESSION, MISREAD, MISSING = FailureLabel
ALONE = ("mini-swe-agent", "m")


def _rows(*, run: str = "run") -> list[dict[str, Any]]:
    known = said.labelled((MISSING, FoundBy.EVENTS, "R1"), (REGRESSION, FoundBy.EXECUTION, "R2"))
    left = said.labelled(left=["R1"])
    return [
        talk("a", solved=False, run=run, **known),
        talk("b", solved=False, run=run, **left, **said.audits(said.opinion((TECHNICAL, "R1")))),
        talk("c", solved=False, run=run, **left),
    ]


OF_JUDGE = said.audited(study(_rows()), said.agreement(0.72))


def _view(name: str, of: Study) -> TableView:
    view = VIEWS[name](of)
    assert view is not None
    return view


def _table(name: str, of: Study, *columns: str) -> list[str]:
    view = _view(name, of)
    chosen = [[column.name for column in view.columns].index(each) for each in columns]
    return [" | ".join(cells[i].text for i in chosen) for cells in view.rows]


def test_each_label_tells_its_evidence_its_shares_and_its_judge() -> None:
    columns = ("label", "judge", "trials", "by_execution", "by_events", "by_judge", "share", "rate")
    assert _table("failures", OF_JUDGE, *columns) == [
        "regression | – | 1 of 3 | 1 | 0 | 0 | 25% | 33%",
        "missing | – | 1 of 3 | 0 | 1 | 0 | 25% | 33%",
        "undecided | – | 2 of 3 | 0 | 0 | 0 | 50% | 67%",
        "technical bug | judge:j, κ 0.72 | 1 of 3 | 0 | 0 | 1 | 25% | 33%",
        "regression | judge:j, κ 0.72 | 1 of 3 | 1 | 0 | 0 | 25% | 33%",
        "missing | judge:j, κ 0.72 | 1 of 3 | 0 | 1 | 0 | 25% | 33%",
        "undecided | judge:j, κ 0.72 | 1 of 3 | 0 | 0 | 0 | 25% | 33%",
    ]
    *_, row, _ = records(_view("failures", OF_JUDGE))
    assert (row["population"], row["unresolved"], row["judged"], row["judged_of"]) == (3, 3, 0, 1)
    assert (row["audited"], row["trusted"], row["kappa"], row["prompt_version"]) == (True, True, 0.72, 1)


@pytest.mark.parametrize(
    ("agreements", "mark"),
    [
        ((), "judge:j, unaudited"),
        ((said.agreement(0.41),), "judge:j, κ 0.41 < 0.6"),
        ((said.agreement(0.9, prompt=2),), "judge:j, unaudited"),
    ],
)
def test_a_judge_is_marked_in_every_row_that_it_has_a_part_in(agreements: tuple[Any, ...], mark: str) -> None:
    of = said.audited(study(_rows()), *agreements)
    assert set(_table("failures", of, "judge")) == {"–", mark}
    (section,) = summary(of).sections
    (table,) = (each for each in section.tables if each.name == "failures")
    assert {cells[0].text for cells in table.rows} == {mark}
    assert any("unaudited:" in note or "κ:" in note for note in _view("failures", of).notes)
    assert any("unaudited:" in note or "κ:" in note for note in summary(of).notes)


def test_a_corrected_share_stands_only_where_the_row_counts_just_what_was_measured() -> None:
    def corrected(of: Study) -> set[object]:
        return {row["corrected"] for row in records(_view("failures", of)) if row["label"] != "undecided"}

    assert corrected(OF_JUDGE) == {None, 0.31}  # not of the rows without the judge
    by_judge = [row for row in records(_view("failures", OF_JUDGE)) if row["corrected"] is not None]
    assert {(row["judge"], row["corrected_low"], row["corrected_high"]) for row in by_judge} == {
        ("judge:j", 0.2, 0.4)
    }
    elsewhere = said.agreement(0.72, measured_on=("run", "other"))
    assert corrected(said.audited(study(_rows()), elsewhere)) == {None}
    two = study([*_rows(), *(row | {"model": "n"} for row in _rows())])
    rows = [
        row for row in records(_view("failures", said.audited(two, said.agreement(0.72)))) if row["corrected"]
    ]
    assert {row["agent"] for row in rows} == {"all"}  # of a part of the runs nothing was measured


def test_agreement_has_a_line_for_the_whole_and_one_for_each_label() -> None:
    columns = ("audit", "source", "label", "verdict", "items", "kappa", "sensitivity", "corrected")
    first, second, *_ = _table("agreement", OF_JUDGE, *columns)
    assert first == "swe-interact | people | all | trusted | 100 | 0.72 (0.62–0.82) |  | "
    assert second == (
        "swe-interact | people | technical implementation bug | trusted | 100 | 0.72 (0.62–0.82) | 90% (70–97%) | "
        "31% (20–40%)"
    )
    for agreements, verdict in (
        ((), "unaudited"),
        ((said.agreement(0.41),), "not trusted: κ 0.41 < 0.6"),
        ((said.agreement(None),), "not trusted: κ undefined"),
        ((replace(said.agreement(0.9), annotators=("ann",)),), "unaudited: too little to say"),
    ):
        assert _table("agreement", said.audited(study(_rows()), *agreements), "verdict")[0] == verdict
    old = said.audited(study(_rows()), said.agreement(0.9, prompt=0))
    rows = records(_view("agreement", old))
    assert [row["verdict"] for row in rows if row["label"] == "all" and row["verdict"]] == [
        "trusted; it has not spoken here by these versions",
        "unaudited: other versions were measured",
    ]
    row = records(_view("agreement", OF_JUDGE))[0]
    assert (row["items"], row["counted"], row["counted_kappa"]) == (100, 50, 0.72)
    assert (row["read"], row["population"]) == (300, 300)


def test_latex_has_kappa_as_a_letter_of_its_own() -> None:
    for name in ("failures", "agreement"):
        text = latex(_view(name, OF_JUDGE))
        assert r"$\kappa$" in text
        assert "U+" not in text


def test_the_document_marks_each_trials_judge_by_what_is_known_today() -> None:
    row = _rows()[1] | {"judged": judged(plan=1.0, final=2.0)}
    goals = said.agreement(0.5, audit=said.AuditName.GOALS, prompt=2)
    (told,) = study_document(said.audited(study([row]), said.agreement(0.72), goals))["trials"]
    (opinion,) = told["audits"]
    assert (opinion["audited"], opinion["trusted"], opinion["kappa"]) == (True, True, 0.72)
    first, second = told["judged"]
    assert (first["audited"], first["trusted"], first["kappa"]) == (True, False, 0.5)
    assert (second["audited"], second["trusted"], second["kappa"]) == (False, False, None)
    (bare,) = study_document(study([row]))["trials"]
    assert [each["audited"] for each in (*bare["audits"], *bare["judged"])] == [False] * 3


def test_the_judged_table_takes_its_mark_from_the_agreement_on_goals() -> None:
    row = talk("a", judged=judged(plan=1.0, final=2.0))
    of = said.audited(study([row]), said.agreement(0.8, audit=said.AuditName.GOALS, prompt=2))
    assert _table("judged", of, "judge") == ["judge:j, κ 0.80", "judge:k, unaudited"]
    assert (
        _table("judged", said.audited(study([row]), said.agreement(0.8)), "judge")[0] == "judge:j, unaudited"
    )


def test_the_summary_has_what_there_is_of_each_scheme_and_nothing_where_nothing_is_known() -> None:
    (table,) = compositions(_view("failures", OF_JUDGE), ALONE)
    assert [column.title for column in table.columns] == [
        "as read by", "label", "trials", "exec.", "events", "judge", "of labels",
    ]  # fmt: skip
    assert [cells[1].value for cells in table.rows] == [TECHNICAL, REGRESSION, MISSING, "undecided"]
    plain = _view("failures", study([_rows()[0]]))
    (table,) = compositions(plain, ALONE)
    assert [" | ".join(cell.text for cell in cells) for cells in table.rows] == [
        "regression | 1 of 1 | 1 | 0 | 50%",
        "missing | 1 of 1 | 0 | 1 | 50%",
    ]
    unknown = study([_rows()[2]])
    assert list(compositions(_view("failures", unknown), ALONE)) == []
    assert not any("execution:" in note for note in summary(unknown).notes)
    assert list(compositions(plain, ("mini-swe-agent", "n"))) == []


def test_of_an_agent_the_summary_counts_all_its_conditions_once() -> None:
    rows = [*_rows(), talk("a", "interactive[simulator=x]", solved=False, **_only(REGRESSION))]
    (table,) = compositions(_view("failures", frames.study(rows)), ALONE)
    assert [cells[2].text for cells in table.rows if cells[1].text == REGRESSION] == ["2 of 4"]


def _only(label: FailureLabel) -> dict[str, Any]:
    found: dict[str, Any] = said.labelled((label, FoundBy.EXECUTION, "R1"))
    return found


def test_what_waits_for_an_ablation_is_told() -> None:
    rows = [frames.trial("a", repeat=repeat) for repeat in (1, 2, 3)]
    rows += [frames.trial("a", "counter-edit", solved=False, repeat=repeat) for repeat in (1, 2, 3)]
    rows[-1]["ablation"] = "also_broken_without"
    view = _view("failures", study(rows))
    told = (
        "swe-touch: 2 of what is open is not ablated, or not to the end, which might decide it: fourhands ablate "
        "does it."
    )
    assert told in view.notes
    rows[3]["ablation"] = rows[4]["ablation"] = "cannot_compose"
    assert not any("fourhands ablate" in note for note in _view("failures", study(rows)).notes)


def test_a_label_that_a_judge_gives_where_others_decide_keeps_its_line() -> None:
    found = said.labelled((REGRESSION, FoundBy.EXECUTION, "R2"))
    of = study([talk("a", solved=False, **found, **said.audits(said.opinion((MISREAD, "R1"))))])
    assert _table("failures", of, "judge", "label", "trials", "judged") == [
        "– | regression | 1 of 1 | –",
        "judge:j, unaudited | regression | 1 of 1 | 0 of 1",
        "judge:j, unaudited | misinterpretation | 0 of 1 | 1 of 1",
    ]
    (table,) = compositions(_view("failures", of), ALONE)
    assert [cells[1].text for cells in table.rows] == ["regression"]


def test_what_rests_on_the_users_own_model_stands_in_a_row_of_its_own_marked_unaudited() -> None:
    found = said.labelled((REGRESSION, FoundBy.JUDGE, "R7"))
    of = study([talk("a", "interactive[simulator=x]", solved=False, **found)])
    known = said.agreement(0.99, judge="judge:x")
    for each in (of, said.audited(of, known)):
        assert _table("failures", each, "judge", "label", "trials", "by_judge") == [
            "– | undecided | 1 of 1 | 0",
            "simulator:x, unaudited | regression | 1 of 1 | 1",
        ]
    assert any(
        note.startswith("simulator:…: what the user's own model says") for note in _view("failures", of).notes
    )
    assert any(note.startswith("unaudited:") for note in _view("failures", of).notes)
    (table,) = compositions(_view("failures", of), ALONE)
    assert [cells[0].text for cells in table.rows] == ["simulator:x, unaudited"]
    assert "regression" not in " ".join(summary(of).headline)
