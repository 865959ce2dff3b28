"""Failed trials of a real run, as a judge reads them and as the command asks about them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourhands.cli.audit_judge import judge
from fourhands.engine.planned import unchanged_task
from fourhands.judge.audit.attempt_text import attempt_text, blob_reader
from fourhands.judge.audit.auditing import AuditedTrial, audit_trials
from fourhands.judge.audit.prompts import AUDIT_PROMPT_VERSION
from fourhands.judge.audit.record_text import record_text
from fourhands.judge.audit.summary import audit_counts
from fourhands.judge.live import live_auditor
from fourhands.model.audit import AUDITS, AuditName
from fourhands.model.errors import FourhandsError, InputError
from fourhands.model.event import Event, EventKind
from fourhands.model.failure import FailureLabel, FailureType
from fourhands.trajectories.audits import (
    agreement_path,
    audit_answers_path,
    opinions_of,
    read_opinion,
    write_agreement,
)
from fourhands.trajectories.run_folder import Attempt, RunFolder

from ...analysis.said import agreement  # noqa: TID252 - no package has tests
from ...engine.thin_runs import models_of, run_trials  # noqa: TID252
from ..judge_server import JudgeServer, judge_server  # noqa: TID252
from .auditors import chatters, forgotten, retained, shown_record

pytestmark = pytest.mark.slow

TASK = "ledger-rounding"
AT_WILL = "interactive[persona=paster,coverage=at-will]"
"""Under it an agent that never asks is told nothing."""
INTERACT, TOUCH = AUDITS[AuditName.SWE_INTERACT], AUDITS[AuditName.SWE_TOUCH]
JUDGE = "judge:some/model"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """An agent that hardly asks: it resolves the task when it is told all of it, and fails in all else."""
    conditions = ("single-turn", "counter-edit", AT_WILL, "four-hands[persona=paster]")
    arguments = ("--model", models_of(["hurries"]), "--condition", ",".join(conditions))
    return run_trials(tmp_path_factory.mktemp("run"), [TASK], *arguments, step_limit=40)


@pytest.fixture
def run(recorded: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy, to be written beside."""
    shutil.copytree(recorded.path, tmp_path / "run", symlinks=True)
    return RunFolder(tmp_path / "run")


def _attempts(folder: RunFolder) -> Iterator[tuple[str, Attempt]]:
    for trial in folder.plan().trials:
        attempt = folder.final_attempt(trial.key)
        assert attempt
        yield trial.key.slug, attempt


def _attempt(folder: RunFolder, condition: str) -> Attempt:
    return next(attempt for slug, attempt in _attempts(folder) if condition in slug)


def _hashes(folder: RunFolder) -> dict[Path, str]:
    files = [path for path in folder.path.rglob("*") if path.is_file() and "objects.git" not in path.parts]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.parametrize("budget", [4_000, 20_000, 200_000])
def test_a_record_tells_neither_agent_nor_model_nor_condition_and_cites_its_events(
    recorded: RunFolder, budget: int
) -> None:
    plan = recorded.plan()
    task = unchanged_task(recorded, plan, TASK)
    for trial in plan.trials:
        attempt = recorded.final_attempt(trial.key)
        assert attempt
        events = attempt.read().events
        record = attempt_text(attempt, task, budget=budget)
        assert len(record.text) <= budget
        assert record == attempt_text(attempt, task, budget=budget, events=events)
        told = {int(number) for number in re.findall(r"^\[#(\d+)\] ", record.text, re.MULTILINE)}
        assert told == record.shown <= {event.seq for event in events}
        key = trial.key
        names = (key.agent.name, key.agent.model, key.agent.label, key.condition.label, key.condition.name)
        for name in (*names, key.agent.model.partition("/")[2], key.slug, plan.run_id, "counter-edit-1"):
            assert not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", record.text, re.IGNORECASE), name


def test_a_conversation_shows_what_was_wanted_said_done_and_found(recorded: RunFolder) -> None:
    attempt = _attempt(recorded, "four-hands")
    events = attempt.read().events
    text = attempt_text(attempt, unchanged_task(recorded, recorded.plan(), TASK)).text
    blocks = _blocks(text)
    said = _first(events, EventKind.MESSAGE_SENT, move="hand_over")
    assert len(re.findall(rf"^\| R\d+ \(said in #{said.seq}\): ", text, re.MULTILINE)) == 7
    assert said.body["text"] in blocks[said.seq, "the user says"]
    answered = _first(events, EventKind.ANSWERED)
    assert answered.body["text"] in blocks[answered.seq, "the user answers"]
    asked = _first(events, EventKind.ASKED)
    assert asked.body["text"] in blocks[asked.seq, "the agent says to the user"]
    commit = _first(events, EventKind.CHECKPOINT, of="commit", tests_only=False)
    assert "not met by its checks: " in blocks[commit.seq, "a commit of the agent's"]
    verified = next(event for event in reversed(events) if event.kind is EventKind.VERIFIED)
    result = blocks[verified.seq, "the hidden tests, on the final state: tests that must pass do not"]
    failed = [name for name, status in verified.body["fail_to_pass"].items() if status != "passed"]
    assert failed
    assert all(f"{name}: failed" in result for name in failed)
    final = next(body for (seq, title), body in blocks.items() if seq == verified.seq and "all that" in title)
    assert "+++ b/src/tally/allocation.py" in final


def test_who_is_told_all_at_once_is_shown_with_the_tasks_words_and_the_users_edits(
    recorded: RunFolder,
) -> None:
    attempt = _attempt(recorded, "counter-edit")
    task = unchanged_task(recorded, recorded.plan(), TASK)
    blocks = _blocks(attempt_text(attempt, task).text)
    assert task.instruction.strip() in blocks[0, "what the agent is told first"]
    assert not any("what the user wants" in title for _, title in blocks)
    edit = _first(attempt.read().events, EventKind.WORKSPACE_CHANGED, by="user")
    assert re.search(r"^\+ ", blocks[edit.seq, "the user changes the code"], re.MULTILINE)
    message = _first(attempt.read().events, EventKind.MESSAGE_SENT)
    assert message.body["text"] in blocks[message.seq, "the user says"]


def test_without_its_objects_a_record_names_the_files_of_changes(recorded: RunFolder) -> None:
    attempt = _attempt(recorded, "counter-edit")
    events = attempt.read().events
    blocks = _blocks(record_text(events, blob_reader(attempt.blobs)).text)
    edit = _first(events, EventKind.WORKSPACE_CHANGED, by="user")
    assert blocks[edit.seq, "the user changes the code"] == "src/tally/allocation.py"
    assert blocks[0, "what the agent is told first"] == "(not on record)"


def _blocks(text: str) -> dict[tuple[int, str], str]:
    found: dict[tuple[int, str], list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if heading := re.fullmatch(r"\[#(\d+)\] (.*)", line):
            lines = found.setdefault((int(heading[1]), heading[2]), [])
        else:
            lines.append(line.removeprefix("| "))
    return {block: "\n".join(body) for block, body in found.items()}


def _first(events: tuple[Event, ...], kind: EventKind, **fields: Any) -> Event:
    return next(
        event
        for event in events
        if event.kind is kind and all(event.body.get(name) == value for name, value in fields.items())
    )


async def _audited(folder: RunFolder, server: JudgeServer, *conditions: str) -> tuple[AuditedTrial, ...]:
    auditor = live_auditor(folder, model="some/model", base_url=server.address, api_key_env="NO_KEY")
    slugs = [slug for slug, _ in _attempts(folder) if any(name in slug for name in conditions)]
    return await audit_trials(folder, auditor, INTERACT, slugs, concurrency=2, watch=lambda *_: None)


async def test_opinions_stand_beside_the_record_and_are_not_asked_for_again(run: RunFolder) -> None:
    before = _hashes(run)
    with judge_server(forgotten, shown_record) as server:
        first = await _audited(run, server, "interactive", "four-hands")
        files = _hashes(run)
        again = await _audited(run, server, "interactive", "four-hands")
        assert len(server.asked) == len(first) == 2
    assert [each.opinion for each in again] == [each.opinion for each in first]
    assert [each.cached for each in (*first, *again)] == [False, False, True, True]
    assert _hashes(run) == files
    assert {path: text for path, text in files.items() if path in before} == before
    attempt = _attempt(run, "interactive")
    (opinion,) = opinions_of(attempt)
    assert opinion in {each.opinion for each in first}
    assert set(opinion.labels[0].events) <= {event.seq for event in attempt.read().events}
    counts = audit_counts(INTERACT, first)
    assert (counts.labels[FailureLabel.FORGOTTEN], counts.read, counts.without) == (2, 2, 0)


async def test_a_failure_takes_the_place_of_no_earlier_opinion(run: RunFolder) -> None:
    with judge_server(forgotten, shown_record) as server:
        await _audited(run, server, "interactive")
        shutil.rmtree(audit_answers_path(run))
        server.answer = chatters
        (trial,) = await _audited(run, server, "interactive")
    assert trial.opinion.problem
    (kept,) = opinions_of(_attempt(run, "interactive"))
    assert (kept.problem, len(kept.labels)) == (None, 1)


async def test_where_nobody_is_reached_the_first_trial_is_the_last(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourhands.user.talking.asking_a_model._PAUSE_SECONDS", 0.0)
    with judge_server(forgotten, shown_record) as server:
        pass
    with pytest.raises(FourhandsError, match=r"could not be reached .*: the same command goes on"):
        await _audited(run, server, "interactive", "four-hands")
    assert not opinions_of(_attempt(run, "interactive"))


def _arguments(folder: RunFolder, audit: str, address: str, *options: str) -> list[str | Path]:
    fourhands = Path(sys.executable).with_name("fourhands")
    where = ("--judge-model", "some/model", "--base-url", address, *options)
    return [fourhands, "audit", "judge", folder.path, "--audit", audit, *where]


def _command(folder: RunFolder, audit: str, address: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _arguments(folder, audit, address, *options),
        env={**os.environ, "COLUMNS": "160"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_marks_its_numbers_as_the_judges_and_unaudited_until_people_were_asked(
    run: RunFolder,
) -> None:
    with judge_server(retained, shown_record) as server:
        done = _command(run, "swe-touch", server.address, "--on", "all")
        assert done.returncode == 0, done.stderr
        assert "swe-touch, by judge:some/model, unaudited" in done.stdout
        assert re.search(r"retained conflict +2\b", done.stdout)
        assert "Asked about all 2 failed trials of tasks that are mostly solved without" in done.stdout
        known = agreement(0.72, judge=JUDGE, audit=TOUCH.name, prompt=AUDIT_PROMPT_VERSION)
        write_agreement(agreement_path(run, known), known)
        again = _command(run, "swe-touch", server.address, "--on", "sample", "--size", "1", "--json")
        assert again.returncode == 0, again.stderr
        assert len(server.asked) == 2
    document = json.loads(again.stdout)
    assert (document["schema"], document["judge"]) == (1, JUDGE)
    assert (document["audited"], document["trusted"], document["kappa"]) == (True, True, 0.72)
    assert document["counts"]["labels"][FailureType.RETAINED_CONFLICT] == 1
    (trial,) = document["trials"]
    assert trial["cached"]
    assert trial["labels"][0]["events"]


def test_the_command_ends_with_1_and_says_which_trial_got_no_opinion(run: RunFolder) -> None:
    with judge_server(chatters, shown_record) as server:
        done = _command(run, "swe-interact", server.address, "--on", "all")
    assert done.returncode == 1
    assert done.stderr.count("the judge gave no answer of use (3 tries)") == 2
    assert "The same command asks for these again." in done.stderr
    assert re.search(r"no opinion +2\b", done.stdout)
    path = next((_attempt(run, "interactive").path / "audits").iterdir())
    assert read_opinion(path).problem


def test_a_command_that_is_killed_or_interrupted_goes_on_with_what_is_left(run: RunFolder) -> None:
    hangs, hanging = threading.Event(), threading.Event()
    asked: list[str] = []
    told = ""

    def answers(numbers: list[str], text: str) -> str:
        asked.append(text)
        if len(asked) in {2, 3}:
            hanging.set()
            hangs.wait(120)
        return forgotten(numbers, text)

    with judge_server(answers, shown_record) as server:
        options = ("--on", "all", "--jobs", "1")
        for blow in (signal.SIGKILL, signal.SIGINT):
            process = subprocess.Popen(
                _arguments(run, "swe-interact", server.address, *options), stderr=subprocess.PIPE, text=True
            )
            assert hanging.wait(120)
            process.send_signal(blow)
            _, told = process.communicate(timeout=120)
            hanging.clear()
            assert process.returncode == (-signal.SIGKILL if blow is signal.SIGKILL else 130), told
            assert "[1/2]" in told
        assert "Interrupted. The same command goes on" in told
        hangs.set()
        done = _command(run, "swe-interact", server.address, *options)
    assert done.returncode == 0, done.stderr
    assert len(asked) == 4  # the first once; the second was cut twice
    assert done.stderr.count("known") == 1
    assert len(set(asked)) == 2


def test_a_size_without_a_sample_and_a_folder_that_is_no_run_are_refused(
    recorded: RunFolder, tmp_path: Path
) -> None:
    nowhere = "http://127.0.0.1:9/v1"
    with pytest.raises(InputError, match="--on sample --size N"):
        judge(recorded.path, "swe-interact", "m", nowhere, size=3)
    with pytest.raises(InputError, match="is no run"):
        judge(tmp_path, "swe-interact", "m", nowhere)
