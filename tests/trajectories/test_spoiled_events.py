"""A log that something has happened to: what is whole is read, each event once and in order; the rest is named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fourhands.model.event import EventKind
from fourhands.trajectories.events import last_event, read_events
from fourhands.trajectories.run_folder import Attempt

from .bodies import ENDED

RECORDS = Path(__file__).parent / "records"
ASKED = {"question": "q1", "text": "May I?", "elapsed": 1.5}
CALLED = {
    "request": 1,
    "step": 1,
    "side": False,
    "model": "m",
    "status": 200,
    "complete": True,
    "usage": None,
    "tools": ["bash"],
    "milliseconds": 1.0,
}
CHANGED: dict[str, Any] = {
    "by": "agent",
    "intervention": None,
    "tree": "t",
    "lines": {"agent": 1},
    "files": [{"path": "a", "old": "o", "new": "n", "binary": False, "hunks": [[1, 1, 1, 2]]}],
}

Log = Callable[..., Path]


def line(seq: Any, kind: str = "note", body: Any = None, **changed: Any) -> bytes:
    event = {"v": 1, "seq": seq, "time": "2026-11-30T07:29:03.531Z", "thread": "main", "actor": "agent"}
    event |= {"kind": kind, "body": {"note": f"n{seq}"} if body is None else body}
    return json.dumps(event | changed, separators=(",", ":")).encode()


@pytest.fixture
def log(tmp_path: Path) -> Log:
    def write(*lines: bytes, end: bytes = b"\n") -> Path:
        path = tmp_path / "events.jsonl"
        path.write_bytes(b"\n".join(lines) + end)
        return path

    return write


def seqs(path: Path) -> list[int]:
    return [event.seq for event in read_events(path).events]


def only_problem(path: Path) -> str:
    (problem,) = read_events(path).problems
    assert problem.startswith(str(path))
    return problem.removeprefix(str(path))


@pytest.mark.parametrize("name", ["counter-edit", "vanilla", "before-lines-were-followed"])
def test_records_of_every_state_of_the_product_are_read_whole(name: str) -> None:
    path = RECORDS / f"{name}.jsonl"
    read = read_events(path)
    assert read.problems == ()
    raw = [json.loads(each) for each in path.read_bytes().splitlines()]
    assert [event.body for event in read.events] == [each["body"] for each in raw]
    assert [event.kind for event in read.events] == [each["kind"] for each in raw]


def test_a_torn_last_line_is_named_as_torn(log: Log) -> None:
    path = log(line(0), line(1), line(2)[:40], end=b"")
    assert seqs(path) == [0, 1]
    assert only_problem(path).startswith(":3: line skipped: torn: not JSON")


def test_a_torn_line_in_the_middle_costs_itself_alone(log: Log) -> None:
    path = log(line(0), line(1)[:40], line(2))
    assert seqs(path) == [0, 2]
    first, second = read_events(path).problems
    assert ":2: line skipped: not JSON" in first
    assert second.endswith("lacks event 1")


@pytest.mark.parametrize(
    ("spoiled", "reason"),
    [
        (b'{"v":1,"seq":1,"time":"\xff"}', "not UTF-8: byte 24 is 0xff"),
        (b"\0" * 500, "nothing but NUL bytes"),
        (line(1)[:-1] + b"\0}", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (line(1, body={"note": "a", "deep": 0}).replace(b":0}", b":" + b"[" * 100_000 + b"}"), "nested too"),
        (b"[1, 2]", "no event of Fourhands: no object"),
        (b'{"v":1,"seq":1}', "no event of Fourhands: no time"),
        (line(1, v=2), "version 2 of the record is not known here, only 1"),
        (line(1, v=0), "version 0 of the record is not known here"),
        (line(1, v=True), "version True"),
        (line(1, "hologram"), "'hologram' - at `$.kind`"),
        (line(1, "\ud800"), r"'\ud800' in position 0: surrogates not allowed"),
        (line(1, actor="ghost"), "'ghost' - at `$.actor`"),
        (line(1, thread=7), "at `$.thread`"),
        (line("1"), "at `$.seq`"),
        (line(True), "at `$.seq`"),
        (line(-1), "seq -1 is out of range"),
        (line(10**30), "out of range"),
        (line(1, time="yesterday"), "time 'yesterday' is not in UTC"),
        (line(1, time="yesterdayZ"), "yesterdayZ"),
        (line(1, body=[]), "at `$.body`"),
        (line(1, body={}), "note: body: Object missing required field `note`"),
    ],
)
def test_a_line_that_is_no_event_is_left_out_with_its_reason(log: Log, spoiled: bytes, reason: str) -> None:
    path = log(line(0), spoiled, line(1))
    assert seqs(path) == [0, 1]
    problem = only_problem(path)
    assert problem.startswith(":2: line skipped: ")
    assert reason in problem


@pytest.mark.parametrize(
    ("kind", "body", "field"),
    [
        ("trial_ended", ENDED | {"verdict": "splendid"}, "$.verdict"),
        ("trial_ended", ENDED | {"termination": "boredom"}, "$.termination"),
        ("trial_ended", ENDED | {"reward": 1.5}, "$.reward"),
        ("trial_ended", ENDED | {"reward": "1"}, "$.reward"),
        ("trial_ended", ENDED | {"steps": -1}, "$.steps"),
        ("trial_ended", ENDED | {"steps": 10**25}, "$.steps"),
        ("trial_ended", ENDED | {"tokens": {"total": 2.5}}, "$.tokens.total"),
        ("trial_ended", ENDED | {"tokens": {}}, "$.tokens"),
        ("trial_ended", ENDED | {"user_lines": {"e": None}}, "$.user_lines"),
        ("model_called", CALLED | {"usage": {"input": None}}, "$.usage"),
        ("model_called", CALLED | {"tools": None}, "$.tools"),
        ("model_called", CALLED | {"step": "1"}, "$.step"),
        ("model_called", CALLED | {"text": 5}, "$.text"),
        ("workspace_changed", CHANGED | {"files": [{"path": "a"}]}, "$.files[0]"),
        ("workspace_changed", CHANGED | {"files": [{**CHANGED["files"][0], "hunks": [[1, 2]]}]}, "hunks[0]"),
        ("workspace_changed", CHANGED | {"lines": {"user": "x"}}, "$.lines"),
        ("workspace_changed", CHANGED | {"user_lines": [{"line": 1}]}, "$.user_lines[0]"),
        (
            "edit_applied",
            {"intervention": "e", "outcome": "region_gone", "detail": "", "files": []},
            "outcome",
        ),
        ("edit_not_applied", {"intervention": "e", "outcome": "applied", "detail": ""}, "$.outcome"),
        ("trigger_fired", {"intervention": "e", "moment": "never", "why": "", "calls": []}, "$.moment"),
        ("message_sent", {"message": "m", "intervention": "e", "text": ""}, "anchor"),
        ("message_carried", {"message": "m", "first_request": None}, "$.first_request"),
        ("note", {"note": "reply_not_accepted", "step": 1}, "calls"),
        ("note", {"note": "message_moved", "message": "m", "anchor": "c"}, "$.anchor"),
        ("note", {"note": "provider_failed", "status": 500}, "said"),
        ("note", {"note": "of its own", "reason": ["x"]}, "$.reason"),
        ("asked", ASKED | {"elapsed": -2}, "$.elapsed"),
    ],
)
def test_a_body_that_would_break_a_reader_is_left_out_and_its_field_named(
    log: Log, kind: str, body: dict[str, Any], field: str
) -> None:
    path = log(line(0), line(1, kind, body))
    assert seqs(path) == [0]
    problem = only_problem(path)
    assert f"{kind}: body: " in problem
    assert field in problem


@pytest.mark.parametrize("value", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_a_number_that_is_none_is_left_out(log: Log, value: bytes) -> None:
    path = log(line(0), line(1, "asked", ASKED).replace(b"1.5", value))
    assert seqs(path) == [0]
    assert "line skipped" in only_problem(path)


def test_what_a_body_holds_beyond_its_shape_is_kept(log: Log) -> None:
    body = CALLED | {"mood": {"of": ["the", "day"]}}
    (event,) = read_events(log(line(0, "model_called", body))).events
    assert event.body == body


def test_a_name_that_is_not_utf_8_is_read_as_it_was_written(log: Log) -> None:
    changed = CHANGED | {"files": [{**CHANGED["files"][0], "path": "caf\udce9"}]}
    read = read_events(log(line(0, "workspace_changed", changed)))
    assert read.problems == ()
    assert read.events[0].body == changed


def test_lines_of_ten_megabytes_are_read_and_told_of_in_few_words(log: Log) -> None:
    large = "x" * 10_000_000
    path = log(line(0, "asked", ASKED | {"text": large}), line(1, large), b"[" + large.encode())
    read = read_events(path)
    assert [len(event.body["text"]) for event in read.events] == [10_000_000]
    assert sum(map(len, read.problems)) < 1000


def test_what_a_file_says_cannot_steer_a_terminal(log: Log) -> None:
    path = log(line(0), line(1, "\x1b[2J\x07\u202e"))
    problem = only_problem(path)
    assert problem.isprintable()
    assert r"\x1b[2J" in problem


def test_a_mark_before_the_first_line_and_other_line_ends_do_no_harm(log: Log) -> None:
    path = log(b"\xef\xbb\xbf" + line(0) + b"\r", b"", line(1) + b"\r", b"   ")
    assert seqs(path) == [0, 1]
    assert read_events(path).problems == ()


def test_events_in_another_form_of_the_same_json_are_the_same(log: Log) -> None:
    compact = read_events(log(line(0), line(1)))
    spaced = [json.dumps(dict(reversed(json.loads(each).items()))).encode() for each in (line(0), line(1))]
    assert read_events(log(*spaced)) == compact


def test_a_line_that_stands_twice_is_read_once(log: Log) -> None:
    path = log(line(0), line(1), line(1), line(2), line(2))
    assert seqs(path) == [0, 1, 2]
    assert only_problem(path) == " holds events 1, 2 more than once: read once"


def test_of_two_events_with_one_seq_the_first_is_kept(log: Log) -> None:
    path = log(line(0), line(1, body={"note": "first"}), line(1, body={"note": "second"}))
    assert [event.body["note"] for event in read_events(path).events] == ["n0", "first"]
    assert "different events of the same seq: the first was kept of event 1" in only_problem(path)


def test_events_out_of_order_are_sorted(log: Log) -> None:
    path = log(line(2), line(0), line(1))
    assert seqs(path) == [0, 1, 2]
    assert "out of order" in only_problem(path)


def test_what_is_missing_is_named_by_its_range(log: Log) -> None:
    path = log(*map(line, (2, 3, 7, 9)))
    assert only_problem(path) == " lacks events 0–1, 4–6, 8"


def test_however_many_lines_are_spoiled_ten_are_named_and_the_rest_counted(log: Log) -> None:
    path = log(line(0), *[b"?"] * 5000)
    problems = read_events(path).problems
    assert len(problems) == 11
    assert problems[-1] == f"{path}: … and 4,990 more lines skipped"


def test_however_many_events_are_missing_or_double_few_are_named(log: Log) -> None:
    even = [line(seq) for seq in range(1, 5000, 2)]
    problems = read_events(log(*even, *even)).problems
    assert len(problems) == 2
    assert problems[0].endswith("15, 17, 19 and 2,490 more more than once: read once")
    assert problems[1].endswith("16, 18 and 2,490 more")


def test_a_file_of_another_program_is_no_record_of_ours(log: Log) -> None:
    path = log(*[b'{"type":"user","message":{"role":"user"}}'] * 40)
    read = read_events(path)
    assert read.events == ()
    assert read.problems[0] == f"{path} is no record of Fourhands: none of its 40 lines is an event"
    assert len(read.problems) == 2


def test_an_empty_file_is_a_log_in_which_nothing_has_happened_yet(log: Log) -> None:
    read = read_events(log(end=b""))
    assert (read.events, read.problems) == ((), ())


def test_what_is_no_file_is_a_problem_and_a_missing_one_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    assert "is no file" in only_problem(tmp_path)
    assert "is no file" in only_problem(tmp_path / "pipe")
    assert "cannot be read" in only_problem(tmp_path / "loop")
    assert [last_event(tmp_path / name) for name in ("", "pipe", "loop")] == [None] * 3
    for read in (read_events, last_event):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "missing")


@pytest.mark.parametrize("size", [0, 4000, 4096, 5000, 40_000])
def test_the_end_of_a_trial_is_found_from_the_end_of_its_file(log: Log, size: int) -> None:
    ended = ENDED | {"padding": "x" * size}
    path = log(line(0), b"unreadable", line(1, "trial_ended", ended))
    assert last_event(path) == read_events(path).events[-1]
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    event = last_event(path)
    assert event
    assert (event.kind, event.body) == (EventKind.TRIAL_ENDED, ended)


@pytest.mark.parametrize(
    "lines",
    [
        (line(0), line(1, "trial_ended", ENDED), line(0)),
        (line(1, "trial_ended", ENDED), b"torn"),
        (line(1, "trial_ended", ENDED), b"\0" * 9000),
        (line(0), line(1, "trial_ended", ENDED), line(1, "trial_ended", ENDED)),
    ],
)
def test_a_spoiled_end_does_not_hide_that_a_trial_has_ended(tmp_path: Path, lines: tuple[bytes, ...]) -> None:
    (tmp_path / "events.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    ended = Attempt(tmp_path).ended
    assert ended
    assert ended.seq == 1


@pytest.mark.parametrize("spoiled", [ENDED | {"verdict": "?"}, {"termination": "finished"}, {}])
def test_an_end_that_nobody_can_read_is_no_end(tmp_path: Path, spoiled: dict[str, Any]) -> None:
    (tmp_path / "events.jsonl").write_bytes(line(0) + b"\n" + line(1, "trial_ended", spoiled) + b"\n")
    assert Attempt(tmp_path).ended is None
