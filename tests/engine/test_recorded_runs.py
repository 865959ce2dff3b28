"""Real recorded trajectories of a real bug, replayed through the real agent: needs the shared data and PyPI."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fourhands.model.errors import MissingError
from fourhands.model.event import Event, EventKind
from fourhands.tasks.interpreter import find_interpreter
from fourhands.tasks.real import real_tasks
from fourhands.trajectories.exchanges import read_exchange
from fourhands.trajectories.mini_swe_agent import read_mini_swe_agent
from fourhands.trajectories.run_folder import Attempt, RunFolder
from fourhands.workspace.store import ObjectStore

pytestmark = pytest.mark.slow

REGIONS = {
    "django__django-10914": "django/conf/global_settings.py",
    "django__django-11133": "django/http/response.py",
}
RECORDINGS = {
    f"{folder.partition('/')[2]}-{task}": (task, f"{folder}/{task}.traj.json")
    for task in REGIONS
    for folder in ("mini-swe-agent-v1/gemini-3-pro", "mini-swe-agent-v2/deepseek-chat")
}
# The released Django 2.2 is not the commit that was recorded on: there, edits by line number land beside their place.
ONE_LINE_OFF = "django__django-11133"
RESOLVED_ALL_THE_SAME = "deepseek-chat"
LONGEST = 200
Lines = dict[str, Counter[str]]


@dataclass(frozen=True)
class Recording:
    task: str
    path: Path


@pytest.fixture(scope="module", params=RECORDINGS)
def recording(request: pytest.FixtureRequest, shared_data: Path) -> Recording:
    task, name = RECORDINGS[request.param]
    path = shared_data / "trajectories" / name
    if not path.is_file():
        pytest.skip(f"no recording at {path}")
    try:
        find_interpreter(real_tasks()[task].python, task=task)
    except MissingError as error:
        pytest.skip(str(error))
    return Recording(task, path)


@pytest.fixture(scope="module")
def run(recording: Recording, shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    folder = tmp_path_factory.mktemp("runs") / "run"
    fourhands = Path(sys.executable).with_name("fourhands")
    arguments = [
        *("--tasks", recording.task, "--model", f"recorded/{recording.path}"),
        *("--condition", "vanilla,counter-edit", "--step-limit", str(LONGEST)),
    ]
    done = subprocess.run(
        [fourhands, "run", *arguments, "--out", folder],
        env={**os.environ, "FOURHANDS_DATA": str(shared_data)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return RunFolder(folder)


def _attempt(run: RunFolder, condition: str) -> Attempt:
    (trial,) = [t for t in run.plan().trials if t.condition == condition]
    attempt = run.final_attempt(trial.key)
    assert attempt
    return attempt


def _of(events: tuple[Event, ...], kind: EventKind) -> list[dict[str, Any]]:
    return [event.body for event in events if event.kind is kind]


def _published(diff: str) -> Lines:
    """Added and removed lines per file of a diff; line numbers and ids differ from the sdist's."""
    files: Lines = {}
    for part in re.split(r"^diff --git ", diff, flags=re.MULTILINE)[1:]:
        name = re.match(r"a/(\S+)", part)
        assert name
        body = part.partition("\n@@")[2]
        files[name[1]] = Counter(
            line for line in body.split("\n")[1:] if line[:1] in {"+", "-"} and line.strip("+-")
        )
    return files


def _final(attempt: Attempt) -> Lines:
    """The same of what an attempt left, from its own objects."""
    events = attempt.read().events
    store = ObjectStore(attempt.objects_path)
    base, final = (
        _of(events, EventKind.TRIAL_STARTED)[0]["base_tree"],
        _of(events, EventKind.VERIFIED)[0]["tree"],
    )
    files: Lines = {}
    for change in store.diff(base, final):
        sides = [
            store.get_blob(blob).decode().split("\n") if blob else []
            for blob in (change.old_blob, change.new_blob)
        ]
        lines = difflib.unified_diff(*sides, n=0, lineterm="")
        files[change.path] = Counter(
            line for line in list(lines)[2:] if line[:1] in {"+", "-"} and line.strip("+-")
        )
    return files


def test_left_alone_on_the_base_it_was_recorded_on_it_ends_with_the_published_lines_and_is_resolved(
    run: RunFolder, recording: Recording
) -> None:
    attempt = _attempt(run, "vanilla")
    ended = attempt.ended
    assert ended
    same_base = recording.task != ONE_LINE_OFF
    resolves = same_base or RESOLVED_ALL_THE_SAME in recording.path.parts
    assert ended.body["termination"] == "finished"
    assert ended.body["verdict"] == ("resolved" if resolves else "unresolved")
    recorded = read_mini_swe_agent(recording.path)
    assert ended.body["steps"] == sum(len(step.commands) for step in recorded.steps)
    published = {p: lines for p, lines in _published(recorded.submission).items() if p.startswith("django/")}
    assert published
    # The agents handed in tracked files alone; scripts and backups that they left are in the final state too.
    final = {path: lines for path, lines in _final(attempt).items() if path in published}
    assert final.keys() == published.keys()
    assert final == published or not same_base
    assert _of(attempt.read().events, EventKind.SHADOW_TRIGGER_FIRED)
    assert not _of(attempt.read().events, EventKind.EDIT_INTENDED)


def test_under_the_users_hands_the_record_tells_all_of_it(run: RunFolder, recording: Recording) -> None:
    attempt = _attempt(run, "counter-edit")
    events = attempt.read().events
    first = _of(events, EventKind.TRIGGER_FIRED)[0]
    assert re.match(rf"(read|edit) of {re.escape(REGIONS[recording.task])}:\d+-\d+", first["why"])
    applied = _of(events, EventKind.EDIT_APPLIED)
    missed = _of(events, EventKind.EDIT_NOT_APPLIED)
    assert applied
    assert all(body["detail"] for body in applied + missed)
    counts = [body["lines"].get("user", 0) for body in _of(events, EventKind.WORKSPACE_CHANGED)]
    assert max(counts) > 0  # what became of the user's lines is counted at every change


def test_the_message_is_a_user_turn_in_the_next_request_and_stays_in_its_place(run: RunFolder) -> None:
    attempt = _attempt(run, "counter-edit")
    events = attempt.read().events
    blobs = attempt.blobs
    message = _of(events, EventKind.MESSAGE_SENT)[0]
    fired_at = next(event.seq for event in events if event.kind is EventKind.MESSAGE_SENT)
    places = []
    for event in events:
        if event.kind is EventKind.MODEL_CALLED and not event.body["side"]:
            history = read_exchange(blobs.get, event.body["exchange"]).history
            spoken = [
                i for i, turn in enumerate(history) if turn == {"role": "user", "content": message["text"]}
            ]
            places.append((event.seq, spoken[:1], history))
    before = [spoken for seq, spoken, _ in places if seq < fired_at]
    after = [(spoken, history) for seq, spoken, history in places if seq > fired_at]
    assert not any(before)
    assert after
    (place,) = after[0][0]
    assert all(spoken == [place] for spoken, _ in after)
    assert after[0][1][place - 1]["tool_call_id"] in message["anchor"]
    carried = _of(events, EventKind.MESSAGE_CARRIED)
    assert carried[-1]["requests"] == len(after) or len(_of(events, EventKind.MESSAGE_SENT)) > 1
