"""The bundled tasks hold what they promise, shown with real git, real pytest and the playbooks' real commands."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from _pytest.mark import ParameterSet

from fourhands.tasks.programs import lacking

ROOT: Final = Path(__file__).parents[2]
TASKS: Final = ROOT / "tasks"
NAMES: Final = tuple(sorted(path.parent.name for path in TASKS.glob("*/task.toml")))
TEMPERAMENTS: Final = ("keeps", "reconciles", "reverts")
PLAYBOOKS: Final = sorted(
    [
        *TASKS.glob("*/user/playbook.toml"),
        *(ROOT / "src/fourhands/tasks/real").glob("*.playbook.toml"),
    ]
)
COMMITTER: Final = {"GIT_COMMITTER_NAME": "Fourhands", "GIT_COMMITTER_EMAIL": "fourhands@example.invalid"}
MOVE_LIMIT: Final = 60
PROGRAMS: Final = [str(Path(node).parent) for node in [shutil.which("node")] if node]

RECORDER: Final = """
import json, os

RESULTS = {}

def pytest_runtest_logreport(report):
    RESULTS[report.nodeid] = RESULTS.get(report.nodeid, True) and report.passed

def pytest_sessionfinish():
    with open(os.environ["RESULTS"], "w") as file:
        json.dump(RESULTS, file)
"""

JS_RECORDER: Final = """
import path from 'node:path';

export default async function* (events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    yield `${JSON.stringify([path.relative(process.cwd(), data.file), data.name, type === 'test:pass'])}\\n`;
  }
}
"""


def that_can_run(name: str) -> ParameterSet:
    """The task, skipped with the reason when this machine lacks a program that it needs."""
    manifest = tomllib.loads((TASKS / name / "task.toml").read_text())
    said = lacking(manifest["metadata"]["fourhands"].get("programs", ()), name)
    return pytest.param(name, marks=[pytest.mark.skip(reason=said)] if said else [])


every_task = pytest.mark.parametrize("name", [that_can_run(name) for name in NAMES])
every_temperament = pytest.mark.parametrize("temperament", TEMPERAMENTS)

type Files = dict[str, bytes]
"""Content of each file by its path in the repository."""


def environment(repository: Path) -> dict[str, str]:
    return {
        "PATH": ":".join([str(Path(sys.executable).parent), *PROGRAMS, os.defpath]),
        "HOME": str(repository.parent),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "PYTHONPATH": str(repository / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


def git(repository: Path, *arguments: str, stdin: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *arguments],
        cwd=repository,
        env=environment(repository) | COMMITTER,
        input=stdin,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@functools.cache
def built(name: str) -> Path:
    """The task's repository at its base commit; only ever copied."""
    repository = Path(tempfile.mkdtemp(prefix="bundled-")) / "testbed"
    repository.mkdir()
    git(repository, "init", "--quiet", "--initial-branch=main")
    series = sorted((TASKS / name / "environment/history").glob("*.patch"))
    git(repository, "am", "--quiet", "--keep-cr", "--committer-date-is-author-date", *map(str, series))
    return repository


@pytest.fixture(scope="module", autouse=True)
def _built_repositories_are_removed() -> Iterator[None]:
    yield
    for name in NAMES:
        shutil.rmtree(built(name).parent)
    built.cache_clear()


def changed_by(name: str, patch: bytes) -> Files:
    """The files that ``patch`` touches, as they are after it stands on the base commit."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "testbed"
        shutil.copytree(built(name), repository)
        git(repository, "apply", "--whitespace=nowarn", "-", stdin=patch)
        git(repository, "add", "--all", "--intent-to-add")
        paths = git(repository, "diff", "--name-only", "-z").split("\0")[:-1]
        return {path: (repository / path).read_bytes() for path in paths}


def at_base(name: str, path: str) -> bytes:
    """Empty where the base has no such file."""
    file = built(name) / path
    return file.read_bytes() if file.exists() else b""


def three_way(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """``git merge-file``'s result, or ``None`` on a conflict."""
    with tempfile.TemporaryDirectory() as folder:
        sides = [Path(folder) / side for side in ("ours", "base", "theirs")]
        for side, content in zip(sides, (ours, base, theirs), strict=True):
            side.write_bytes(content)
        done = subprocess.run(["git", "merge-file", "-p", *map(str, sides)], capture_output=True, check=False)
        assert 0 <= done.returncode < 128, done.stderr.decode()
        return done.stdout if done.returncode == 0 else None


def merged(name: str, one: Files, other: Files) -> Files:
    """Both sets of changes, file by file.

    Raises:
        AssertionError: they conflict.
    """
    both = dict(one)
    for path, content in other.items():
        base = at_base(name, path)
        result = three_way(base, one.get(path, base), content)
        assert result is not None, f"{path} conflicts"
        both[path] = result
    return both


@dataclass(frozen=True)
class Task:
    name: str

    @property
    def folder(self) -> Path:
        return TASKS / self.name

    @functools.cached_property
    def manifest(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "task.toml").read_text())

    @functools.cached_property
    def tests(self) -> dict[str, Any]:
        tests: dict[str, Any] = json.loads((self.folder / "tests/tests.json").read_text())
        return tests

    @functools.cached_property
    def record(self) -> dict[str, Any]:
        record: dict[str, Any] = json.loads((self.folder / "user/record.json").read_text())
        return record

    @functools.cached_property
    def playbook(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "user/playbook.toml").read_text())

    @functools.cached_property
    def reference(self) -> Files:
        return changed_by(self.name, (self.folder / "solution/reference.patch").read_bytes())

    @property
    def interventions(self) -> list[dict[str, Any]]:
        return sorted(self.record["counter_edit"]["interventions"], key=lambda item: item["order"])

    @functools.cached_property
    def counter_edits(self) -> tuple[Files, ...]:
        """The distinct ones, in the order in which they come."""
        patches = dict.fromkeys(item["patch"]["diff"] for item in self.interventions)
        return tuple(changed_by(self.name, patch.encode()) for patch in patches)

    @property
    def counter_edit(self) -> Files:
        """The one that comes each time."""
        (edit,) = self.counter_edits
        return edit

    @property
    def uses(self) -> dict[str, int]:
        """How many Counter-Edits land, by temperament: one that is kept or built on does not come again."""
        return {"keeps": len(self.counter_edits), "reconciles": len(self.counter_edits), "reverts": 3}

    @functools.cached_property
    def co_edit(self) -> Files:
        return changed_by(self.name, self.record["controls"]["helpful_edit"]["patch"]["diff"].encode())


def verdicts(task: Task, state: Path | Files) -> dict[str, bool]:
    """Whether each test passes, by node id, on a copy of ``state`` that has the task's own tests."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder) / "testbed"
        shutil.copytree(state if isinstance(state, Path) else built(task.name), repository)
        if not isinstance(state, Path):
            for path, content in state.items():
                (repository / path).write_bytes(content)
        for path, content in changed_by(task.name, (task.folder / "tests/test.patch").read_bytes()).items():
            (repository / path).write_bytes(content)
        verifier = task.manifest["metadata"]["fourhands"]["verifier"]
        return RUNNERS[verifier["runner"]](repository, verifier["arguments"], Path(folder))


def told_by_pytest(repository: Path, arguments: list[str], scratch: Path) -> dict[str, bool]:
    plugin = scratch / "plugin"
    plugin.mkdir()
    (plugin / "recorder.py").write_text(RECORDER)
    results = scratch / "results.json"
    own = environment(repository)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "recorder", "-p", "no:cacheprovider", *arguments],
        cwd=repository,
        env=own | {"PYTHONPATH": f"{own['PYTHONPATH']}:{plugin}", "RESULTS": str(results)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    passed: dict[str, bool] = json.loads(results.read_text())
    return passed


def told_by_node(repository: Path, arguments: list[str], scratch: Path) -> dict[str, bool]:
    """What ``node --test`` itself says of each test: ``{"FILE > NAME": passed}``."""
    recorder = scratch / "recorder.mjs"
    recorder.write_text(JS_RECORDER)
    done = subprocess.run(
        ["node", "--test", f"--test-reporter={recorder}", *arguments],
        cwd=repository,
        env=environment(repository),
        capture_output=True,
        check=False,
        timeout=120,
    )
    return {f"{file} > {name}": ok for file, name, ok in map(json.loads, done.stdout.splitlines())}


RUNNERS: Final = {"pytest": told_by_pytest, "node": told_by_node}
SUITES: Final = {"pytest": "python -m pytest -q -p no:cacheprovider", "node": "node --test"}
"""By runner, what an agent would type to run the tests that it sees."""


def is_resolved(task: Task, state: Path | Files) -> bool:
    passed = verdicts(task, state)
    return all(passed.get(test, False) for test in task.tests["fail_to_pass"] + task.tests["pass_to_pass"])


@dataclass(frozen=True)
class Planned:
    """One intervention: it fires at ``event`` on a file of ``regions`` (whole files: coarser than the product)."""

    event: str
    regions: frozenset[str]
    edit: Files
    message: str


@dataclass
class TouchingUser:
    """Edits by three-way merge when a trigger fires; a conflict or an edit already there uses nothing up."""

    task: Task
    planned: tuple[Planned, ...]
    outcomes: list[str] = field(default_factory=list)
    edited_after: list[str] = field(default_factory=list)
    """The commands behind which an edit landed."""

    @property
    def used(self) -> int:
        return self.outcomes.count("applied")

    def after_action(self, command: str, before: Files, repository: Path) -> str | None:
        if self.used >= len(self.planned):
            return None
        plan = self.planned[self.used]
        if not self._fires(plan, command, before, repository):
            return None
        results: Files = {}
        for path, edited in plan.edit.items():
            result = three_way(at_base(self.task.name, path), (repository / path).read_bytes(), edited)
            if result is None:
                self.outcomes.append("does_not_apply")
                return None
            results[path] = result
        if all((repository / path).read_bytes() == content for path, content in results.items()):
            self.outcomes.append("already_present")
            return None
        for path, content in results.items():
            (repository / path).write_bytes(content)
        self.outcomes.append("applied")
        self.edited_after.append(command)
        return plan.message

    @staticmethod
    def _fires(plan: Planned, command: str, before: Files, repository: Path) -> bool:
        edited = any((repository / path).read_bytes() != before[path] for path in plan.regions)
        is_reading = re.search(r"\b(cat|sed -n|nl|head|tail)\b", command) is not None
        read = is_reading and any(path in command for path in plan.regions)
        return (edited and "edit" in plan.event) or (read and not edited and "read" in plan.event)


def counter_user(task: Task, *, event: str | None = None) -> TouchingUser:
    """The record's three Counter-Edits; ``event`` replaces the first trigger's."""
    planned = [
        Planned(
            item["trigger"]["event"],
            frozenset(region["path"] for region in item["trigger"]["regions"]),
            changed_by(task.name, item["patch"]["diff"].encode()),
            item["patch"]["user_claim"],
        )
        for item in task.interventions
    ]
    if event:
        planned[0] = Planned(event, planned[0].regions, planned[0].edit, planned[0].message)
    return TouchingUser(task, tuple(planned))


def helpful_user(task: Task) -> TouchingUser:
    helpful = task.record["controls"]["helpful_edit"]
    regions = frozenset(region["path"] for region in helpful["target_regions"])
    plan = Planned(helpful["trigger_event"], regions, task.co_edit, helpful["patch"]["user_claim"])
    return TouchingUser(task, (plan,))


def tracked(repository: Path) -> Files:
    files = (path for path in (repository / "src").rglob("*") if path.is_file())
    return {str(path.relative_to(repository)): path.read_bytes() for path in files}


def run_command(repository: Path, command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", command],
        cwd=repository,
        env=environment(repository),
        capture_output=True,
        check=False,
        timeout=30,
    )


def play(
    task: Task, repository: Path, temperament: str | None = None, user: TouchingUser | None = None
) -> None:
    """Let the scripted model work in ``repository``, beside ``user``, until it submits."""
    shutil.copytree(built(task.name), repository)
    moves: list[dict[str, Any]] = list(task.playbook["moves"])
    manner: dict[str, Any] = task.playbook["temperaments"].get(temperament, {})
    reaction: list[dict[str, Any]] = []
    is_leaving = False
    for _ in range(MOVE_LIMIT):
        if not reaction and is_leaving:
            return
        move = reaction.pop(0) if reaction else moves.pop(0)
        if move.get("submit"):
            return
        before = tracked(repository)
        run_command(repository, move["command"])
        message = user.after_action(move["command"], before, repository) if user else None
        if message is not None:
            reaction = list(manner["on_message"])
            is_leaving = manner["then"] == "submit"
    pytest.fail(f"no submission within {MOVE_LIMIT} moves")


@every_task
def test_the_history_applies_and_leads_to_the_commit_that_the_container_is_checked_against(name: str) -> None:
    log = git(built(name), "log", "--format=%H %an").splitlines()
    assert 4 <= len(log) <= 8
    assert len({line.partition(" ")[2] for line in log}) > 1
    assert log[0].split()[0] in (TASKS / name / "tests/test.sh").read_text()
    assert not git(built(name), "status", "--porcelain")


@every_task
def test_the_base_fails_just_the_tests_that_the_task_is_about(name: str) -> None:
    task = Task(name)
    passed = verdicts(task, {})
    assert sorted(test for test, ok in passed.items() if not ok) == task.tests["fail_to_pass"]
    assert sorted(test for test, ok in passed.items() if ok) == task.tests["pass_to_pass"]


@every_task
def test_the_reference_passes_all_tests(name: str) -> None:
    task = Task(name)
    passed = verdicts(task, task.reference)
    assert all(passed.values())
    assert sorted(passed) == sorted(task.tests["fail_to_pass"] + task.tests["pass_to_pass"])


@every_task
def test_the_counter_edit_conflicts_with_the_task_alone_and_with_the_reference(name: str) -> None:
    task = Task(name)
    for edit in task.counter_edits:
        assert not is_resolved(task, edit)
        assert not is_resolved(task, merged(name, edit, task.reference))


@every_task
def test_the_visible_tests_do_not_give_the_counter_edit_away(name: str, tmp_path: Path) -> None:
    repository = tmp_path / "testbed"
    shutil.copytree(built(name), repository)
    task = Task(name)
    for path, content in functools.reduce(functools.partial(merged, name), task.counter_edits).items():
        (repository / path).write_bytes(content)
    runner = task.manifest["metadata"]["fourhands"]["verifier"]["runner"]
    assert run_command(repository, SUITES[runner]).returncode == 0


@every_task
def test_the_co_edit_helps_and_does_not_solve_alone(name: str) -> None:
    task = Task(name)
    assert not is_resolved(task, task.co_edit)
    assert is_resolved(task, merged(name, task.co_edit, task.reference))


@every_task
def test_the_counter_edit_begins_within_its_region(name: str) -> None:
    task = Task(name)
    regions = {region["path"]: region for region in task.record["task_critical_regions"]}
    for edit in task.counter_edits:
        (path,) = edit
        lines, edited = at_base(name, path).split(b"\n"), edit[path].split(b"\n")
        first = next(number for number, line in enumerate(edited, 1) if line != lines[number - 1])
        assert regions[path]["start_line"] <= first <= regions[path]["end_line"] < len(lines)


@every_task
def test_the_moves_alone_solve_the_task(name: str, tmp_path: Path) -> None:
    task = Task(name)
    play(task, tmp_path / "testbed")
    assert is_resolved(task, tmp_path / "testbed")


@every_temperament
@pytest.mark.parametrize("name", [that_can_run(name) for name in NAMES if name != "config-layers"])
def test_under_the_counter_edit_only_who_keeps_it_fails(name: str, temperament: str, tmp_path: Path) -> None:
    task = Task(name)
    user = counter_user(task)
    play(task, tmp_path / "testbed", temperament, user)
    assert user.used == task.uses[temperament]
    assert is_resolved(task, tmp_path / "testbed") is (temperament != "keeps")


@every_temperament
def test_a_region_that_the_agent_has_rewritten_is_never_overwritten(temperament: str, tmp_path: Path) -> None:
    task = Task("config-layers")
    user = counter_user(task)
    play(task, tmp_path / "touched", temperament, user)
    play(task, tmp_path / "alone")
    assert user.outcomes
    assert set(user.outcomes) == {"does_not_apply"}
    assert tracked(tmp_path / "touched") == tracked(tmp_path / "alone")
    assert is_resolved(task, tmp_path / "touched")


@every_temperament
def test_the_same_edit_lands_when_it_comes_before_the_rewrite(temperament: str, tmp_path: Path) -> None:
    task = Task("config-layers")
    user = counter_user(task, event="read_or_edit")
    play(task, tmp_path / "testbed", temperament, user)
    assert user.used == task.uses[temperament]
    assert is_resolved(task, tmp_path / "testbed") is (temperament != "keeps")


def test_distinct_edits_of_two_files_stand_together_with_the_repair() -> None:
    task = Task("version-ranges")
    together = functools.reduce(functools.partial(merged, task.name), task.counter_edits, task.reference)
    assert len(task.counter_edits) == 3
    assert [len(edit) for edit in task.counter_edits] == [1, 1, 1]
    assert len({path for edit in task.counter_edits for path in edit}) == 2
    assert not is_resolved(task, together)


@pytest.mark.parametrize("name", ["sheet-ranges", "version-ranges"])
def test_edits_land_at_three_different_steps(name: str, tmp_path: Path) -> None:
    task = Task(name)
    user = counter_user(task)
    play(task, tmp_path / "testbed", "reverts", user)
    moves = [move.get("command") for move in task.playbook["moves"]]
    places = [moves.index(command) for command in user.edited_after]
    assert sorted(set(places)) == places
    assert len(places) == 3


def test_a_feature_changes_a_hundred_lines_of_many_files() -> None:
    patch = (TASKS / "sheet-ranges/solution/reference.patch").read_text().splitlines()
    assert sum(line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"} for line in patch) > 100
    assert len(Task("sheet-ranges").reference) >= 5


def test_an_edit_that_changes_nothing_by_itself_fails_one_test_of_the_reference() -> None:
    task = Task("cache-inflight")
    assert verdicts(task, task.counter_edit) == verdicts(task, {})
    with_reference = verdicts(task, merged(task.name, task.counter_edit, task.reference))
    assert [test for test, ok in with_reference.items() if not ok] == [
        "tests/test_loading.py::test_a_first_load_that_was_invalidated_is_not_kept"
    ]


def test_an_edit_beside_the_repair_stands_together_with_it(tmp_path: Path) -> None:
    task = Task("calendar-monthly")
    play(task, tmp_path / "testbed")
    repaired = tracked(tmp_path / "testbed")
    (path,) = task.counter_edit
    both = three_way(at_base(task.name, path), repaired[path], task.counter_edit[path])
    assert both is not None
    assert b"min(rule.start.day, 28)" in both
    assert b"add_months(anchor, step * rule.interval)" in both
    assert not is_resolved(task, {path: both})


@every_temperament
@every_task
def test_under_the_co_edit_every_temperament_solves_the_task(
    name: str, temperament: str, tmp_path: Path
) -> None:
    task = Task(name)
    user = helpful_user(task)
    play(task, tmp_path / "testbed", temperament, user)
    assert user.used == 1
    assert is_resolved(task, tmp_path / "testbed")


@every_temperament
def test_line_ends_and_names_survive_both_pairs_of_hands(temperament: str, tmp_path: Path) -> None:
    task = Task("recipe-fractions")
    before = tracked(built(task.name))
    assert any(not path.isascii() for path in before)
    user = counter_user(task)
    play(task, tmp_path / "testbed", temperament, user)
    after = tracked(tmp_path / "testbed")
    assert user.used
    assert after != before
    assert after.keys() == before.keys()
    for content in (*before.values(), *after.values(), *task.reference.values(), *task.co_edit.values()):
        assert content.count(b"\r\n") == content.count(b"\n") > 0


def moves_of(playbook: dict[str, Any]) -> list[dict[str, Any]]:
    reactions = [move for manner in playbook["temperaments"].values() for move in manner["on_message"]]
    return [*playbook["moves"], *reactions]


@pytest.mark.parametrize(
    "path", PLAYBOOKS, ids=lambda path: path.stem if path.stem != "playbook" else path.parts[-3]
)
def test_a_playbook_has_the_moves_and_temperaments_of_the_format(path: Path) -> None:
    playbook = tomllib.loads(path.read_text())
    assert playbook["schema"] == 1
    assert sorted(playbook["temperaments"]) == list(TEMPERAMENTS)
    assert all(manner["then"] in {"submit", "continue"} for manner in playbook["temperaments"].values())
    assert all(manner["on_message"] for manner in playbook["temperaments"].values())
    *working, last = playbook["moves"]
    assert 5 <= len(working) + 1 <= 16
    assert last.keys() == {"thought", "submit"}
    assert all(move.keys() == {"thought", "command"} for move in moves_of(playbook) if move is not last)


@pytest.mark.parametrize(
    "path", PLAYBOOKS, ids=lambda path: path.stem if path.stem != "playbook" else path.parts[-3]
)
def test_a_transcript_of_a_playbook_can_be_published(path: Path) -> None:
    telling = re.compile(
        r"hidden|benchmark|harness|verifier|grader|intervention|counter-?edit|co-?edit|swe-", re.IGNORECASE
    )
    assert not [
        move["thought"]
        for move in moves_of(tomllib.loads(path.read_text()))
        if telling.search(move["thought"])
    ]


def _is_lock_line(line: str) -> bool:
    return re.fullmatch(r"[a-z0-9-]+==[0-9.]+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?", line) is not None


@pytest.mark.parametrize(
    "read", [lambda n: TASKS / n / "requirements.txt", lambda n: TASKS / n / "environment/requirements.txt"]
)
def test_all_tasks_share_one_hashed_lock(read: Callable[[str], Path]) -> None:
    locked = [name for name in NAMES if (TASKS / name / "requirements.txt").exists()]
    (lock,) = {read(name).read_text() for name in locked}
    assert lock == (TASKS / locked[0] / "requirements.txt").read_text()
    assert all(_is_lock_line(line) for line in lock.splitlines())
