"""Put files of the repository back to given contents, and remove those that match a pattern and were not given.

Reads one JSON object from standard input and prints one: see ``fourhands.tasks.restoring``. Runs under the
sandbox's own interpreter, after everything else in the sandbox has ended.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

_PASSABLE: Final = 0o700


def _open_up(path: Path) -> None:
    """Make a directory passable: whoever worked here may have closed it."""
    mode = path.lstat().st_mode
    if stat.S_ISDIR(mode) and mode & _PASSABLE != _PASSABLE:
        path.chmod(stat.S_IMODE(mode) | _PASSABLE)


def _is_there(path: Path) -> bool:
    """Whether something has this name, be it a link to nothing."""
    return os.path.lexists(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for folder, _, _ in os.walk(path):
            _open_up(Path(folder))
        shutil.rmtree(path)
    else:
        path.unlink()


def _clear_way(root: Path, relative: str) -> Iterator[str]:
    """Make every folder above ``relative`` a real one, never write through a link; what was removed for it."""
    folder = root
    for part in relative.split("/")[:-1]:
        folder /= part
        if folder.is_symlink() or (_is_there(folder) and not folder.is_dir()):
            folder.unlink()
            yield str(folder.relative_to(root))
        if not _is_there(folder):
            folder.mkdir()
        _open_up(folder)


def _differs(path: Path, mode: str, data: bytes) -> bool:
    if not _is_there(path):
        return True
    found = path.lstat().st_mode
    if mode == "120000":
        return not stat.S_ISLNK(found) or os.fsencode(path.readlink()) != data
    if not stat.S_ISREG(found) or bool(found & stat.S_IXUSR) != (mode == "100755"):
        return True
    return not os.access(path, os.R_OK) or path.read_bytes() != data


def _write(path: Path, mode: str, data: bytes) -> None:
    if _is_there(path):
        _remove(path)
    if mode == "120000":
        path.symlink_to(os.fsdecode(data))
        return
    path.write_bytes(data)
    path.chmod(0o755 if mode == "100755" else 0o644)


def _matching(root: Path, pattern: re.Pattern[str], kept: Collection[str]) -> Iterator[str]:
    """Paths below ``root`` that match and are not kept; a directory that matches is named as a whole."""
    leading = {path[:at] for path in kept for at, letter in enumerate(path) if letter == "/"}
    for folder, names, files in os.walk(root):
        _open_up(Path(folder))
        inner = os.path.relpath(folder, root)
        prefix = "" if inner == "." else f"{inner}/"
        if not prefix and ".git" in names:
            names.remove(".git")
        for name in list(names):
            path = prefix + name
            _open_up(Path(folder, name))
            if pattern.fullmatch(path) and path not in kept and path not in leading:
                names.remove(name)
                yield path
        for name in files:
            path = prefix + name
            if pattern.fullmatch(path) and path not in kept:
                yield path


def main() -> None:
    """Do what standard input says, and print what was written and removed."""
    request = json.load(sys.stdin)
    root = Path(request["root"])
    removed = sorted(_matching(root, re.compile(request["pattern"], re.DOTALL), set(request["files"])))
    removed += [path for path in request["absent"] if _is_there(root / path)]
    for relative in removed:
        _remove(root / relative)
    written = []
    for relative, (mode, encoded) in request["files"].items():
        data = base64.b64decode(encoded)
        removed += _clear_way(root, relative)
        if _differs(root / relative, mode, data):
            _write(root / relative, mode, data)
            written.append(relative)
    json.dump({"written": written, "removed": removed}, sys.stdout)


if __name__ == "__main__":
    main()
