"""Real tasks: generated into the cache as task folders, from the manifest, an sdist and a SWE-bench row."""

from __future__ import annotations

import json
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fourhands.model.errors import InputError
from fourhands.tasks.authored import AuthoredEdits, authored_record
from fourhands.tasks.cache import content_key, provide
from fourhands.tasks.data import Row, find_record, find_row
from fourhands.tasks.fetch import Distribution, fetch_distribution
from fourhands.tasks.folder import Verifier, problems
from fourhands.tasks.git import Base
from fourhands.tasks.interpreter import PYTHON_PATTERN
from fourhands.tasks.repository import sdist_repository
from fourhands.tasks.templates import dockerfile, solve_script, task_toml, verify_script

__all__ = ["RealTask", "generate", "real_tasks"]

_GENERATOR: Final = "real task 3"


class RealTask(BaseModel):
    """One task of the manifest.

    ``lock`` names the file of its hashed requirements beside the manifest; tasks may share it. ``excluded`` are
    ids of the row that cannot pass here, with the reason. ``test_patch_context`` says how many lines around a
    change of the row's test patch must be as it says, where the release does not have all of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    licence: str
    sdist: Distribution
    python: str = Field(default=">=3.12", pattern=PYTHON_PATTERN)
    lock: str = Field(pattern=r"^[a-z0-9-]+\.txt$")
    test_patch_context: int | None = Field(default=None, ge=1)
    env: dict[str, str]
    verifier: Verifier
    excluded: dict[str, str] = Field(default_factory=dict)


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1] = Field(alias="schema")
    tasks: dict[str, RealTask]


@cache
def real_tasks() -> dict[str, RealTask]:
    """The manifest: real tasks by instance id."""
    text = files("fourhands.tasks").joinpath("real", "manifest.toml").read_text("utf-8")
    return _Manifest.model_validate(tomllib.loads(text)).tasks


def generate(instance_id: str) -> Path:
    """The task folder of ``instance_id``, named after it, in the cache.

    Released edits are used where they are on this machine, else those of ours; a task with neither has no
    ``user/record.json``.

    Raises:
        InputError: it is not in the manifest, or what was pulled does not fit the sdist.
        MissingError: its row or its sdist is not on this machine and cannot be fetched.
    """
    known = real_tasks()
    if instance_id not in known:
        raise InputError(f"{instance_id} is not one of the real tasks: {', '.join(known)}")
    task, row, released = known[instance_id], find_row(instance_id), find_record(instance_id)
    lock = _lock(task.lock)
    edits, playbook = _shipped(f"{instance_id}.edits.toml"), _shipped(f"{instance_id}.playbook.toml")
    key = content_key(
        *(_GENERATOR, instance_id, task.model_dump_json(), row.line(), json.dumps(released)),
        *(lock, edits or b"", playbook or b""),
    )

    def build(scratch: Path, _final: Path) -> None:
        repository = sdist_repository(task.sdist)
        record = _fitted(released, Base(repository)) if released else None
        if record is None and edits is not None:
            record = authored_record(instance_id, _authored(instance_id, edits), repository)
        tests = Base(repository).regenerated(row.test_patch.encode(), context=task.test_patch_context)
        folder = _Folder(scratch / instance_id)
        _write_task(folder, instance_id, task, row, lock)
        folder.write("tests/test.patch", tests)
        folder.write("solution/reference.patch", Base(repository).regenerated(row.patch.encode()))
        if record is not None:
            folder.write("user/record.json", json.dumps(record, indent=2).encode() + b"\n")
        if playbook is not None:
            folder.write("user/playbook.toml", playbook)

    return provide("tasks", key, build) / instance_id


class _Folder:
    """A folder that is being written."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, relative: str, data: bytes, *, executable: bool = False) -> None:
        path = self._root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if executable else 0o644)


def _write_task(folder: _Folder, instance_id: str, task: RealTask, row: Row, lock: bytes) -> None:
    tests = {
        "fail_to_pass": row.fail_to_pass,
        "pass_to_pass": row.pass_to_pass,
        "excluded": task.excluded,
    }
    folder.write("task.toml", task_toml(instance_id, task).encode())
    folder.write("instruction.md", row.problem_statement.encode())
    folder.write("requirements.txt", lock)
    folder.write("environment/requirements.txt", lock)
    folder.write("environment/sdist.json", task.sdist.model_dump_json(indent=2).encode() + b"\n")
    folder.write(f"environment/{task.sdist.filename}", fetch_distribution(task.sdist).read_bytes())
    folder.write("environment/Dockerfile", dockerfile(task.sdist, task.python, task.env).encode())
    folder.write("tests/tests.json", json.dumps(tests, indent=2).encode() + b"\n")
    folder.write("tests/test.sh", verify_script(task.verifier).encode(), executable=True)
    folder.write("solution/solve.sh", solve_script().encode(), executable=True)


def _fitted(record: dict[str, Any], base: Base) -> dict[str, Any]:
    """The record with its patches as diffs of this repository's own blobs: a three-way merge needs them."""
    helpful = record.get("controls", {}).get("helpful_edit", {})
    for holder in (*record["counter_edit"]["interventions"], helpful):
        patch = holder.get("patch")
        if patch:
            patch["diff"] = base.regenerated(patch["diff"].encode()).decode()
    return record


def _authored(instance_id: str, edits: bytes) -> AuthoredEdits:
    try:
        return AuthoredEdits.model_validate(tomllib.loads(edits.decode()))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        said = problems(error) if isinstance(error, ValidationError) else str(error)
        raise InputError(f"{instance_id}.edits.toml: {said}") from error


def _lock(name: str) -> bytes:
    return files("fourhands.tasks").joinpath("real", name).read_bytes()


def _shipped(name: str) -> bytes | None:
    path = files("fourhands.tasks").joinpath("real", name)
    return path.read_bytes() if path.is_file() else None
