"""What is shown of how large a run must be."""

from __future__ import annotations

from fourhands.analysis.sizing import Needed, Sizing
from fourhands.analysis.statistics import Variance
from fourhands.report.rendering.records import records
from fourhands.report.table import TableView
from fourhands.report.views.sizing import assumed_sizes, sizes

WHOLE = Sizing(
    agent="thin",
    model="m",
    condition="counter-edit",
    tasks=40,
    repeats=3.0,
    delta=-0.1,
    variance=Variance(0.02, 0.3),
    power=0.5,
    needed=(Needed(1, 1400), Needed(3, 600)),
    factors=(0.67, 1.65),
)
SMALL = Sizing(
    agent="thin",
    model="m",
    condition="co-edit",
    tasks=8,
    repeats=1.0,
    delta=0.0,
    variance=Variance(0.2, 0.0, separated=False),
    power=0.1,
    needed=(Needed(1, 700), Needed(3, 700, is_most=True)),
    factors=(0.44, 4.1),
)
NONE = Sizing("thin", "m", "neutral-edit", tasks=0, repeats=None, delta=None, lacks="no task is scored")
ALSO_NONE = Sizing("thin", "n", "neutral-edit", tasks=0, repeats=None, delta=None, lacks="no task is scored")


def view(*rows: Sizing) -> TableView:
    shown = sizes(rows, -0.05, [1, 3], chance=0.8)
    assert shown is not None
    return shown


def test_an_agent_and_condition_is_a_row_with_the_tasks_needed_for_each_number_of_repeats() -> None:
    shown = view(WHOLE, SMALL, NONE)
    assert [column.title for column in shown.columns][3:] == [
        *("tasks", "repeats", "Δ seen", "power", "tasks ×1", "tasks ×3"),
    ]
    assert [[cell.text for cell in row[3:]] for row in shown.rows] == [
        ["40", "3", "−10.0", "50%", "1,400", "600"],
        ["8", "1", "+0.0", "10%", "700", "≤ 700"],
        ["0", "–", "–", "–", "–", "–"],
    ]
    assert records(shown)[0]["tasks_at_3"] == 600


def test_what_a_reader_must_know_is_said_where_it_applies_and_only_there() -> None:
    assert [note[:22] for note in view(WHOLE).notes] == ["To show Δ = −5.0 point", "Power is of one compar"]
    small = " ".join(view(SMALL).notes)
    assert "how much tasks differ cannot be told from chance" in small
    assert (
        "thin · m · co-edit: 8 tasks tell a variance roughly: the tasks needed may be 0.44 to 4.1 times"
        in small
    )
    notes = view(NONE, ALSO_NONE).notes
    assert notes == (
        "To show Δ = −5.0 points with a chance of 80%.",
        "thin · m · neutral-edit, thin · n · neutral-edit: too small to tell: no task is scored.",
    )


def test_from_assumed_rates_the_trials_of_both_conditions_are_told() -> None:
    shown = assumed_sizes((Needed(3, 369),), -0.05, rate=0.75, chance=0.8)
    assert shown is not None
    assert [cell.text for cell in shown.rows[0]] == ["3", "369", "2,214"]
    assert shown.notes[0] == "To show 75% → 70% (Δ = −5.0 points) with a chance of 80%."


def test_without_a_condition_there_is_no_table() -> None:
    assert sizes([], -0.05, [1], chance=0.8) is None
