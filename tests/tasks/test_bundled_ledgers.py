"""The bundled tasks as conversations: ledgers, acceptance tests and what takes a requirement out, on real git."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from fourhands.language.conveyance import conveyed
from fourhands.model.ledger import Ledger, Requirement
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.ledger_file import LEDGER_FILE, ledger_json, load_ledger, without_patches
from fourhands.tasks.programs import lacking

TASKS: Final[Mapping[str, Task]] = {name: load_task(folder) for name, folder in bundled_tasks().items()}
SEVERAL_FILES: Final = frozenset(
    {"cache-inflight", "config-layers", "hours-overnight", "sheet-ranges", "version-ranges"}
)
"""The tasks whose reference spans several files."""
LEAST: Final = 6
"""Requirements that each of those has, at least, and that can be taken out of it."""
WORD: Final = re.compile(r"\w{3,}")
NODE_NAME: Final = re.compile(r"^test\('([^']+)'", re.MULTILINE)


def ledger_of(name: str) -> Ledger:
    task = TASKS[name]
    return load_ledger(task.directory / LEDGER_FILE, task.instruction)


LEDGERS: Final = {name: ledger_of(name) for name in TASKS}
every_task = pytest.mark.parametrize("name", TASKS)
every_requirement = pytest.mark.parametrize(
    ("name", "requirement"),
    [(name, each) for name, ledger in LEDGERS.items() for each in ledger.requirements],
    ids=[f"{name}-{each}" for name, ledger in LEDGERS.items() for each in ledger.ids],
)


def git(repository: Path, *arguments: str, stdin: bytes = b"") -> None:
    own = {
        "PATH": os.environ["PATH"],
        "HOME": str(repository.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "A",
        "GIT_AUTHOR_EMAIL": "a@example.invalid",
        "GIT_COMMITTER_NAME": "A",
        "GIT_COMMITTER_EMAIL": "a@example.invalid",
    }
    done = subprocess.run(
        ["git", *arguments], cwd=repository, env=own, input=stdin, capture_output=True, check=False
    )
    assert done.returncode == 0, (arguments, done.stderr.decode())


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each task's repository with the reference committed on its base."""
    repositories = {}
    for name, task in TASKS.items():
        repository = repositories[name] = tmp_path_factory.mktemp(name) / "testbed"
        repository.mkdir()
        git(repository, "init", "--quiet")
        for patch in task.history:
            git(repository, "am", "--quiet", "--keep-cr", stdin=patch)
        git(repository, "apply", "--index", "--whitespace=nowarn", "-", stdin=task.reference)
        git(repository, "commit", "--quiet", "--message", "Reference")
    return repositories


def written_checks(name: str) -> list[str]:
    """The ids of all tests below ``user/checks``, as the task's runner names them."""
    checks = TASKS[name].checks
    assert checks is not None
    found = []
    for file in sorted(path for path in checks.rglob("*") if path.suffix in {".py", ".js"}):
        place, text = file.relative_to(checks).as_posix(), file.read_text("utf-8")
        if file.suffix == ".js":
            found += [f"{place} > {test}" for test in NODE_NAME.findall(text)]
        else:
            functions = (node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
            found += [f"{place}::{test}" for test in functions if test.startswith("test_")]
    return found


@every_task
def test_a_ledger_is_by_a_person_and_lies_as_it_is_written(name: str) -> None:
    assert LEDGERS[name].maker == "author"
    assert (TASKS[name].directory / LEDGER_FILE).read_bytes() == ledger_json(LEDGERS[name])


@every_task
def test_there_are_enough_requirements_to_talk_about(name: str) -> None:
    ledger = LEDGERS[name]
    assert ledger.ids == tuple(f"R{number}" for number in range(1, len(ledger.ids) + 1))
    assert len(ledger.ids) >= (LEAST if name in SEVERAL_FILES else 5)
    assert 3 <= len(ledger.goals) <= 5
    assert all(goal.evidence.endswith(".") for goal in ledger.goals)


@every_task
def test_a_goal_weighs_what_its_requirements_weigh(name: str) -> None:
    ledger = LEDGERS[name]
    named = [each for goal in ledger.goals for each in goal.requirements]
    assert Counter(named) == Counter(ledger.ids)
    for goal in ledger.goals:
        assert goal.weight == sum(ledger[each].weight for each in goal.requirements)


@every_requirement
def test_a_span_is_whole_words_that_the_text_takes_up(name: str, requirement: Requirement) -> None:
    instruction = TASKS[name].instruction
    start, end = requirement.span
    quoted = instruction[start:end]
    assert quoted == quoted.strip()
    for before, after in ((start - 1, start), (end - 1, end)):
        assert not (instruction[before : before + 1].isalnum() and instruction[after : after + 1].isalnum())
    said, meant = (set(WORD.findall(text.lower())) for text in (requirement.text, quoted))
    assert len(said & meant) * 3 >= len(meant)


@every_task
def test_spans_stand_apart(name: str) -> None:
    spans = sorted(each.span for each in LEDGERS[name].requirements)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))


@every_task
def test_what_the_user_says_first_gives_nothing_away(name: str) -> None:
    ledger = LEDGERS[name]
    for each in ledger.requirements:
        assert conveyed(each, ledger.brief).verdict == "not", each.id
        for part in (*each.identifiers, *each.values):
            assert not re.search(rf"(?<!\w){re.escape(part)}(?!\w)", ledger.brief), each.id


@every_task
def test_a_requirement_says_itself_and_no_other_one(name: str) -> None:
    ledger = LEDGERS[name]
    for each in ledger.requirements:
        said = [other.id for other in ledger.requirements if conveyed(other, each.text).verdict == "conveyed"]
        assert said == [each.id]


@every_task
def test_every_test_that_decides_belongs_to_a_requirement(name: str) -> None:
    tests = TASKS[name].tests
    named = {test for each in LEDGERS[name].requirements for test in each.tests}
    assert set(tests.fail_to_pass) <= named
    assert named <= {*tests.fail_to_pass, *tests.pass_to_pass}


@every_task
def test_every_requirement_has_checks_and_every_check_a_requirement(name: str) -> None:
    ledger = LEDGERS[name]
    assert all(each.checks for each in ledger.requirements)
    assert sorted(check for each in ledger.requirements for check in each.checks) == sorted(
        written_checks(name)
    )
    assert not ledger.is_verifier_informed


@every_task
def test_every_requirement_can_be_taken_out_of_the_reference(name: str, solved: dict[str, Path]) -> None:
    patches = without_patches(TASKS[name])
    assert tuple(patches) == LEDGERS[name].ids
    assert len(set(patches.values())) == len(patches)
    for patch in patches.values():
        git(solved[name], "apply", "--check", "--whitespace=nowarn", "-", stdin=patch)


@every_task
def test_requirements_can_be_taken_out_together_in_any_order(name: str, solved: dict[str, Path]) -> None:
    patches = list(without_patches(TASKS[name]).values())
    for order in (patches, patches[::-1]):
        for patch in order:
            git(solved[name], "apply", "--3way", "--index", "--whitespace=nowarn", "-", stdin=patch)
        git(solved[name], "reset", "--quiet", "--hard")


@every_task
def test_the_reference_passes_every_check(name: str, solved: dict[str, Path], tmp_path: Path) -> None:
    task = TASKS[name]
    if said := lacking(task.programs, name):
        pytest.skip(said)
    assert task.checks is not None
    written = []
    for file in sorted(path for path in task.checks.rglob("*") if path.suffix in {".py", ".js"}):
        written.append(file.relative_to(task.checks).as_posix())
        (solved[name] / written[-1]).write_bytes(file.read_bytes())
    runner = ["node", "--test"]
    if task.verifier.runner == "pytest":
        results = tmp_path / "results.xml"
        runner = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={results}"]
    own = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": "src",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(
        [*runner, *written],
        cwd=solved[name],
        env=own,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    count = re.search(r"^# pass (\d+)$|^(\d+) passed", done.stdout, re.MULTILINE)
    assert count is not None
    assert int(count[1] or count[2]) == len(written_checks(name))
