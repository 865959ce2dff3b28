"""Where a command is told to write: seen to be possible before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

from fourhands.model.errors import InputError

__all__ = ["see_that_file_can_be", "see_that_folder_can_be"]


def see_that_file_can_be(path: Path, option: str) -> None:
    """See that a file can be written there, with the folders above it.

    Raises:
        InputError: it cannot; names the option, the path and the remedy.
    """
    if path.is_dir():
        raise InputError(f"{option} {path}: is a folder: name a file")
    see_that_folder_can_be(path.parent, option)


def see_that_folder_can_be(path: Path, option: str) -> None:
    """See that files can be written into a folder, which need not be there yet. Raises as `see_that_file_can_be`."""
    there = next(each for each in (path, *path.absolute().parents) if each.exists())
    if not there.is_dir():
        raise InputError(f"{option} {there}: is a file, not a folder: choose another place")
    if not os.access(there, os.W_OK):
        raise InputError(f"{option} {there}: cannot be written to: choose another place")
