from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.model.errors import MissingError
from fourhands.tasks.cache import cache_root, content_key, nothing_built, provide, write_whole

BUILDER = """
import os, sys, time
from pathlib import Path
from fourhands.tasks.cache import content_key, provide

def build(scratch, final):
    assert not final.exists()
    (scratch / "pid").write_text(str(os.getpid()))
    Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(float(sys.argv[2]))
    (scratch / "done").touch()

entry = provide("things", content_key("a"), build)
assert (entry / "done").is_file()
print((entry / "pid").read_text())
"""


def test_racing_processes_build_an_entry_once(tmp_path: Path) -> None:
    (tmp_path / "builders").mkdir()
    command = [sys.executable, "-c", BUILDER, str(tmp_path / "builders"), "0.3"]
    racing = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
    seen = {process.communicate()[0] for process in racing}
    assert [process.returncode for process in racing] == [0] * 4
    assert len(seen) == len(list((tmp_path / "builders").iterdir())) == 1


def test_a_killed_builder_leaves_no_entry_and_no_lock(tmp_path: Path, cache: Path) -> None:
    (tmp_path / "builders").mkdir()
    command = [sys.executable, "-c", BUILDER, str(tmp_path / "builders")]
    with subprocess.Popen([*command, "60"]) as killed:
        while not any((tmp_path / "builders").iterdir()):
            time.sleep(0.02)
        killed.send_signal(signal.SIGKILL)
    assert not (cache / "things" / content_key("a")[:32]).exists()
    subprocess.run([*command, "0"], check=True, timeout=20)


def test_a_failed_build_leaves_nothing(cache: Path) -> None:
    def build(scratch: Path, _final: Path) -> None:
        (scratch / "half").touch()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        provide("things", content_key("x"), build)
    assert list((cache / "things").iterdir()) == []


def test_where_nothing_is_built_an_entry_is_found_or_missed(cache: Path) -> None:
    with nothing_built():
        with pytest.raises(MissingError, match="builds it on first use"):
            provide("things", content_key("a"), lambda _scratch, _final: None)
        assert not cache.exists()
    entry = provide("things", content_key("a"), lambda _scratch, _final: None)
    with nothing_built():
        assert provide("things", content_key("a"), lambda _scratch, _final: None) == entry


def test_names_below_the_root_tell_nothing_but_a_hash(cache: Path) -> None:
    entry = provide("things", content_key("psf__requests-6028"), lambda _scratch, _final: None)
    assert entry.parent == cache / "things"
    assert set(entry.name) <= set("0123456789abcdef")
    assert entry.stat().st_mode & 0o777 == 0o755


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b", b"one")
    write_whole(tmp_path / "a" / "b", b"two")
    assert (tmp_path / "a" / "b").read_bytes() == b"two"
    assert os.listdir(tmp_path / "a") == ["b"]  # noqa: PTH208 - names, hidden ones too


def test_the_root_follows_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FOURHANDS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "fourhands"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_root() == Path.home() / ".cache" / "fourhands"


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_different_parts_have_different_keys(one: list[bytes], other: list[bytes]) -> None:
    assert (content_key(*one) == content_key(*other)) == (one == other)
