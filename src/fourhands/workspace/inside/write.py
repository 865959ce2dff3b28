"""Write files of a work tree, all or nothing, if they are still what the request expects.

As a program: ``argv`` = work tree; standard input = per file: ``u32 path, u32 expected``, then ``u32`` the
expected and ``u32`` the resulting git mode (0: no file), then ``u64 content``. Numbers are big-endian; texts
follow their length; ``expected`` is a git blob's name, empty for no file. Ends with 0 when all is written, and
with 3 when nothing is, because files (NUL-separated on standard output) are not as expected.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
import struct
import sys
from collections import namedtuple

CHANGED = 3
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_LINK = 0o120000
_EXECUTABLE = 0o111


# Of ``collections``: ``typing`` costs more to import than most edits take.
Write = namedtuple("Write", ["path", "expected", "expected_mode", "mode", "content"])  # noqa: PYI024
"""One file of the request: modes are git's, ints, 0 for no file; the rest is bytes."""
Place = namedtuple("Place", ["folder", "name"])  # noqa: PYI024
"""An open folder (a descriptor) and a name in it, so that nothing above can be swapped for a link."""


def read_requests(data: bytes) -> list[Write]:
    """The files of a request."""
    writes = []
    at = 0

    def text(form: str) -> bytes:
        nonlocal at
        (size,) = struct.unpack_from(form, data, at)
        start = at + struct.calcsize(form)
        at = start + size
        return data[start:at]

    while at < len(data):
        path, expected = text(">I"), text(">I")
        modes = struct.unpack_from(">II", data, at)
        at += 8
        writes.append(Write(path, expected, modes[0], modes[1], text(">Q")))
    return writes


def locate(root: int, path: bytes, *, create: bool) -> Place:
    """Open the folder of ``path``; with ``create``, make what is missing. A link above it is an ``OSError``."""
    *folders, name = path.split(b"/")
    if b".." in folders or name in {b"..", b""}:
        raise OSError("outside the work tree")
    here = os.dup(root)
    for folder in folders:
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, dir_fd=here)
        below = os.open(folder, _FOLDER, dir_fd=here)
        os.close(here)
        here = below
    return Place(here, name)


def is_expected(root: int, write: Write) -> bool:
    """Whether the file is what it was when the edit was planned."""
    try:
        place = locate(root, write.path, create=False)
        state = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError:
        return not write.expected
    except OSError as error:
        if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
            raise
        return False
    if stat.S_ISLNK(state.st_mode):
        content = os.readlink(place.name, dir_fd=place.folder)
        is_same_type = write.expected_mode == _LINK
    elif stat.S_ISREG(state.st_mode):
        with os.fdopen(os.open(place.name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=place.folder), "rb") as stream:
            content = stream.read()
        is_same_type = write.expected_mode != _LINK
    else:
        return False
    name = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()  # noqa: S324 (git's own)
    return bool(is_same_type and name.encode() == write.expected)


def stage(place: Place, write: Write, temporary: bytes) -> None:
    """Write the file under a temporary name in its folder, with the permissions it is to have."""
    if write.mode == _LINK:
        os.symlink(write.content, temporary, dir_fd=place.folder)
        return
    permissions = 0o755 if write.mode & _EXECUTABLE else 0o644
    if write.expected_mode not in {0, _LINK}:
        permissions = stat.S_IMODE(os.stat(place.name, dir_fd=place.folder, follow_symlinks=False).st_mode)
        if write.mode != write.expected_mode:
            permissions = permissions & ~_EXECUTABLE | write.mode & _EXECUTABLE
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(temporary, flags, 0o600, dir_fd=place.folder), "wb") as stream:
        stream.write(write.content)
        os.fchmod(stream.fileno(), permissions)


def write_all(root: int, writes: list[Write]) -> None:
    """Stage every file, then put all in place. An error while staging leaves nothing behind but folders."""
    staged: list[tuple[Place, Write, bytes]] = []
    try:
        for number, write in enumerate(writes):
            place = locate(root, write.path, create=bool(write.mode))
            temporary = b".tmp-%s-%d" % (os.urandom(8).hex().encode(), number)
            staged.append((place, write, temporary))
            if write.mode:
                stage(place, write, temporary)
        for place, write, temporary in staged:
            if write.mode:
                os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
            else:
                os.unlink(place.name, dir_fd=place.folder)
    finally:
        for place, _, temporary in staged:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=place.folder)


def main() -> int:
    """The program: see the module's docstring."""
    root = os.open(os.fsencode(sys.argv[1]), _FOLDER)
    writes = read_requests(sys.stdin.buffer.read())
    changed = [write.path for write in writes if not is_expected(root, write)]
    if changed:
        sys.stdout.buffer.write(b"\0".join(changed))
        sys.stdout.buffer.flush()
        return CHANGED
    write_all(root, writes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
