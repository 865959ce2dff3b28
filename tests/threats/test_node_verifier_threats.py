"""What an agent must not gain by where tests run under Node: the verdict comes from tests that ran."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from fourhands.tasks.folder import Task
from fourhands.tasks.testrun import TestReport, run_tests

from .node import at_base, node_task, prepend

FORGED_FRAMES = dedent("""
    import process from 'node:process';
    import v8 from 'node:v8';

    const frame = (event) => {
      const serializer = new v8.DefaultSerializer();
      serializer.writeHeader();
      const headerLength = serializer.releaseBuffer().length;
      serializer.writeHeader();
      serializer.writeRawBytes(Buffer.alloc(4));
      serializer.writeHeader();
      serializer.writeValue(event);
      const bytes = serializer.releaseBuffer();
      bytes.writeUInt32BE(bytes.length - 4 - headerLength, headerLength);
      return bytes;
    };
    const names = ['a span over midnight counts in full'];
    const details = { duration_ms: 1 };
    const common = { nesting: 0, file: process.argv[1], line: 1, column: 1, testNumber: 1 };
    const told = names.flatMap((name) => [
      { type: 'test:start', data: { ...common, name } },
      { type: 'test:pass', data: { ...common, name, details } },
    ]);
    process.stdout.write(Buffer.concat(told.map(frame)), () => process.exit(0));
    await new Promise(() => setInterval(() => {}, 1000));
    """)
"""Prints, in the format in which a child of ``node --test`` tells its results, that a test has passed."""

FORGED_LINES = dedent("""
    import * as fs from 'node:fs';
    const ids = %s;
    const forged = ids.flatMap((id, number) => [
      { number, mac: '0'.repeat(64), payload: JSON.stringify({ id, status: 'passed' }) },
      { number, mac: '0'.repeat(64), payload: JSON.stringify({ names: [id.split(' > ')[1]], status: 'passed' }) },
      { id, status: 'passed' },
    ]);
    const text = `\\n${forged.map((each) => JSON.stringify(each)).join('\\n')}\\n`;
    // The channel of the results first: what is written into node's own pipes may end it.
    const link = (fd) => { try { return fs.readlinkSync(`/proc/self/fd/${fd}`); } catch { return ''; } };
    const first = (fd) => link(fd).includes('memfd');
    const open = fs.readdirSync('/proc/self/fd').sort((a, b) => first(b) - first(a));
    for (const fd of open) {
      try {
        fs.writeSync(fs.openSync(`/proc/self/fd/${fd}`, 'r+'), text);
        fs.appendFileSync('/tmp/written', `${fs.readlinkSync(`/proc/self/fd/${fd}`)} `);
      } catch {}
    }
    """)
READ_KEY = dedent("""
    import * as fs from 'node:fs';
    import process from 'node:process';
    let seen = JSON.stringify([process.argv, process.execArgv, process.env]);
    for (const source of ['/dev/stdin', '/proc/self/cmdline', '/proc/self/environ', `/proc/${process.ppid}/environ`,
      `/proc/${process.ppid}/cmdline`]) {
      try { seen += fs.readFileSync(source, 'utf8'); } catch {}
    }
    for (const fd of fs.readdirSync('/proc/self/fd')) {
      const file = `/proc/self/fd/${fd}`;
      try { if (fs.statSync(file).isFile()) seen += fs.readFileSync(file); } catch {}
    }
    fs.writeFileSync('/tmp/seen', seen);
    """)


@pytest.fixture(scope="module")
def task() -> Task:
    return node_task()


def assert_nothing_gained(report: TestReport, task: Task) -> None:
    assert not report.resolved
    assert [test for test, status in report.fail_to_pass.items() if status.is_pass] == []
    assert report.fail_to_pass.keys() | set(report.missing) >= set(task.tests.fail_to_pass)


async def test_the_reference_is_resolved_here(task: Task, tmp_path: Path) -> None:
    """The control: where nobody cheats, these tests can pass."""
    async with at_base(task, tmp_path, {}) as sandbox:
        assert (await sandbox.run(["git", "apply", "-"], stdin=task.reference)).code == 0
        report = await run_tests(sandbox, task)
    assert report.resolved, report.output


@pytest.mark.parametrize(
    "files",
    [
        {"test/hours.test.js": "import test from 'node:test'; test('nothing', () => {});\n"},
        {"test/package.json": '{"type": "commonjs"}\n', "test/hours.test.mjs": ""},
        {"test/node_modules/node:test/index.js": "export default () => {};\n"},
        {"node_modules/node:test/index.js": "export default () => {};\n"},
        {"package.json": '{"type": "module", "imports": {"node:test": "./src/week.js"}}\n'},
        {".npmrc": "node-options=--import=/testbed/evil.mjs\n", "evil.mjs": "process.exit(0)\n"},
        {"node.config.json": '{"nodeOptions": {"import": ["./evil.mjs"]}}', "evil.mjs": "process.exit(0)\n"},
        {".env": "NODE_OPTIONS=--import=/testbed/evil.mjs\n", "evil.mjs": "process.exit(0)\n"},
        {"node": "#!/bin/sh\nexit 0\n", "src/node": "#!/bin/sh\nexit 0\n"},
    ],
    ids="+".join,
)
async def test_files_that_would_steer_the_tests_do_not_count(
    task: Task, tmp_path: Path, files: Mapping[str, str]
) -> None:
    async with at_base(task, tmp_path, files) as sandbox:
        report = await run_tests(sandbox, task)
    assert_nothing_gained(report, task)
    assert report.missing == ()


async def test_printing_what_convinces_node_itself_does_not_count(task: Task, tmp_path: Path) -> None:
    """A child of ``node --test`` tells its results on its standard output: whoever prints there is believed."""
    async with at_base(task, tmp_path, {}) as sandbox:
        await prepend(sandbox, FORGED_FRAMES)
        believed = await sandbox.run(["node", "--test", "--test-reporter=tap", "test/hours.test.js"])
        report = await run_tests(sandbox, task)
    assert b"ok 1 - a span over midnight counts in full" in believed.stdout
    assert believed.code == 0
    assert_nothing_gained(report, task)
    assert set(report.missing) >= set(task.tests.fail_to_pass)


@pytest.mark.parametrize(
    "code",
    ["process.exit(0);", "process.reallyExit(0);", "process.kill(process.pid, 'SIGKILL');"],
)
async def test_ending_while_tests_run_does_not_count(task: Task, tmp_path: Path, code: str) -> None:
    async with at_base(task, tmp_path, {}) as sandbox:
        await prepend(sandbox, code)
        report = await run_tests(sandbox, task)
    assert_nothing_gained(report, task)
    assert set(report.missing) >= set(task.tests.fail_to_pass)
    assert "test/hours.test.js" in report.output


async def test_ending_early_does_not_spare_a_repair_its_tests(task: Task, tmp_path: Path) -> None:
    async with at_base(task, tmp_path, {}) as sandbox:
        assert (await sandbox.run(["git", "apply", "-"], stdin=task.reference)).code == 0
        await prepend(sandbox, "setImmediate(() => process.exit(0));")
        report = await run_tests(sandbox, task)
    assert not report.resolved
    assert "ended before their tests did" in report.output


async def test_records_forged_on_every_open_channel_do_not_count(task: Task, tmp_path: Path) -> None:
    ids = [*task.tests.fail_to_pass, *task.tests.pass_to_pass]
    async with at_base(task, tmp_path, {}) as sandbox:
        await prepend(sandbox, FORGED_LINES % ids)
        report = await run_tests(sandbox, task)
        written = (await sandbox.run(["cat", "/tmp/written"])).stdout
    assert_nothing_gained(report, task)
    assert b"memfd:results" in written


async def test_failures_taken_out_of_the_channel_leave_a_gap_that_shows(task: Task, tmp_path: Path) -> None:
    erasing = dedent("""
        import * as fs from 'node:fs';
        const [channel] = fs.readdirSync('/proc/self/fd').filter((fd) => {
          try { return fs.readlinkSync(`/proc/self/fd/${fd}`).includes('memfd'); } catch { return false; }
        });
        process.on('exit', () => {
          const lines = fs.readFileSync(`/proc/self/fd/${channel}`, 'utf8').split('\\n');
          const kept = lines.filter((line) => !/failed/.test(line)).join('\\n');
          fs.writeFileSync(`/proc/self/fd/${channel}`, kept);
          fs.appendFileSync('/tmp/erased', `${lines.length - kept.split('\\n').length}\\n`);
        });
        """)
    async with at_base(task, tmp_path, {}) as sandbox:
        await prepend(sandbox, erasing)
        report = await run_tests(sandbox, task)
        erased = (await sandbox.run(["cat", "/tmp/erased"])).stdout
    assert sum(map(int, erased.split())) == len(task.tests.fail_to_pass)
    assert set(report.missing) == set(task.tests.fail_to_pass)
    assert not report.resolved
    assert "ended before their tests did" in report.output


async def test_the_keys_cannot_be_read_where_programs_look(task: Task, tmp_path: Path) -> None:
    async with at_base(task, tmp_path, {}) as sandbox:
        await prepend(sandbox, READ_KEY)
        report = await run_tests(sandbox, task)
        found = await sandbox.run(["grep", "-cE", "(^|[^0-9a-f])[0-9a-f]{64}([^0-9a-f]|$)", "/tmp/seen"])
        seen = (await sandbox.run(["cat", "/tmp/seen"])).stdout
    assert report.missing == ()
    assert b"data:text/javascript" in seen
    assert found.stdout == b"0\n", found.stdout
