"""A cassette gives back what a run had, is small and the same each time; a bad one is refused by file and line."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourhands.gateway.exchanges import ExchangeRecorder, Received
from fourhands.model.errors import InputError
from fourhands.model.event import Actor, EventKind
from fourhands.trajectories.cassette import read_recordings, write_cassette
from fourhands.trajectories.events import EventLog
from fourhands.trajectories.run_folder import Plan, PlannedTrial, RunFolder, Settings
from fourhands.wire.document import Document
from fourhands.wire.registry import WIRES

from .bodies import ENDED

STREAM = "text/event-stream; charset=utf-8"
Body = dict[str, Any]


def trial(task: str = "a") -> PlannedTrial:
    return PlannedTrial(task=task, agent="thin", model="scripted/keeps", condition="vanilla", repeat=1)


class Run:
    """A run's folder, written through the real classes. ``record`` is one exchange of its first trial."""

    def __init__(self, path: Path, *tasks: str) -> None:
        self.path = path
        folder = RunFolder(path)
        trials = tuple(trial(task) for task in tasks or ("a",))
        folder.write_plan(Plan(run_id="r", settings=Settings(), tasks=(), users=(), trials=trials))
        self.slugs = [each.key.slug for each in trials]
        self.attempts = [folder.new_attempt(each.key) for each in trials]
        self._logs = [EventLog(each.events_path, lambda _: None) for each in self.attempts]
        self._recorders = [ExchangeRecorder(each.blobs_hiding("the-token")) for each in self.attempts]
        self._count = 0

    def record(
        self,
        body: Body | bytes,
        response: bytes = b'{"choices": []}',
        *,
        wire: str = "/chat/completions",
        status: int = 200,
        content_type: str = "application/json",
        complete: bool = True,
        thread: str = "main",
        side: bool = False,
        of: int = 0,
    ) -> None:
        self._count += 1
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        exchange = self._recorders[of].record(
            thread, Document.read(WIRES[wire], raw), Received(status, content_type, response)
        )
        called = {
            "request": self._count,
            "side": side,
            "complete": complete,
            "exchange": exchange,
            "step": None,
            "model": "m",
            "status": status,
            "usage": None,
            "tools": [],
            "milliseconds": 1.0,
        }
        self._logs[of].append(Actor.AGENT, EventKind.MODEL_CALLED, called, thread=thread)

    def end(self) -> Path:
        for log in self._logs:
            log.append(Actor.HARNESS, EventKind.TRIAL_ENDED, ENDED)
            log.close()
        return self.path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "run")


def messages(*texts: str) -> list[Body]:
    return [{"role": "user", "content": text} for text in texts]


def test_all_kinds_of_exchanges_are_given_back_from_the_cassette_as_from_the_run(
    run: Run, tmp_path: Path
) -> None:
    tools = [{"function": {"name": "bash", "description": "long " * 100}}]
    run.record({"model": "m", "messages": messages("fix it")}, side=True)
    run.record({"model": "m", "tools": tools, "messages": messages("fix it", "x" * 500)})
    run.record({"model": "m", "tools": tools, "messages": messages("fix it", "x" * 500, "more")}, status=0)
    run.record({"model": "m", "messages": []}, b"\xff\x00", status=500, content_type="")
    run.record(
        {"input": "plain text"}, b"data: {}\n\n", wire="/responses", content_type=STREAM, complete=False
    )
    run.record(
        {"system": [{"text": "s"}], "messages": messages("other")},
        wire="/messages",
        thread="sub-1",
        status=429,
    )
    run.end()
    path = tmp_path / "cassettes" / "c.jsonl"
    assert write_cassette(run.path, path) == 6
    recorded = read_recordings(run.path)
    assert read_recordings(path) == recorded
    (exchanges,) = recorded.values()
    assert [each.number for each in exchanges] == [1, 2, 3, 4, 5, 6]
    assert [each.side for each in exchanges] == [True, *[False] * 5]
    assert [each.whole for each in exchanges] == [True] * 4 + [False, True]
    assert exchanges[2].history == tuple(messages("fix it", "x" * 500, "more"))
    assert exchanges[2].request == {"model": "m", "tools": tools}
    assert (exchanges[3].request["messages"], exchanges[3].history) == ([], ())
    assert exchanges[4].request == {"input": "plain text"}
    assert (exchanges[5].thread, exchanges[5].wire, exchanges[5].status) == ("sub-1", "messages", 429)
    again = tmp_path / "again.jsonl"
    write_cassette(run.path, again)
    assert again.read_bytes() == path.read_bytes()


def test_a_cassette_grows_with_what_is_new_and_says_it_once(run: Run, tmp_path: Path) -> None:
    texts = [f"step {n} " + "output " * 40 for n in range(60)]
    for n in range(60):
        run.record({"model": "m", "tools": [{"d": "d" * 5000}], "messages": messages(*texts[: n + 1])})
        run.record({"model": "m", "messages": messages(f"title {n}")}, side=True)
    write_cassette(run.end(), tmp_path / "c.jsonl")
    text = (tmp_path / "c.jsonl").read_text()
    assert text.count("d" * 5000) == 1
    assert all(text.count(each) == 1 for each in texts)
    assert len(text) < 70_000
    assert read_recordings(tmp_path / "c.jsonl") == read_recordings(run.path)


def test_what_names_a_session_or_a_day_and_the_token_are_not_in_it(run: Run, tmp_path: Path) -> None:
    body = {
        "model": "m",
        "metadata": {"user_id": "machine-1"},
        "prompt_cache_key": "session-1",
        "messages": messages("Today is 2026-11-30", "token: the-token"),
    }
    run.record(body, b'{"choices": [], "id": "the-token"}')
    write_cassette(run.end(), tmp_path / "c.jsonl")
    text = (tmp_path / "c.jsonl").read_text()
    assert not any(secret in text for secret in ("machine-1", "session-1", "2026", "the-token"))
    assert "Today is <date>" in text
    assert text.count("(secret)") == 2


def test_each_trial_has_its_own_and_one_without_an_exchange_none(tmp_path: Path) -> None:
    run = Run(tmp_path / "run", "a", "b", "c")
    run.record({"messages": messages("of a")}, of=0)
    run.record({"messages": messages("of c")}, of=2)
    write_cassette(run.end(), tmp_path / "c.jsonl")
    for source in (run.path, tmp_path / "c.jsonl"):
        found = read_recordings(source)
        assert {slug: each[0].history[0]["content"] for slug, each in found.items()} == {
            run.slugs[0]: "of a",
            run.slugs[2]: "of c",
        }


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.text(st.characters(codec="utf-8"), max_size=200),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=6,
)
HISTORIES = st.lists(st.lists(JSON, max_size=6), min_size=1, max_size=5)


@settings(max_examples=40)
@given(
    histories=HISTORIES,
    fields=st.dictionaries(st.sampled_from(["a", "line", "is", "messages2"]), JSON),
    body=st.binary(),
)
def test_any_requests_come_back(
    tmp_path_factory: pytest.TempPathFactory, histories: list[list[Any]], fields: Body, body: bytes
) -> None:
    folder = tmp_path_factory.mktemp("any")
    run = Run(folder / "run")
    for history in histories:
        run.record(orjson.dumps({**fields, "messages": history}), body)
    write_cassette(run.end(), folder / "c.jsonl")
    assert read_recordings(folder / "c.jsonl") == read_recordings(run.path)


def test_line_ends_that_git_has_changed_do_no_harm(run: Run, tmp_path: Path) -> None:
    run.record({"messages": messages("one\r\ntwo\u2028three")})
    path = tmp_path / "c.jsonl"
    write_cassette(run.end(), path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_recordings(path) == read_recordings(run.path)


Change = Callable[[list[Body]], object]


def _first(lines: Sequence[Body]) -> Body:
    return next(line for line in lines if "trial" in line)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines.pop(0), ":1: not a cassette: one begins with"),
        (lambda lines: lines[0].update(schema=2), ":1: schema 2 is not known here, where it is 1"),
        (lambda lines: lines.insert(2, []), ":3: not a line of a cassette: it is no object"),
        (lambda lines: lines.insert(2, {"value": 1, "more": 2}), ":3: more: Extra inputs"),
        (lambda lines: _first(lines).pop("wire"), ":3: wire: Field required"),
        (lambda lines: _first(lines).update(number="1"), ":3: number: Input should be a valid integer"),
        (lambda lines: _first(lines).update(number=0), ":3: number: Input should be greater than"),
        (lambda lines: _first(lines).update(response=None), ":3: the line: takes either 'response' or"),
        (lambda lines: _first(lines)["history"].update(after=2), ":3: history: takes 'after' and 'first'"),
        (
            lambda lines: _first(lines)["history"].update(after=2, first=1),
            ":3: not a line of a cassette: history.after: no history of 1 items in line 2 above",
        ),
        (lambda lines: _first(lines)["request"].update(model={}), ":3: request.model: takes either 'is' or"),
        (
            lambda lines: _first(lines)["request"].update(model={"line": 9}),
            ":3: not a line of a cassette: no value",
        ),
        (lambda lines: lines.append(_first(lines)), ":5: not a line of a cassette: request 1 of a__thin"),
        (
            lambda lines: (_first(lines).pop("response"), _first(lines).update(response_base64="!")),
            ":3: not a line of a cassette: response_base64:",
        ),
    ],
)
def test_a_bad_line_is_refused_by_file_and_line(run: Run, tmp_path: Path, change: Change, says: str) -> None:
    run.record({"model": "m", "messages": messages("x" * 200)})
    run.record({"model": "m", "messages": messages("x" * 200, "y")})
    path = tmp_path / "c.jsonl"
    write_cassette(run.end(), path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [("value" in line, "trial" in line) for line in lines[1:]] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError) as raised:
        read_recordings(path)
    assert f"{path}{says}" in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"\n", b"not json\n", b"\x00\xff", b"[]\n", b'{"kind": "else"}\n'])
def test_what_is_no_cassette_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"c\.jsonl:1: not a cassette"):
        read_recordings(path)


def test_a_torn_cassette_is_refused_where_it_is_torn(run: Run, tmp_path: Path) -> None:
    run.record({"model": "m", "messages": messages("one")})
    path = tmp_path / "c.jsonl"
    write_cassette(run.end(), path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InputError, match=r"c\.jsonl:2: not a line of a cassette"):
        read_recordings(path)


def test_nothing_recorded_nowhere_and_no_run_are_said(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no exchange with a model in it: record a run first"):
        read_recordings(run.end())
    with pytest.raises(InputError, match="there is no such run, and no such cassette"):
        read_recordings(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"no run: it has no plan\.json"):
        read_recordings(tmp_path)


@pytest.mark.parametrize("spoil", [lambda path: path.unlink(), lambda path: path.write_bytes(b"no zlib")])
def test_a_blob_that_is_gone_or_spoiled_is_said(run: Run, spoil: Callable[[Path], object]) -> None:
    run.record({"model": "m", "messages": messages("one")}, b"the answer")
    path = run.end()
    digest = run.attempts[0].blobs.put(b"the answer")
    spoil(run.attempts[0].path / "blobs" / digest[:2] / digest[2:])
    with pytest.raises(InputError, match=r"attempt-1: the exchange of event 0 cannot be read"):
        read_recordings(path)


def test_a_trial_that_was_cut_has_no_recording(run: Run) -> None:
    run.record({"model": "m", "messages": messages("one")})
    with pytest.raises(InputError, match="no exchange with a model"):
        read_recordings(run.path)
    run.end()
    assert len(read_recordings(run.path)[run.slugs[0]]) == 1
