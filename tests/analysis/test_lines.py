from __future__ import annotations

from typing import Any

from fourhands.analysis.lines import InterventionLines, follow_user_lines
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind


class Record:
    """Events of a trial, one after the other."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, actor: Actor, kind: EventKind, body: dict[str, Any]) -> None:
        self.events.append(Event(len(self.events), "", MAIN_THREAD, actor, kind, body))

    def step(self, number: int | None) -> None:
        self.add(Actor.AGENT, EventKind.MODEL_CALLED, {"step": number})

    def change(
        self, actor: Actor, *fates: tuple[int, str, int | None] | tuple[int, str, int | None, bool]
    ) -> None:
        entries = [
            {
                "intervention": "i1",
                "line": fate[0],
                "fate": fate[1],
                "path": "f",
                "number": fate[2],
                "whitespace": fate[3:] == (True,),
            }
            for fate in fates
        ]
        self.add(actor, EventKind.WORKSPACE_CHANGED, {"files": [], "user_lines": entries})

    def delivered(self) -> None:
        self.add(Actor.USER, EventKind.EDIT_APPLIED, {"intervention": "i1"})


def _written(lines: int) -> Record:
    record = Record()
    record.step(1)
    record.change(Actor.USER, *((n, "written", n) for n in range(1, lines + 1)))
    record.delivered()
    record.step(2)
    return record


def test_a_line_nothing_happened_to_is_kept_since_the_user_wrote_it() -> None:
    record = _written(1)
    record.change(Actor.AGENT)
    found = follow_user_lines(record.events)
    assert found
    (line,) = found.lines
    assert (line.intervention, line.line, line.path, line.fate) == ("i1", 1, "f", "kept")
    assert (line.by, line.step, line.seq) == ("user", 1, 1)
    assert not line.ever_revised
    assert not line.absent_at_end


def test_ever_revised_and_absent_at_the_end_are_two_things() -> None:
    record = _written(5)
    record.change(
        Actor.AGENT, (1, "removed", None), (2, "removed", None), (3, "changed", 3), (4, "changed", 4, True)
    )
    record.step(3)
    record.step(None)  # a side call is no step
    record.change(Actor.AGENT, (2, "restored", 2), (5, "moved", 9))
    found = follow_user_lines(record.events)
    assert found
    assert [
        (x.fate, x.by, x.step, x.ever_revised, x.absent_at_end, x.whitespace_only) for x in found.lines
    ] == [
        ("removed", "agent", 2, True, True, False),
        ("kept", "agent", 3, True, False, False),
        ("changed", "agent", 2, True, True, False),
        ("changed", "agent", 2, True, False, True),
        ("moved", "agent", 3, False, False, False),
    ]
    assert found.interventions() == (InterventionLines("i1", 5, 1, 1, 2, 1, 4, 2, 0, 0, 0),)


def test_a_line_the_user_revises_is_not_revised_by_the_agent() -> None:
    record = _written(1)
    record.change(Actor.USER, (1, "changed", 1))
    found = follow_user_lines(record.events)
    assert found
    (line,) = found.lines
    assert (line.fate, line.by, line.ever_revised, line.absent_at_end) == ("changed", "user", False, True)


def test_a_changed_line_that_is_changed_back_is_kept_and_was_revised() -> None:
    record = _written(1)
    record.change(Actor.AGENT, (1, "changed", 1))
    record.change(Actor.AGENT, (1, "restored", 1))
    found = follow_user_lines(record.events)
    assert found
    (line,) = found.lines
    assert (line.fate, line.ever_revised, line.absent_at_end) == ("kept", True, False)


def test_a_split_line_is_absent_though_its_text_stands() -> None:
    record = _written(1)
    record.change(Actor.AGENT, (1, "changed", None, True))
    found = follow_user_lines(record.events)
    assert found
    assert found.lines[0].absent_at_end
    assert found.lines[0].whitespace_only


def test_a_deletion_that_stays_and_one_that_is_put_back() -> None:
    record = Record()
    record.change(
        Actor.USER, (1, "written", 1), (1, "deleted", None), (2, "deleted", None), (3, "deleted", None)
    )
    record.delivered()
    record.step(1)
    record.change(Actor.AGENT, (2, "put_back", 4), (3, "put_back", 5))
    record.change(Actor.AGENT, (3, "deleted", None))
    found = follow_user_lines(record.events)
    assert found
    assert [(x.line, x.put_back, x.ever_put_back, x.by, x.step) for x in found.deletions] == [
        (1, False, False, "user", None),
        (2, True, True, "agent", 1),
        (3, False, True, "agent", 1),
    ]
    (summary,) = found.interventions()
    assert (summary.written, summary.deleted, summary.ever_put_back, summary.put_back) == (1, 3, 2, 1)


def test_a_record_from_before_lines_were_followed_says_nothing() -> None:
    record = Record()
    record.add(Actor.USER, EventKind.WORKSPACE_CHANGED, {"files": []})
    record.delivered()
    assert follow_user_lines(record.events) is None


def test_a_delivered_edit_without_lines_counts_zeros() -> None:
    record = Record()
    record.delivered()
    found = follow_user_lines(record.events)
    assert found
    assert found.interventions() == (InterventionLines("i1", *[0] * 10),)
