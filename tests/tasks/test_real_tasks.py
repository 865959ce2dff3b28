"""The real tasks, rebuilt from the package index and run: what holds of each was found independently before."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from fourhands.edits.records import Record, co_edit_interventions, counter_edit_interventions, load_record
from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.errors import InputError
from fourhands.tasks.authored import AuthoredEdits, authored_record
from fourhands.tasks.cache import cache_root
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.prepare import prepare
from fourhands.tasks.real import generate, real_tasks
from fourhands.tasks.repository import base_repository
from fourhands.tasks.testrun import TestReport, run_tests

IDS = list(real_tasks())
OURS = ["psf__requests-6028", "sympy__sympy-21847"]


@pytest.fixture
def cache(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """One cache for all: what is fetched and built is the same for each."""
    place = tmp_path_factory.getbasetemp() / "cache-of-real-tasks"
    monkeypatch.setenv("FOURHANDS_CACHE", str(place))
    monkeypatch.setenv("FOURHANDS_DATA", str(shared_data))
    return place


@pytest.fixture
def facts(shared_data: Path) -> dict[str, Any]:
    """What was found before, by other code, by instance id."""
    listed = json.loads((shared_data / "real-tasks" / "real-tasks.json").read_text())["tasks"]
    return {task["instance_id"]: task for task in listed}


async def judge(task: Task, *patches: bytes) -> TestReport | None:
    """The verdict on base + patches, each merged three-way; ``None`` if they conflict."""
    async with LocalSandbox(await prepare(task.directory), cache_root() / "sandboxes") as sandbox:
        for patch in patches:
            if (await sandbox.run(["git", "apply", "--3way", "-"], stdin=patch)).code:
                return None
        return await run_tests(sandbox, task)


def patches_of(record: Record) -> tuple[bytes, bytes]:
    """The Counter-Edit's and the Co-Edit's patch."""
    counter, co = counter_edit_interventions(record, 1), co_edit_interventions(record)
    assert isinstance(counter, tuple)
    assert isinstance(co, tuple)
    assert counter[0].patch
    assert co[0].patch
    return counter[0].patch, co[0].patch


def counts(report: TestReport | None) -> dict[str, Any]:
    """A report in the words of the facts."""
    if report is None:
        return {"resolved": False}
    passed = {
        name: f"{sum(status.is_pass for status in found.values())}/{len(found)}"
        for name, found in (("f2p", report.fail_to_pass), ("p2p", report.pass_to_pass))
    }
    return {"resolved": report.resolved, **passed}


def test_the_manifest_says_what_was_found(facts: dict[str, Any]) -> None:
    for instance_id, task in real_tasks().items():
        known = facts[instance_id]
        assert task.sdist.sha256 == known["sdist_sha256"]
        assert (task.sdist.package, task.sdist.version) == (known["pypi_package"], known["version"])
        assert task.sdist.filename == known["sdist"]
        assert task.licence == known["licence"]
        assert set(task.excluded) == set(known["tests_excluded"])
        assert {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", **task.env} == known["env_vars"]
        lock = files("fourhands.tasks").joinpath("real", f"{instance_id}.txt").read_text()
        pins = {line.split()[0].lower() for line in lock.splitlines() if "==" in line}
        assert pins == {pin.lower() for pin in known["pip_requirements"]}
        assert lock.count("--hash=sha256:") >= len(pins)


@pytest.mark.slow
@pytest.mark.parametrize("instance_id", IDS)
async def test_a_real_task_with_released_edits_is_as_it_was_found(
    instance_id: str, facts: dict[str, Any]
) -> None:
    folder = generate(instance_id)
    assert folder == generate(instance_id)
    task = load_task(folder)
    assert task.record is not None
    counter, co = patches_of(load_record(task.record))
    states = {
        "before": (),
        "reference": (task.reference,),
        "edit_alone": (counter,),
        "edit_then_reference_3way": (counter, task.reference),
        "coedit_alone": (co,),
        "coedit_then_reference_3way": (co, task.reference),
    }
    excluded = len(task.tests.excluded)
    for state, patches in states.items():
        found = counts(await judge(task, *patches))
        known = facts[instance_id]["checks"][state]
        expected = {name: known[name] for name in found}
        if "p2p" in expected:
            passed, listed = map(int, expected["p2p"].split("/"))
            expected["p2p"] = f"{passed}/{listed - excluded}"
        assert found == expected, state


@pytest.fixture
def ours(
    request: pytest.FixtureRequest, shared_data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Task:
    """A real task where no released record is at hand."""
    (tmp_path / "data" / "swe-bench").mkdir(parents=True)
    (tmp_path / "data" / "swe-bench" / "verified.jsonl").symlink_to(
        shared_data / "swe-bench" / "verified.jsonl"
    )
    monkeypatch.setenv("FOURHANDS_DATA", str(tmp_path / "data"))
    return load_task(generate(request.param))


@pytest.mark.slow
@pytest.mark.parametrize("ours", OURS, indirect=True)
async def test_edits_of_ours_pass_the_checks_that_their_record_claims(ours: Task) -> None:
    assert ours.record is not None
    record = load_record(ours.record)
    assert record.status == "validated_counter_edit"
    assert json.loads(ours.record.read_text())["region_evidence"]["source"] == "fourhands"
    counter, co = patches_of(record)

    async def resolved(*patches: bytes) -> bool:
        report = await judge(ours, *patches)
        assert report is not None, "the patches conflict"
        assert all(status.is_pass for status in report.pass_to_pass.values())
        return report.resolved

    assert not await resolved(counter)
    assert not await resolved(counter, ours.reference)
    assert not await resolved(co)
    assert await resolved(co, ours.reference)


@pytest.mark.slow
@pytest.mark.parametrize("ours", OURS[:1], indirect=True)
def test_an_edit_of_ours_refuses_lines_it_was_not_written_for(ours: Task) -> None:
    text = files("fourhands.tasks").joinpath("real", f"{ours.name}.edits.toml").read_text()
    moved = text.replace("lines = [982, 982]", "lines = [981, 981]", 1)
    assert moved != text
    edits = AuthoredEdits.model_validate(tomllib.loads(moved))
    with pytest.raises(InputError, match=r"lines 981-981 of requests/utils\.py are not those"):
        authored_record(ours.name, edits, base_repository(ours))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("instance_id", "forge"),
    [
        # The runner lies in the repository: whoever changes it there must gain nothing.
        (
            "django__django-10914",
            "sed -i '1i import unittest as u; u.TestCase.run = lambda s, r=None: r.addSuccess(s)' tests/runtests.py",
        ),
        (
            "sympy__sympy-21847",
            "sed -i 's/reporter.test_fail((t, v, tr))/reporter.test_pass()/' sympy/testing/runtests.py",
        ),
    ],
)
async def test_a_patched_runner_in_the_repository_does_not_count(instance_id: str, forge: str) -> None:
    task = load_task(generate(instance_id))
    async with LocalSandbox(await prepare(task.directory), cache_root() / "sandboxes") as sandbox:
        assert (await sandbox.run(["/bin/bash", "-ec", forge])).code == 0
        assert (await sandbox.run(["git", "status", "--porcelain"])).stdout.startswith(b" M ")
        report = await run_tests(sandbox, task)
    assert not report.resolved
    assert any(path.endswith("runtests.py") for path in report.restored.written)


@pytest.mark.slow
@pytest.mark.parametrize("instance_id", IDS)
def test_a_generated_folder_is_one_that_harbor_accepts(instance_id: str) -> None:
    from harbor.models.task.config import TaskConfig  # noqa: PLC0415 - heavy, and needed by this test alone

    folder = generate(instance_id)
    config = TaskConfig.model_validate(tomllib.loads((folder / "task.toml").read_text()))
    assert config.task is not None
    assert config.task.name == f"fourhands/{instance_id}"
    assert config.environment.workdir == "/testbed"


def test_nothing_of_a_row_or_a_record_stands_in_the_package(shared_data: Path) -> None:
    shipped = "\n".join(
        path.read_text()
        for path in Path(str(files("fourhands.tasks"))).rglob("*")
        if path.suffix in {".toml", ".py"}
    )
    texts: list[str] = []
    for line in (shared_data / "swe-bench" / "verified.jsonl").read_text().split("\n")[:-1]:
        row = json.loads(line)
        if row["instance_id"] in IDS:
            texts += [row["problem_statement"], row["patch"], row["test_patch"]]
    for line in (shared_data / "swe-touch" / "swe_bench_verified.jsonl").read_text().split("\n")[:-1]:
        record = json.loads(line)
        if record["instance_id"] in IDS:
            patch = record["counter_edit"]["interventions"][0]["patch"]
            texts += [patch["diff"], patch["user_claim"], record["controls"]["helpful_edit"]["patch"]["diff"]]
    lines = {text.lstrip("+- ").strip() for each in texts for text in each.splitlines()}
    assert [text for text in lines if len(text) > 60 and text in shipped] == []
