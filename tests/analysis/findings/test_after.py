from __future__ import annotations

from typing import Any

from fourhands.analysis.findings.after import after_table

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def _followed(of: dict[str, Any], name: str = "i1", *, seq: int = 5, **values: Any) -> dict[str, Any]:
    """A delivered intervention of a trial; what is not named did not happen."""
    counts = ("kept", "moved", "changed", "removed", "ever_revised", "absent_at_end")
    counts += (
        "taken_out",
        "put_back",
        "ever_put_back",
        "re_reads",
        "reads_after",
        "edits_after",
        "tests_after",
    )
    return {
        "run": of["run"],
        "trial": of["trial"],
        "intervention": name,
        "shadow_of": [],
        "has_edit": True,
        "delivered": True,
        "delivered_seq": seq,
        **dict.fromkeys(counts, 0),
        "written": sum(values.get(each) or 0 for each in ("kept", "moved", "changed", "removed")),
        "asked": False,
        "mentioned": False,
        "mode": "ignores",
        **values,
    }


def test_lines_and_answers_are_counted_per_condition() -> None:
    vanilla = trial("t")
    first = trial("t", "counter-edit", solved=False)
    second = trial("t", "counter-edit", solved=False, repeat=2)
    helped = trial("t", "co-edit")
    rows = after_table(
        study(
            [vanilla, first, second, helped],
            [
                _followed(vanilla, shadow_of=["counter-edit"]),
                _followed(first, kept=2, moved=1, re_reads=2, reads_after=1, mentioned=True),
                _followed(
                    second,
                    kept=1,
                    changed=1,
                    removed=1,
                    ever_revised=2,
                    absent_at_end=2,
                    reads_after=1,
                    tests_after=1,
                    mentioned=True,
                    mode="reverts",
                ),
                _followed(second, "i2", delivered=False),
                _followed(helped, kept=1),
            ],
        )
    )
    assert [row.condition for row in rows] == ["counter-edit", "co-edit"]
    row = rows[0]
    assert (row.trials, row.interventions, row.written) == (2, 2, 6)
    assert (row.kept, row.moved, row.changed, row.removed) == (3, 1, 1, 1)
    assert (row.ever_revised, row.absent_at_end, row.revision.revised) == (2, 2, 1)
    assert (row.re_read, row.tested, row.asked, row.mentioned) == (1, 1, 0, 2)
    assert (row.reads_after_final_edit, row.tests_after_final_edit) == (1.0, 0.5)
    assert row.modes == {"ignores": 1, "reverts": 1}


def test_what_follows_is_counted_from_the_last_edit_of_a_trial() -> None:
    touched, told = trial("a", "counter-edit"), trial("b", "message-only")
    found = [
        _followed(touched, "late", seq=20, kept=1, reads_after=1, edits_after=2),
        _followed(touched, "words", seq=30, has_edit=False, reads_after=0),
        _followed(touched, "early", seq=10, kept=1, reads_after=9, edits_after=9, tests_after=9),
        _followed(told, has_edit=False, reads_after=4),
    ]
    edited, said = after_table(study([touched, told], found))
    assert (edited.edited, edited.reads_after_final_edit, edited.edits_after_final_edit) == (1, 1.0, 2.0)
    assert (said.interventions, said.edited, said.reads_after_final_edit) == (1, 0, None)


def test_an_older_record_tells_an_edit_by_what_came_of_it() -> None:
    rows = [trial("a", "counter-edit"), trial("b", "counter-edit")]
    found = [_followed(rows[0], has_edit=None, edit_outcome="applied"), _followed(rows[1], has_edit=None)]
    (row,) = after_table(study(rows, found))
    assert (row.interventions, row.edited) == (2, 1)


def test_revised_at_some_time_and_absent_at_the_end_are_two_numbers() -> None:
    trials = [trial(task, "counter-edit", solved=task in "ad") for task in "abcde"]
    a, b, c, d, e = trials
    found = [
        _followed(a, kept=2),
        _followed(b, removed=2, ever_revised=2, absent_at_end=2),
        # Taken out by the agent, and written again by the user.
        _followed(c, "i1", seq=1, removed=2, ever_revised=2, absent_at_end=2),
        _followed(c, "i2", seq=2, kept=2),
        _followed(d, written=0, taken_out=3, put_back=3, ever_put_back=3),
        _followed(e, written=None, kept=None),  # a record that does not tell
    ]
    (row,) = after_table(study(trials, found))
    assert (row.trials, row.revision.trials, row.revision.revised, row.revision.absent) == (5, 4, 3, 2)
    assert row.revision.rate == 0.75
    failed = row.revision_of_failed
    assert (failed.trials, failed.revised, failed.absent) == (2, 2, 1)
