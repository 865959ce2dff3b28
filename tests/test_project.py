"""What must hold of the project as a whole."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import fourhands

ROOT = Path(__file__).parents[1]
_LOCKS = [
    *ROOT.glob("requirements/*.txt"),
    *ROOT.glob("src/**/*.txt"),
    *ROOT.glob("tasks/**/requirements.txt"),
]


def test_imports_follow_the_arrows() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("lock", _LOCKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_lock_names_hashes_and_no_host(lock: Path) -> None:
    text = lock.read_text()
    assert not re.search(r"https?:|file:|--index|--find-links|@ ", text)
    pins = re.findall(r"^[A-Za-z0-9._-]+==\S+ \\$", text, re.MULTILINE)
    assert pins
    assert len(pins) == len(re.findall(r"^[A-Za-z]", text, re.MULTILINE))


def test_no_uv_lock_which_would_write_hosts() -> None:
    assert not (ROOT / "uv.lock").exists()


def test_compromised_litellm_releases_are_in_no_lock() -> None:
    for lock in _LOCKS:
        assert not re.search(r"^litellm==1\.(82\.[78]|107\.0)\b", lock.read_text(), re.MULTILINE), lock


def _modules() -> list[str]:
    return [
        m.name for m in pkgutil.walk_packages(fourhands.__path__, "fourhands.") if ".inside." not in m.name
    ]


@pytest.mark.parametrize("name", [name for name in _modules() if ".helper" not in name])
def test_every_public_name_exists(name: str) -> None:
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        assert hasattr(module, public), f"{name}.{public}"


def test_help_imports_nothing_heavy() -> None:
    probe = (
        "import sys; sys.argv = ['fourhands', '--help']\n"
        "from fourhands.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'harbor', 'aiohttp', 'scipy', 'numpy', 'litellm', 'tree_sitter'} & set(sys.modules)\n"
        "sys.exit(f'imported for --help: {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
