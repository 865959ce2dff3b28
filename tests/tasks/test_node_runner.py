"""What the ``node`` runner tells of tests, with real Node in a real sandbox."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.errors import InputError
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import Task, TestIds, load_task
from fourhands.tasks.prepare import prepare
from fourhands.tasks.programs import lacking
from fourhands.tasks.results import TestStatus
from fourhands.tasks.testrun import TestReport, run_tests, verdict_key

KINDS = dedent("""
    import assert from 'node:assert/strict';
    import test, { after, before, describe, it } from 'node:test';

    console.log('{"names":["printed"],"status":"passed"}');
    test('passed', () => {});
    test('failed', () => assert.equal(1, 2));
    test('thrown later', async () => { await null; throw new Error('later'); });
    test.skip('skipped', () => {});
    test('skipped from within', (t) => t.skip());
    test.todo('to do', () => assert.fail());
    test('twice', () => {});
    test('twice', () => assert.fail());
    test('too slow', { timeout: 20 }, () => new Promise((resolve) => setTimeout(resolve, 5000)));
    test('with parts', async (t) => { await t.test('part', () => assert.fail()); });
    test('Größe ≥ 1 > 0', () => {});
    describe('suite', () => {
      it('inner', () => {});
      describe('deeper', () => { it('inner', () => assert.fail()); });
    });
    describe('next suite', () => { it('inner', () => {}); });
    describe('no beginning', () => { before(() => { throw new Error('before'); }); it('never', () => {}); });
    describe('no end', () => { after(() => { throw new Error('after'); }); it('fine', () => {}); });
    """)
FOUND = {
    "passed": TestStatus.PASSED,
    "failed": TestStatus.FAILED,
    "thrown later": TestStatus.FAILED,
    "skipped": TestStatus.SKIPPED,
    "skipped from within": TestStatus.SKIPPED,
    "to do": TestStatus.XFAILED,
    "twice": TestStatus.FAILED,
    "too slow": TestStatus.ERROR,
    "with parts": TestStatus.FAILED,
    "with parts > part": TestStatus.FAILED,
    "Größe ≥ 1 > 0": TestStatus.PASSED,
    "suite > inner": TestStatus.PASSED,
    "suite > deeper > inner": TestStatus.FAILED,
    "suite": TestStatus.FAILED,
    "next suite > inner": TestStatus.PASSED,
    "next suite": TestStatus.PASSED,
    "no beginning": TestStatus.ERROR,
    "no end > fine": TestStatus.PASSED,
    "no end": TestStatus.ERROR,
}
GOOD = "import test from 'node:test';\ntest('good', () => {});\n"


@pytest.fixture(scope="module")
def task() -> Task:
    task = load_task(bundled_tasks()["hours-overnight"])
    if said := lacking(task.programs, task.name):
        pytest.skip(said)
    return task


@pytest.fixture(autouse=True)
def cache() -> None:
    """The machine's own cache: what is built here is the same for all tests."""


def with_tests(task: Task, files: Mapping[str, str], *listed: str) -> Task:
    """The task with ``files`` as its only tests, of which those ``listed`` decide."""
    patch = "".join(
        f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n"
        f"@@ -0,0 +1,{len(text.splitlines())} @@\n" + "".join(f"+{line}\n" for line in text.splitlines())
        for name, text in files.items()
    )
    return dataclasses.replace(
        task,
        verifier=task.verifier.model_copy(update={"arguments": tuple(files)}),
        test_patch=patch.encode(),
        tests=TestIds(fail_to_pass=listed, pass_to_pass=()),
    )


async def judge(task: Task, scratch: Path) -> TestReport:
    async with LocalSandbox(await prepare(task.directory), scratch / "sandboxes") as sandbox:
        return await run_tests(sandbox, task)


async def test_every_kind_of_result_is_told_by_file_and_names(task: Task, tmp_path: Path) -> None:
    ids = {f"test/kinds.test.js > {name}": status for name, status in FOUND.items()}
    printed = "test/kinds.test.js > printed"
    report = await judge(with_tests(task, {"test/kinds.test.js": KINDS}, *ids, printed), tmp_path)
    assert report.fail_to_pass == ids
    assert report.missing == (printed,)
    assert report.code == 1
    assert "not ok: suite > deeper > inner" in report.output


async def test_the_same_name_in_two_files_is_two_tests(task: Task, tmp_path: Path) -> None:
    bad = GOOD.replace("{}", "{ throw new Error(); }")
    ids = ("test/one.test.js > good", "test/two.test.mjs > good")
    report = await judge(
        with_tests(task, {"test/one.test.js": GOOD, "test/two.test.mjs": bad}, *ids), tmp_path
    )
    assert report.fail_to_pass == dict(zip(ids, [TestStatus.PASSED, TestStatus.FAILED], strict=True))


@pytest.mark.parametrize(
    "broken",
    [
        "import { gone } from '../src/index.js';\n" + GOOD,
        "const = 1;\n",
        "throw new Error();\n",
        "export {};\n",
    ],
    ids=["import", "syntax", "throws", "no tests"],
)
async def test_a_file_that_cannot_run_is_said_and_spares_the_others_nothing(
    task: Task, tmp_path: Path, broken: str
) -> None:
    files = {"test/broken.test.js": broken, "test/fine.test.js": GOOD}
    report = await judge(with_tests(task, files, "test/fine.test.js > good"), tmp_path)
    assert report.fail_to_pass == {"test/fine.test.js > good": TestStatus.PASSED}
    assert not report.resolved
    assert "ended before their tests did: test/broken.test.js\n" in report.output


async def test_tests_that_do_not_end_are_stopped_and_unresolved(task: Task, tmp_path: Path) -> None:
    hanging = with_tests(task, {"test/hang.test.js": GOOD + "setInterval(() => {}, 1000);\n"}, "x")
    limited = hanging.verifier.model_copy(update={"timeout_sec": 4})
    report = await judge(dataclasses.replace(hanging, verifier=limited), tmp_path)
    assert report.timed_out
    assert not report.resolved


def test_a_verdict_is_keyed_by_the_programs_that_the_task_needs(task: Task) -> None:
    assert verdict_key("t", dataclasses.replace(task, programs=("node>=18",))) != verdict_key("t", task)


def test_a_task_that_runs_under_node_must_say_that_it_needs_it(task: Task, tmp_path: Path) -> None:
    text = (task.directory / "task.toml").read_text()
    (tmp_path / "task.toml").write_text(text.replace('programs = ["node>=20"]\n', ""))
    with pytest.raises(InputError, match=r'task\.toml: .*programs: .*add "node>=20"'):
        load_task(tmp_path)
