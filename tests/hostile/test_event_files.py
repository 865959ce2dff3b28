"""Whatever a file of events holds, it is read without a crash, and so is everything that is told from it."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.analysis.delivery import delivery_proofs
from fourhands.analysis.digest import Subject, digest
from fourhands.analysis.events_table import event_rows
from fourhands.analysis.lines import follow_user_lines
from fourhands.analysis.responses import responses
from fourhands.analysis.tidy import Tables, frame
from fourhands.model.condition import Condition
from fourhands.model.event import Event, EventKind
from fourhands.model.trial import AgentSpec, TrialKey
from fourhands.trajectories.ablations import failed_after_edit
from fourhands.trajectories.events import EventRead, last_event, read_events

RECORDS: Final = Path(__file__).parents[1] / "trajectories" / "records"
LOGS: Final = {path.stem: path.read_bytes().splitlines() for path in RECORDS.glob("*.jsonl")}
KEY: Final = TrialKey("t", AgentSpec("thin", "m"), Condition.parse("counter-edit"))
JUNK: Final[tuple[Any, ...]] = (None, True, -1, 0.5, 10**30, "", "\ud800", [], [None], {}, {"x": {}})

logs = st.sampled_from(sorted(LOGS)).map(LOGS.__getitem__)


def read(lines: Sequence[bytes]) -> EventRead:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "events.jsonl")
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        found = read_events(path)
        end = last_event(path)
        if end is None or end.kind is not EventKind.TRIAL_ENDED:
            assert end == (found.events[-1] if found.events else None)
        return found


def tell_all(events: Sequence[Event]) -> list[Any]:
    told = digest(Subject("run", KEY), 1, events, lambda _: b"Did you change it?")
    return [
        Tables.of([told.trial], told.interventions, told.lines),
        frame("events", ({"run": "run", "trial": "t"} | row for row in event_rows(events))),
        delivery_proofs(events),
        follow_user_lines(events),
        responses(events, lambda _: b"Did you change it?"),
        failed_after_edit(events),
    ]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every field and element below a JSON value: its container, and its key there."""
    items = list(value.items() if isinstance(value, dict) else enumerate(value))
    deeper = [each for _, found in items if isinstance(found, (dict, list)) for each in places(found)]
    return [(value, key) for key, _ in items] + deeper


def drop(container: Any, key: Any, _: random.Random) -> None:
    del container[key]


def junk(container: Any, key: Any, dice: random.Random) -> None:
    container[key] = dice.choice(JUNK)


def rename(container: Any, key: Any, dice: random.Random) -> None:
    value = container.pop(key)
    if isinstance(container, dict):
        container[dice.choice([f"{key}x", "\ud800", ""])] = value


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=60) | st.sampled_from(LOGS["vanilla"]), max_size=8))
def test_no_bytes_make_reading_fail(lines: list[bytes]) -> None:
    found = read(lines)
    tell_all(found.events)
    assert len(found.problems) <= 14


@given(logs, st.randoms(use_true_random=False), st.data())
def test_what_was_deleted_doubled_and_shuffled_comes_back_in_order_or_is_named(
    log: list[bytes], dice: random.Random, data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.integers(0, len(log) - 1), min_size=1, max_size=len(log) + 5))
    dice.shuffle(kept)
    found = read([log[at] for at in kept])
    seqs = [event.seq for event in found.events]
    assert seqs == sorted(set(kept))
    text = " ".join(found.problems)
    assert ("more than once" in text) is (len(set(kept)) < len(kept))
    assert ("out of order" in text) is (list(dict.fromkeys(kept)) != seqs)
    assert ("lacks event" in text) is (seqs != list(range(len(seqs))))
    assert bool(found.problems) is (kept != seqs or seqs != list(range(len(seqs))))
    tell_all(found.events)


@settings(max_examples=200)
@given(logs, st.sets(st.integers(0, 60)))
def test_everything_is_told_from_what_is_left_when_lines_are_missing(
    log: list[bytes], gone: set[int]
) -> None:
    left = [line for at, line in enumerate(log) if at not in gone]
    found = read(left)
    assert len(found.events) == len(left)
    tell_all(found.events)


@pytest.mark.parametrize("spoil", [drop, junk, rename])
@pytest.mark.parametrize("name", sorted(LOGS))
@settings(max_examples=40)
@given(st.randoms(use_true_random=False))
def test_everything_is_told_when_fields_are_gone_or_of_another_type(
    name: str, spoil: Callable[[Any, Any, random.Random], None], dice: random.Random
) -> None:
    lines = list(LOGS[name])
    for at in dice.sample(range(len(lines)), 6):
        event = json.loads(lines[at])
        spoil(*dice.choice(places(event)), dice)
        lines[at] = json.dumps(event).encode()
    found = read(lines)
    assert len(found.events) >= len(lines) - 6
    assert len(found.events) == len(lines) or found.problems
    tell_all(found.events)


@pytest.mark.parametrize("name", sorted(LOGS))
def test_each_field_of_each_kind_of_event_can_be_missing(name: str) -> None:
    first: dict[str, int] = {}
    for at, line in enumerate(LOGS[name]):
        first.setdefault(json.loads(line)["kind"], at)
    for at in first.values():
        line = LOGS[name][at]
        for number in range(len(places(json.loads(line)))):
            event = json.loads(line)
            container, key = places(event)[number]
            del container[key]
            lines = [*LOGS[name][:at], json.dumps(event).encode(), *LOGS[name][at + 1 :]]
            tell_all(read(lines).events)


def test_a_whole_record_cut_at_any_byte_is_read_up_to_there() -> None:
    data = b"".join(line + b"\n" for line in LOGS["counter-edit"])
    dice = random.Random(5)
    for cut in sorted(dice.sample(range(len(data)), 100)):
        found = read_cut(data[:cut])
        whole = data[:cut].count(b"\n")
        torn = not data[:cut].endswith(b"\n") and cut > 0
        # Cut between a line and its end, nothing is torn.
        assert len(found.events) in {whole, whole + torn}
        assert len(found.problems) == torn - (len(found.events) - whole)
        tell_all(found.events)


def read_cut(data: bytes) -> EventRead:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return read_events(Path(file.name))


def test_a_file_name_that_is_not_utf_8_comes_into_the_tables() -> None:
    lines = [line.replace(b".py", rb"\udce9.py") for line in LOGS["counter-edit"]]
    tables, events, *_ = tell_all(read(lines).events)
    assert set(tables.lines["path"]) == {r"src/tally/allocation\udce9.py"}
    assert [r"src/tally/allocation\udce9.py"] in events["changed"].to_list()
