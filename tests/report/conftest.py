from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FOURHANDS = Path(sys.executable).with_name("fourhands")


@pytest.fixture(scope="session")
def thin_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real run, read only: two bundled tasks, two temperaments, with and without the user, by the agent `thin`."""
    folder = tmp_path_factory.mktemp("thin") / "run"
    done = subprocess.run(
        [
            *(FOURHANDS, "run", "--agent", "thin", "--tasks", "ledger-rounding,sheet-ranges", "--ablate"),
            *("--model", "scripted/keeps,scripted/reconciles", "--condition", "vanilla,counter-edit"),
            *("--out", folder),
        ],
        env={**os.environ, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window; CI has it, elsewhere a test that needs it may be skipped.

    Of a module, not of the session: while it is open an event loop runs, and no test with a loop of its own can.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("no chromium: CI must install it")
        pytest.skip("no chromium on PATH: install it to see the page in a browser")
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only what opens a page waits for it

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield chromium
        chromium.close()
