"""What an agent must not gain by: the verdict comes from tests that ran, whatever lies in the repository."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from fourhands.engine.sandbox import LocalSandbox
from fourhands.model.sandbox import SandboxSpec
from fourhands.tasks.find import find_tasks
from fourhands.tasks.folder import Task, load_task
from fourhands.tasks.repository import base_repository
from fourhands.tasks.testrun import TestReport, run_tests

PASS_ALL = dedent("""
    import pytest

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(item, call):
        outcome = yield
        report = outcome.get_result()
        report.outcome, report.longrepr = "passed", None

    def pytest_collection_modifyitems(items):
        for item in items:
            item.obj = lambda *a, **k: None
    """)
ENTRY_POINT = "[pytest11]\nevil = evil\n"
FORGED_CHANNEL = dedent("""
    import json, os
    ids = {ids}
    lines = [json.dumps({{"number": n, "mac": "0" * 64, "payload": json.dumps({{"id": i, "status": "passed"}})}})
             for n, i in enumerate(ids)]
    lines += [json.dumps({{"id": i, "status": "passed"}}) for i in ids]
    lines += ["PASSED " + i for i in ids] + [i + " ... ok" for i in ids]
    for fd in os.listdir("/proc/self/fd"):
        try:
            told = os.open(f"/proc/self/fd/{{fd}}", os.O_WRONLY)
            os.write(told, ("\\n" + "\\n".join(lines) + "\\n").encode())
            with open("/tmp/written", "a") as told_so:
                told_so.write(os.readlink(f"/proc/self/fd/{{fd}}") + " ")
        except OSError:
            pass
    """)
READ_KEY = dedent("""
    import os, re, sys
    sources = ["/proc/self/cmdline", "/proc/self/environ", "/proc/%d/cmdline" % os.getppid()]
    text = os.read(0, 1 << 20).decode()
    for source in sources:
        try:
            text += open(source, errors="replace").read()
        except OSError:
            pass
    text += " ".join(sys.argv) + repr(dict(os.environ))
    if re.search(r"[0-9a-f]{64}", text):
        open("/tmp/key-was-seen", "w").close()
    """)


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setenv("FOURHANDS_CACHE", str(tmp_path / "cache"))
    return load_task(find_tasks(["ledger-rounding"])[0])


@pytest.fixture
async def sandbox(task: Task, tmp_path: Path) -> AsyncIterator[LocalSandbox]:
    """The task's base, unrepaired, under the interpreter that runs these tests."""
    path = f"{sys.prefix}/bin{os.pathsep}{os.defpath}"
    spec = SandboxSpec(base_repository(task), (Path(sys.prefix),), {**task.env, "PATH": path})
    async with LocalSandbox(spec, tmp_path / "sandboxes") as started:
        yield started


async def lay(sandbox: LocalSandbox, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        script = 'mkdir -p "$(dirname "$0")" && cat > "$0"'
        assert (await sandbox.run(["/bin/bash", "-c", script, name], stdin=text.encode())).code == 0


async def prepend(sandbox: LocalSandbox, text: str) -> None:
    """Let code run when the module under test is imported, which goes on being importable."""
    program = dedent("""
        import pathlib, sys
        (path,) = pathlib.Path("src").glob("*/allocation.py")
        head, future, rest = path.read_text().rpartition("from __future__ import annotations\\n")
        path.write_text(head + future + sys.stdin.read() + rest)
        compile(path.read_text(), "allocation.py", "exec")
        """)
    done = await sandbox.run(["python", "-c", program], stdin=text.encode())
    assert done.code == 0, done.stderr


def assert_nothing_gained(report: TestReport, task: Task) -> None:
    assert not report.resolved
    gained = [test for test, status in report.fail_to_pass.items() if status.is_pass]
    assert gained == []
    assert report.fail_to_pass.keys() | set(report.missing) >= set(task.tests.fail_to_pass)


async def test_the_reference_is_resolved_here(sandbox: LocalSandbox, task: Task) -> None:
    """The control: where nobody cheats, these tests can pass."""
    assert (await sandbox.run(["git", "apply", "-"], stdin=task.reference)).code == 0
    report = await run_tests(sandbox, task)
    assert report.resolved, report.output


@pytest.mark.parametrize(
    "files",
    [
        {"conftest.py": PASS_ALL},
        {"tests/conftest.py": PASS_ALL},
        {"tests/conftest/__init__.py": PASS_ALL},
        {"evil.py": PASS_ALL, "src/evil.py": PASS_ALL, "pytest.ini": "[pytest]\naddopts = -p evil\n"},
        {"evil.py": PASS_ALL, "src/evil.py": PASS_ALL, "tests/pytest.ini": "[pytest]\naddopts = -p evil\n"},
        {"src/evil.py": PASS_ALL, "pytest.toml": '[pytest]\naddopts = ["-p", "evil"]\n'},
        {"src/evil.py": PASS_ALL, "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-p evil"\n'},
        {"src/evil.py": PASS_ALL, "src/evil-1.dist-info/entry_points.txt": ENTRY_POINT},
        {"src/evil.py": PASS_ALL, "src/evil.egg-info/entry_points.txt": ENTRY_POINT},
        {
            "src/sitecustomize.py": "import os\nos.environ['PYTEST_ADDOPTS'] = '-p evil'\n",
            "src/evil.py": PASS_ALL,
        },
        {"src/pytest.py": "def main(*a, **k): return 0\n", "pytest.py": "def main(*a, **k): return 0\n"},
        {"src/pluggy.py": "raise SystemExit(0)\n", "src/_pytest/__init__.py": "raise SystemExit(0)\n"},
        {"src/json.py": "def dumps(r): return '{\"finished\": true}'\n", "json.py": "raise SystemExit(0)\n"},
        {"tests/test_allocation.py": "def test_nothing(): pass\n", "tests/test_journal.py": ""},
    ],
    ids="+".join,
)
async def test_files_that_would_steer_the_tests_do_not_count(
    sandbox: LocalSandbox, task: Task, files: Mapping[str, str]
) -> None:
    await lay(sandbox, files)
    assert_nothing_gained(await run_tests(sandbox, task), task)


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.exit(0)\n",
        "import os; os._exit(0)\n",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n",
    ],
)
async def test_ending_while_tests_run_does_not_count(sandbox: LocalSandbox, task: Task, code: str) -> None:
    await prepend(sandbox, code)
    report = await run_tests(sandbox, task)
    assert_nothing_gained(report, task)
    assert set(report.missing) >= set(task.tests.fail_to_pass)


async def test_ending_early_does_not_spare_a_repair_its_tests(sandbox: LocalSandbox, task: Task) -> None:
    assert (await sandbox.run(["git", "apply", "-"], stdin=task.reference)).code == 0
    await prepend(
        sandbox, "import threading, os, time\nthreading.Timer(0, os._exit, [0]).start(); time.sleep(1)\n"
    )
    report = await run_tests(sandbox, task)
    assert not report.resolved
    assert report.missing


async def test_records_forged_on_every_open_channel_do_not_count(sandbox: LocalSandbox, task: Task) -> None:
    await prepend(sandbox, FORGED_CHANNEL.format(ids=[*task.tests.fail_to_pass, *task.tests.pass_to_pass]))
    report = await run_tests(sandbox, task)
    assert_nothing_gained(report, task)
    assert report.missing == ()
    assert b"pipe:" in (await sandbox.run(["cat", "/tmp/written"])).stdout


async def test_the_key_cannot_be_read_where_programs_look(sandbox: LocalSandbox, task: Task) -> None:
    await prepend(sandbox, READ_KEY)
    report = await run_tests(sandbox, task)
    assert report.missing == ()
    assert (await sandbox.run(["test", "-e", "/tmp/key-was-seen"])).code == 1


@pytest.mark.parametrize("name", ["json", "hmac", "pytest", "tokenize"])
async def test_a_module_named_like_one_of_pythons_is_not_handed_the_key(
    sandbox: LocalSandbox, task: Task, name: str
) -> None:
    thief = "import sys\nfrom pathlib import Path\nPath('/tmp/stolen').write_text(sys.stdin.read())\n"
    await lay(sandbox, {f"{name}.py": thief, f"src/{name}.py": thief})
    report = await run_tests(sandbox, task)
    stolen = (await sandbox.run(["cat", "/tmp/stolen"])).stdout
    assert not re.search(rb"[0-9a-f]{64}", stolen)
    assert_nothing_gained(report, task)


async def test_a_daemon_that_rewrites_the_tests_is_dead_before_they_run(
    sandbox: LocalSandbox, task: Task
) -> None:
    daemon = dedent("""
        trap '' TERM
        while :; do for f in tests/test_*.py; do echo 'def test_nothing(): pass' > $f; done; touch /tmp/turn; done
        """)
    await lay(sandbox, {"/tmp/daemon": daemon})
    waiting = (
        "(setsid /bin/bash /tmp/daemon >/dev/null 2>&1 &); while [ ! -e /tmp/turn ]; do sleep 0.05; done"
    )
    assert (await sandbox.run(["/bin/bash", "-c", waiting], timeout=20)).code == 0
    assert (await sandbox.run(["cat", "tests/test_journal.py"])).stdout in {
        b"def test_nothing(): pass\n",
        b"",
    }
    report = await run_tests(sandbox, task)
    assert_nothing_gained(report, task)
    assert report.missing == ()


async def test_a_folder_of_tests_behind_a_link_is_replaced_by_the_real_one(
    sandbox: LocalSandbox, task: Task
) -> None:
    script = (
        "mv tests /tmp/tests; ln -s /tmp/tests tests; echo 'def test_nothing(): pass' > tests/test_journal.py"
    )
    assert (await sandbox.run(["/bin/bash", "-ec", script])).code == 0
    report = await run_tests(sandbox, task)
    assert "tests" in report.restored.removed
    assert_nothing_gained(report, task)
    assert report.missing == ()


async def test_compiled_code_beside_a_test_does_not_run_in_its_place(
    sandbox: LocalSandbox, task: Task
) -> None:
    compiling = dedent("""
        import importlib.util, py_compile, pathlib
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        for path in map(str, pathlib.Path("tests").glob("*.py")):
            pathlib.Path("/tmp/evil.py").write_text("def test_nothing(): pass\\n")
            py_compile.compile("/tmp/evil.py", importlib.util.cache_from_source(path), invalidation_mode=mode)
        """)
    assert (await sandbox.run(["python", "-c", compiling])).code == 0
    report = await run_tests(sandbox, task)
    assert "tests/__pycache__" in report.restored.removed
    assert_nothing_gained(report, task)
    assert report.missing == ()
