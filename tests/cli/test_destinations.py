"""Where nothing can be written is said before any work is done, with exit code 2."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fourhands.cli.destinations import see_that_file_can_be, see_that_folder_can_be
from fourhands.model.errors import InputError

FOURHANDS = Path(sys.executable).with_name("fourhands")


def test_a_place_that_is_not_there_yet_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    see_that_file_can_be(tmp_path / "new" / "folder" / "page.html", "--out")
    see_that_folder_can_be(tmp_path / "new" / "folder", "--out")
    monkeypatch.chdir(tmp_path)
    see_that_file_can_be(Path("page.html"), "--out")
    see_that_folder_can_be(Path("new"), "--out")


def test_a_file_is_no_folder_and_a_folder_no_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    see_that_file_can_be(file, "--out")
    see_that_folder_can_be(tmp_path, "--out")
    with pytest.raises(InputError, match=r"--out .*: is a folder: name a file"):
        see_that_file_can_be(tmp_path, "--out")
    for path in (file, file / "below" / "it"):
        with pytest.raises(InputError, match=r"--figures .*/file: is a file, not a folder"):
            see_that_folder_can_be(path, "--figures")
    with pytest.raises(InputError, match=r"--junit .*/file: is a file, not a folder"):
        see_that_file_can_be(file / "page.html", "--junit")


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (["report"], "--figures"),
        (["results", "--format", "csv"], "--out"),
    ],
)
def test_a_command_refuses_a_file_for_a_folder_before_it_reads_the_run(
    command: list[str], option: str, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    done = subprocess.run(
        [FOURHANDS, *command, tmp_path / "no run", option, file], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        f"error: {option} {file}: is a file, not a folder: choose another place"
    ]
    assert file.read_text() == "mine"
