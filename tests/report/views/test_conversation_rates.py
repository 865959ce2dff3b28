"""No rate of a conversation stands without its trials and both of its intervals."""

from __future__ import annotations

import pytest

from fourhands.analysis.statistics import rate_interval, wilson
from fourhands.report.rendering.records import records
from fourhands.report.summary import summary
from fourhands.report.views import VIEWS

from ...analysis.frames import study, talk, trial  # noqa: TID252 - tests are no package that could be named

_TASKS = "abcdefgh"
_STUDY = study(
    [
        *(trial(task, "single-turn") for task in _TASKS),
        *(trial(task, "counter-edit", solved=task in "abcd") for task in _TASKS),
        *(
            talk(
                task, condition, resolved_at_will=task in "abc", solved=task in "abcdef", held_at_will=["R1"]
            )
            for condition in ("interactive", "interactive[persona=neutral]", "four-hands")
            for task in _TASKS
        ),
    ]
)


@pytest.mark.parametrize(
    ("table", "rate", "count", "trials", "solved"),
    [
        ("personas", "at_will", "at_will_count", "at_will_trials", 3),
        ("personas", "at_will_neutral", "at_will_neutral_count", "at_will_neutral_trials", 3),
        ("personas", "end", "end_count", "end_trials", 6),
        ("personas", "premature", "premature_count", "premature_trials", 8),
        ("personas", "premature_neutral", "premature_neutral_count", "premature_neutral_trials", 8),
        ("four-hands", "rate_alone", "rate_alone_resolved", "rate_alone_trials", 8),
        ("four-hands", "rate_both", "rate_both_resolved", "rate_both_trials", 3),
        ("goals-verifier", "resolve_rate", "resolved", "trials", 6),
        ("conversations", "at_will_strict", "at_will_strict_resolved", "at_will_trials", 3),
    ],
)
def test_a_rate_has_its_trials_wilsons_interval_and_that_by_task(
    table: str, rate: str, count: str, trials: str, solved: int
) -> None:
    view = VIEWS[table](_STUDY)
    assert view is not None
    row = records(view)[0]
    assert (row[rate], row[count], row[trials]) == (solved / 8, solved, 8)
    ends = [wilson(solved, 8), rate_interval([1.0] * solved + [0.0] * (8 - solved))]
    for interval, name in zip(ends, (rate, f"{rate}_clustered"), strict=True):
        assert interval is not None
        assert (row[f"{name}_low"], row[f"{name}_high"]) == (interval.low, interval.high)


def test_what_is_said_of_a_conversation_in_the_terminal_names_the_state_at_will() -> None:
    of = summary(_STUDY)
    told = "m: 6 of 8 resolved under interactive, 8 of 8 left alone; 3 of 8 when it first wanted to end."
    assert told in of.findings
    (turns,) = [table for table in of.sections[0].tables if table.name == "single-multi"]
    shown = dict(zip((column.title for column in turns.columns), turns.rows[0], strict=True))
    assert shown["rate"].text == "×0.38"
