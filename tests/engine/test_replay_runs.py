"""A recorded trial is the same trial again, as often as it is replayed; what goes another way is found and shown."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fourhands.model.event import EventKind
from fourhands.tasks.cache import cache_root
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.run_folder import RunFolder

from .replays import (
    FOURHANDS,
    attempts,
    bodies,
    change_reply,
    final_trees,
    fourhands,
    story,
    write_lines,
)

pytestmark = pytest.mark.slow

TASK = ("--tasks", "ledger-rounding", "--condition", "counter-edit")
PATIENCE = 120.0


@dataclass(frozen=True)
class Recording:
    """A run, its cassette, and the options that tell what to replay."""

    run: Path
    cassette: Path
    options: tuple[str, ...]


def recorded(folder: Path, *options: str) -> Recording:
    run, cassette = folder / "recorded", folder / "cassette.jsonl"
    done = fourhands("run", *options, "--out", run)
    assert done.returncode == 0, done.stdout + done.stderr
    done = fourhands("cassette", run, "--out", cassette)
    assert done.returncode == 0, done.stderr
    return Recording(run, cassette, options)


@pytest.fixture(scope="module")
def thin(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return recorded(tmp_path_factory.mktemp("thin"), *TASK, "--agent", "thin")


@pytest.fixture
def copy(thin: Recording, tmp_path: Path) -> Path:
    """A cassette that a test may change."""
    return Path(shutil.copy(thin.cassette, tmp_path / "copy.jsonl"))


def ended(run: Path) -> list[tuple[str, str]]:
    return [(body["verdict"], body["termination"]) for body in bodies(run, EventKind.TRIAL_ENDED)]


def same_three_times(recording: Recording, folder: Path) -> None:
    sources = (
        ("run", (f"replay:{recording.run}",)),
        ("again", (f"replay:{recording.run}",)),
        ("cassette", (f"replay:{recording.cassette}", *recording.options)),
    )
    expected = story(recording.run)
    assert len(expected) == len(RunFolder(recording.run).plan().trials)
    assert bodies(recording.run, EventKind.EDIT_APPLIED), "the control: the user acts"
    for name, (source, *options) in sources:
        out = folder / name
        done = fourhands("run", "--upstream", source, *options, "--out", out)
        assert done.returncode == 0, done.stdout + done.stderr
        assert final_trees(out) == final_trees(recording.run)
        assert story(out) == expected
        assert "diverged" not in done.stderr
    cassette = folder / "of-the-replay.jsonl"
    assert fourhands("cassette", folder / "run", "--out", cassette).returncode == 0
    assert cassette.read_bytes() == recording.cassette.read_bytes()


def test_a_trial_of_the_thin_agent_is_the_same_three_times(thin: Recording, tmp_path: Path) -> None:
    same_three_times(thin, tmp_path)


def test_a_trial_of_mini_swe_agent_is_the_same_three_times(tmp_path: Path) -> None:
    same_three_times(recorded(tmp_path, *TASK, "--agent", "mini-swe-agent"), tmp_path)


def test_trials_of_agents_on_other_wires_are_the_same_again(tmp_path: Path) -> None:
    """Responses and Messages, streamed; programs that tell their model the day, their session, and the machine."""
    recording = recorded(tmp_path, *TASK, "--agent", "codex,claude-code", "--jobs", "1")
    out = tmp_path / "out"
    done = fourhands("run", "--upstream", f"replay:{recording.run}", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(final_trees(out)) == 2
    assert final_trees(out) == final_trees(recording.run)
    assert [note for note in bodies(out, EventKind.NOTE) if note["note"] == "replay_unfinished"] == []
    text = recording.cassette.read_text()
    assert '"wire":"responses"' in text
    assert '"wire":"messages"' in text
    assert str(cache_root()) not in text


def test_trials_at_once_each_have_their_own_recording(tmp_path: Path) -> None:
    options = ("--tasks", "ledger-rounding,config-layers", "--condition", "counter-edit", "--jobs", "2")
    same_three_times(recorded(tmp_path, *options, "--agent", "thin"), tmp_path)


def replay(source: Path, out: Path, thin: Recording, *more: str) -> subprocess.CompletedProcess[str]:
    return fourhands("run", "--upstream", f"replay:{source}", *thin.options, *more, "--out", out)


@dataclass(frozen=True)
class Shown:
    """How a replay that went another way ended, and what was said of it."""

    calls: int
    expected: int | None
    said: str


def diverged(done: subprocess.CompletedProcess[str], out: Path) -> Shown:
    assert done.returncode == 1, done.stdout + done.stderr
    ((_, termination),) = ended(out)
    assert termination == "invalid"
    (body,) = bodies(out, EventKind.DIVERGED)
    (attempt,) = attempts(out)
    for line in attempt.blobs.get(body["diff"]).decode().splitlines():
        assert line in done.stderr
    calls = bodies(out, EventKind.MODEL_CALLED)
    assert body["request"] == len(calls), "the agent is stopped at once"
    assert calls[-1]["status"] == 400
    return Shown(len(calls), body["expected"], done.stderr)


def test_one_changed_byte_of_a_reply_in_a_cassette_is_found_at_the_next_request(
    thin: Recording, copy: Path, tmp_path: Path
) -> None:
    change_reply(copy, 2, lambda reply: reply.replace("grep -rn", "grep -rc", 1))
    shown = diverged(replay(copy, tmp_path / "out", thin), tmp_path / "out")
    assert (shown.calls, shown.expected) == (3, 3)
    assert "diverged at request 3 (recorded as request 3):" in shown.said
    assert "@@ messages[4] @@" in shown.said
    (now,) = [line for line in shown.said.splitlines() if line.startswith("+") and "grep -rc" in line]
    assert f"-{now[1:].replace('-rc', '-rn')}" in shown.said


def test_one_changed_byte_of_a_reply_in_a_runs_folder_is_found_at_the_next_request(
    thin: Recording, tmp_path: Path
) -> None:
    run = shutil.copytree(thin.run, tmp_path / "run")
    (attempt,) = attempts(run)
    called = bodies(run, EventKind.MODEL_CALLED)[1]
    exchange = json.loads(attempt.blobs.get(called["exchange"]))
    _rewrite(attempt.path / "blobs", exchange["response"], lambda reply: reply.replace(b"-rn", b"-rc", 1))
    done = fourhands("run", "--upstream", f"replay:{run}", "--out", tmp_path / "out")
    assert diverged(done, tmp_path / "out").calls == 3


def _rewrite(blobs: Path, digest: str, change: Callable[[bytes], bytes]) -> None:
    before = BlobStore(blobs).get(digest)
    assert change(before) != before
    (blobs / digest[:2] / digest[2:]).write_bytes(zlib.compress(change(before)))


def test_a_request_more_than_was_recorded_is_found(thin: Recording, copy: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in copy.read_text().splitlines()]
    last = max(line["number"] for line in lines if "number" in line)
    write_lines(copy, [line for line in lines if line.get("number") != last])
    shown = diverged(replay(copy, tmp_path / "out", thin), tmp_path / "out")
    assert (shown.calls, shown.expected) == (last, None)
    assert f"diverged at request {last} (the recording has no more):" in shown.said
    assert f"--- recorded as request {last - 1}, given back already" in shown.said


def test_an_agent_that_ends_before_its_recording_has_gone_another_way(
    thin: Recording, copy: Path, tmp_path: Path
) -> None:
    def submit(reply: str) -> str:
        body = json.loads(reply)
        call = body["choices"][0]["message"]["tool_calls"][0]
        call["function"]["arguments"] = '{"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}'
        return json.dumps(body)

    change_reply(copy, 4, submit)
    out = tmp_path / "out"
    done = replay(copy, out, thin)
    assert done.returncode == 1, done.stdout + done.stderr
    assert ended(out)[0][1] == "invalid"
    assert bodies(out, EventKind.DIVERGED) == []
    notes = {note["note"]: note for note in bodies(out, EventKind.NOTE)}
    assert (notes["replay_unfinished"]["asked"], notes["replay_unfinished"]["left"]) == (4, [5, 6])
    assert "after 4 requests" in notes["harness_failed"]["reason"]
    assert "ended after 4 requests; never asked for was what was recorded as request 5, 6:" in done.stderr
    assert "--- recorded as request 5, never asked for" in done.stderr


def test_an_agent_that_is_stopped_before_the_end_of_its_recording_has_not(
    thin: Recording, tmp_path: Path
) -> None:
    """A smaller limit of steps was asked for: the trial counts, and what was left is said."""
    out = tmp_path / "out"
    done = replay(thin.cassette, out, thin, "--step-limit", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert ended(out)[0][1] == "step_limit"
    (note,) = [note for note in bodies(out, EventKind.NOTE) if note["note"] == "replay_unfinished"]
    assert note["left"] == [4, 5, 6]


def test_a_replay_that_was_cut_is_run_again_from_its_recordings_beginning(
    thin: Recording, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = [FOURHANDS, "run", "--upstream", f"replay:{thin.run}", "--out", out]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + PATIENCE
        while not any(b'"model_called"' in log.read_bytes() for log in out.glob("trials/*/*/events.jsonl")):
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        running.kill()
    assert attempts(out) == []
    done = fourhands("run", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [attempt.number for attempt in attempts(out)] == [2]
    assert story(out) == story(thin.run)


def test_a_trial_that_diverged_is_run_again_when_its_recording_is_mended(
    thin: Recording, copy: Path, tmp_path: Path
) -> None:
    good, out = copy.read_bytes(), tmp_path / "out"
    change_reply(copy, 2, lambda reply: reply.replace("grep -rn", "grep -rc", 1))
    diverged(replay(copy, out, thin), out)
    copy.write_bytes(good)
    done = fourhands("run", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "diverged" not in done.stderr
    assert story(out) == story(thin.run)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--budget", "1"), "upstream: a replay asks no model and costs nothing: leave out budget"),
        (("--base-url", "http://127.0.0.1:1/v1"), "upstream: a replay asks no model: leave out base_url"),
        (("--condition", "counter-edit[message=live]"), "leave out conditions with message=live"),
        (("--upstream", "replay:nowhere"), "nowhere: there is no such run, and no such cassette"),
        (("--upstream", "elsewhere"), "is none: write replay:RUN"),
        (("--tasks", "ledger-rounding,config-layers"), "has no recording of config-layers__thin"),
        (
            ("--repeats", "2"),
            "__counter-edit__r2: leave out what was not recorded; there is ledger-rounding__",
        ),
    ],
)
def test_what_cannot_be_replayed_is_refused_before_anything_runs(
    thin: Recording, tmp_path: Path, more: tuple[str, ...], says: str
) -> None:
    done = replay(thin.run, tmp_path / "out", thin, *more)
    assert done.returncode == 2, done.stdout + done.stderr
    assert says in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_runs_budget_is_not_taken_over_by_its_replay(thin: Recording, tmp_path: Path) -> None:
    run = shutil.copytree(thin.run, tmp_path / "run")
    experiment = run / "experiment.yaml"
    experiment.write_text(experiment.read_text().replace("budget: null", "budget: 1.0"))
    done = fourhands("run", "--upstream", f"replay:{run}", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "budget: null" in done.stdout


def test_a_cassette_holds_nothing_of_the_machine_and_the_day(thin: Recording) -> None:
    text = thin.cassette.read_text()
    (attempt,) = attempts(thin.run)
    day = attempt.read().events[0].time[:10]
    for hidden in (day, str(thin.run), str(Path.home()), RunFolder(thin.run).plan().run_id, "/tmp/"):
        assert hidden not in text
    requests = [json.loads(line) for line in text.splitlines()]
    assert sum("number" in line for line in requests) == 6
    assert len(text) < 25_000


def test_a_cassette_is_the_same_bytes_for_the_same_run(thin: Recording, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    done = fourhands("cassette", thin.run, "--out", again)
    assert "6 exchanges" in done.stdout
    assert again.read_bytes() == thin.cassette.read_bytes()
