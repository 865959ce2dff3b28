"""A run's plans and checkpoints, scored from its record alone: no agent, no sandbox."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fourhands.edits.plan import plan_run
from fourhands.judge.live import live_judge
from fourhands.judge.prompts import PROMPT_VERSION
from fourhands.judge.scoring import RunScores, score_run
from fourhands.judge.subjects import Which
from fourhands.judge.summary import arm_scores, last_plan, state_named
from fourhands.model.audit import AuditName
from fourhands.model.condition import Condition
from fourhands.model.errors import FourhandsError, InputError
from fourhands.model.event import Actor, EventKind
from fourhands.model.judgement import Judgements
from fourhands.model.trial import AgentSpec
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import load_task
from fourhands.trajectories.audits import agreement_path, write_agreement
from fourhands.trajectories.judgements import (
    anchors_path,
    judgements_of,
    judgements_path,
    read_judgements,
)
from fourhands.trajectories.run_folder import RunFolder, Settings
from fourhands.user.talking.consulting import ATTEMPTS

from ..analysis.said import agreement  # noqa: TID252 - no package has tests
from ..engine.finished_trials import FinishedTrial  # noqa: TID252
from .judge_server import (
    Answer,
    JudgeServer,
    breaks_down,
    chatters,
    constant,
    good,
    invents,
    judge_server,
    shown,
)

PLAN = "Shares are rounded down first.\nWhat is left goes to the first ones."
CHECKED = {"G1": 0.25, "G2": 1.0, "G3": None}
PLANNED = ("judged", "cut")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """One trial that planned, wrote the reference in two steps, and ended; one that never ended."""
    task = load_task(bundled_tasks()["ledger-rounding"])
    folder = RunFolder(tmp_path_factory.mktemp("run"))
    plan = plan_run(
        tasks=[task],
        agents=[AgentSpec("thin", model) for model in PLANNED],
        conditions=[Condition.parse("single-turn")],
        repeats=1,
        settings=Settings(),
    )
    folder.write_plan(plan)
    for planned in plan.trials:
        trial = FinishedTrial(task, folder.new_attempt(planned.key))
        _checkpoint(trial, "c1", "plan", trial.tree, text=PLAN)
        before = trial.tree
        trial.write("agent", trial.patched(task.reference))
        _checkpoint(trial, "c2", "commit", before)
        done = trial.tree
        trial.write("agent", {"PLAN.md": PLAN.encode(), "cache.bin": b"\0ignored"})
        # As the recorder has it: the plan and what no commit would hold are no part of the step.
        _checkpoint(trial, "c3", "end", done, after=done)
        if planned.model == "judged":
            trial.end()
        else:
            trial.log.close()
    return folder


def _checkpoint(
    trial: FinishedTrial,
    name: str,
    of: str,
    before: str,
    *,
    after: str | None = None,
    text: str | None = None,
) -> None:
    step = trial.store.patch(before, after or trial.tree)
    body: dict[str, Any] = {
        "checkpoint": name,
        "of": of,
        "commit": None,
        "subject": None,
        "amended": False,
        "merge": False,
        "tree": trial.tree,
        "before": before,
        "diff": trial.attempt.blobs.put(step),
        "additions": 0,
        "deletions": 0,
        "files": [],
        "tests_only": False,
        "checks": None,
        "requirements": {},
        "goals": CHECKED if of == "commit" else {},
        "score": None,
        "source": "checks" if of == "commit" else None,
        "problem": None,
        "elapsed": 1.0,
    }
    if text is not None:
        body["text"] = trial.attempt.blobs.put(text.encode())
    trial._say(Actor.HARNESS, EventKind.CHECKPOINT, body)


async def _scored(folder: RunFolder, server: JudgeServer, which: Which = "all") -> RunScores:
    judge = live_judge(folder, model="some/model", base_url=server.address, api_key_env="NO_KEY")
    return await score_run(folder, judge, which=which, concurrency=2, watch=lambda *_: None)


def _copy(recorded: RunFolder, place: Path) -> RunFolder:
    shutil.copytree(recorded.path, place, symlinks=True)
    return RunFolder(place)


def _hashes(folder: Path) -> dict[Path, str]:
    files = [path for path in folder.rglob("*") if path.is_file() and "objects" not in path.parts]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


async def test_plans_are_judged_as_plans_and_code_as_a_whole_against_the_base(
    recorded: RunFolder, tmp_path: Path
) -> None:
    folder = _copy(recorded, tmp_path / "run")
    before = _hashes(folder.path)
    with judge_server(good) as server:
        scores = await _scored(folder, server)
    asked = [shown(messages[1]["content"])[1] for messages in server.asked]
    (trial,) = scores.trials  # the one that was cut has no outcome, and is not judged
    assert trial.key.agent.model == "judged"
    states = [(each.state, each.of, each.judgement.shown_as) for each in trial.judgements.states]
    assert states == [
        ("c1", "plan", "plan"),
        ("c2", "commit", "implementation"),
        ("c3", "end", "implementation"),
    ]
    assert PLAN in asked
    _, second, third = trial.judgements.states
    assert second.judgement == third.judgement  # the plan file and the cache are no part of it
    assert (last_plan(trial.judgements), third.judgement.score) == (100.0, 100.0)
    assert {path: text for path, text in _hashes(folder.path).items() if path in before} == before


async def test_the_anchors_are_scored_beside(recorded: RunFolder, tmp_path: Path) -> None:
    folder = _copy(recorded, tmp_path / "run")
    with judge_server(good) as server:
        scores = await _scored(folder, server, "end")
    (anchors,) = scores.anchors
    found = {each.state: each.judgement for each in anchors.judgements.states}
    assert {name: each.shown_as for name, each in found.items()} == {
        "empty": "implementation",
        "reference": "implementation",
        "reference-as-plan": "plan",
    }
    assert (found["empty"].score, found["reference"].score) == (0.0, 100.0)
    # What the agent wrote is the reference: one text, asked about once.
    assert scores.trials[0].judgements.states[0].judgement.key == found["reference"].key
    assert len(server.asked) == 3
    assert read_judgements(anchors_path(folder, "ledger-rounding", scores.judge)) == anchors.judgements


async def test_a_second_time_nothing_is_asked_and_the_files_are_the_same(
    recorded: RunFolder, tmp_path: Path
) -> None:
    folder = _copy(recorded, tmp_path / "run")
    with judge_server(good) as server:
        first = await _scored(folder, server)
        files, asked = _hashes(folder.path), len(server.asked)
        server.answer = breaks_down
        second = await _scored(folder, server)
        assert len(server.asked) == asked
    assert _hashes(folder.path) == files
    assert [each.judgements for each in second.trials] == [each.judgements for each in first.trials]
    assert (second.trials[0].asked, second.anchors[0].asked) == (0, 0)


async def test_a_cut_command_goes_on_with_what_is_left(recorded: RunFolder, tmp_path: Path) -> None:
    folder = _copy(recorded, tmp_path / "run")
    with judge_server(good) as server:
        whole = await _scored(folder, server)
        asked = len(server.asked)
        for path in (folder.path / "judgements" / "answers").iterdir():
            if path.stem == whole.trials[0].judgements.states[0].judgement.key:
                path.write_bytes(path.read_bytes()[:100])  # as a disk that was full leaves it
        attempt = folder.final_attempt(whole.trials[0].key)
        assert attempt
        judgements_path(attempt, whole.judge).unlink()
        again = await _scored(folder, server)
        assert len(server.asked) == asked + 1
    assert again.trials[0].judgements == whole.trials[0].judgements


@pytest.mark.parametrize(
    ("answer", "plan", "end"),
    [
        (good, 100.0, 100.0),
        (constant, 70.0, 70.0),
        (chatters, None, None),
    ],
)
async def test_rows_are_means_of_what_counts(
    recorded: RunFolder, tmp_path: Path, answer: Answer, plan: float | None, end: float | None
) -> None:
    folder = _copy(recorded, tmp_path / "run")
    with judge_server(answer) as server:
        scores = await _scored(folder, server)
    (arm,) = arm_scores(scores)
    assert (arm.trials, arm.plan, arm.end) == (1, plan, end)
    assert arm.unscored == (arm.points if plan is None else 0)
    apart = None if end is None else (abs(end - 25) + abs(end - 100)) / 2
    assert arm.from_checks == (None if apart is None else pytest.approx(apart))
    assert arm.compared == (0 if apart is None else 2)


async def test_what_a_judge_invents_is_left_out_and_counted(recorded: RunFolder, tmp_path: Path) -> None:
    folder = _copy(recorded, tmp_path / "run")
    with judge_server(invents) as server:
        scores = await _scored(folder, server)
    (arm,) = arm_scores(scores)
    assert arm.unscored == 3  # one goal of each of three texts
    assert arm.end == 100.0  # the others
    assert state_named(scores.anchors[0].judgements, "empty") == 0.0


async def test_judges_have_files_of_their_own_marked_with_who_they_are(
    recorded: RunFolder, tmp_path: Path
) -> None:
    folder = _copy(recorded, tmp_path / "run")
    with judge_server(good) as server:
        scores = await _scored(folder, server, "plan")
        for model in ("some-model", "other"):
            judge = live_judge(folder, model=model, base_url=server.address, api_key_env="NO_KEY")
            await score_run(folder, judge, which="plan", concurrency=1, watch=lambda *_: None)
    attempt = folder.final_attempt(scores.trials[0].key)
    assert attempt
    found: list[Judgements] = judgements_of(attempt)
    assert sorted(each.judge for each in found) == ["judge:other", "judge:some-model", "judge:some/model"]
    assert not any(each.audited for each in found)


def test_a_file_that_is_none_of_ours_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    for content in ("{", "[]", '{"schema": 2}', json.dumps({"schema": 1, "judge": "judge:m"})):
        path.write_text(content)
        with pytest.raises(InputError, match=r"(?s)m\.json.*fourhands conversations score again"):
            read_judgements(path)


def _command(folder: Path, address: str, *options: str) -> subprocess.CompletedProcess[str]:
    fourhands = Path(sys.executable).with_name("fourhands")
    where = ("--judge-model", "some/model", "--base-url", address, *options)
    return subprocess.run(
        [fourhands, "conversations", "score", folder, *where],
        env={**os.environ, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_marks_every_number_as_the_judges_and_unaudited(
    recorded: RunFolder, tmp_path: Path
) -> None:
    folder = _copy(recorded, tmp_path / "run")
    with judge_server(good) as server:
        done = _command(folder.path, server.address)
        as_json = _command(folder.path, server.address, "--json")
    assert (done.returncode, as_json.returncode) == (0, 0), done.stderr + as_json.stderr
    assert "by judge:some/model: unaudited" in done.stdout
    assert "0 asked about" in as_json.stderr
    document = json.loads(as_json.stdout)
    assert (document["schema"], document["judge"], document["audited"]) == (1, "judge:some/model", False)
    assert [(row["condition"], row["plan"], row["end"]) for row in document["rows"]] == [
        ("single-turn", 100.0, 100.0)
    ]
    assert [each["state"] for each in document["anchors"][0]["states"]] == [
        "empty",
        "reference",
        "reference-as-plan",
    ]


def test_the_command_marks_a_judge_by_its_agreement_on_goals_of_this_run(
    recorded: RunFolder, tmp_path: Path
) -> None:
    folder = _copy(recorded, tmp_path / "run")
    known = agreement(0.71, judge="judge:some/model", audit=AuditName.GOALS, prompt=PROMPT_VERSION)
    write_agreement(agreement_path(folder, known), known)
    other = agreement(0.99, judge="judge:some/model")
    write_agreement(agreement_path(folder, other), other)
    with judge_server(good) as server:
        done = _command(folder.path, server.address, "--checkpoints", "plan")
        as_json = _command(folder.path, server.address, "--checkpoints", "plan", "--json")
    assert "by judge:some/model: κ 0.71 with people, on goals." in " ".join(done.stdout.split())
    document = json.loads(as_json.stdout)
    assert (document["audited"], document["trusted"], document["kappa"]) == (True, True, 0.71)


@pytest.mark.parametrize(
    ("later", "says"),
    [
        (chatters, "gave no answer of use (3 tries)"),
        (breaks_down, "could not be asked for what its answer lacks"),
    ],
)
def test_the_command_ends_with_1_and_says_what_was_not_judged(
    recorded: RunFolder, tmp_path: Path, later: Answer, says: str
) -> None:
    """The anchors are well judged; the plan not at all, or once by half before the provider is gone."""
    folder = _copy(recorded, tmp_path / "run")

    def answer(ids: list[str], text: str) -> str | web.Response:
        if text != PLAN:
            return good(ids, text)
        return next(of_plan)(ids, text)

    of_plan = iter([invents if later is breaks_down else later, *[later] * 3])
    with judge_server(answer) as server:
        done = _command(folder.path, server.address, "--checkpoints", "plan")
    assert done.returncode == 1
    assert f"single-turn · repeat 1 · c1: the judge {says}" in done.stderr
    assert "The same command asks for these again." in done.stderr


async def test_where_nobody_is_reached_the_first_text_is_the_last(
    recorded: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourhands.user.talking.asking_a_model._PAUSE_SECONDS", 0.0)
    folder = _copy(recorded, tmp_path / "run")
    knocked: list[None] = []

    def hang_up(_: asyncio.StreamReader, caller: asyncio.StreamWriter) -> None:
        knocked.append(None)
        caller.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        judge = live_judge(folder, model="m", base_url=address, api_key_env="NO_KEY")
        with pytest.raises(FourhandsError, match=r"could not be reached .*: the same command goes on"):
            await score_run(folder, judge, which="all", concurrency=1, watch=lambda *_: None)
    assert len(knocked) == ATTEMPTS


def test_a_folder_that_is_no_run_is_refused_and_left_alone(tmp_path: Path) -> None:
    done = _command(tmp_path, "http://127.0.0.1:9/v1")
    assert done.returncode == 2
    assert "plan.json" in done.stderr
    assert not list(tmp_path.iterdir())
