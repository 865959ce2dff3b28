"""Write files of a work tree, all or nothing, if they are still what the request expects.

As a program: ``argv`` = work tree; standard input = per file: ``u32 path, u32 expected``, then ``u32`` the
expected and ``u32`` the resulting git mode (0: no file), then ``u64 content``. Numbers are big-endian; texts
follow their length; ``expected`` is a git blob's name, empty for no file. Ends with 0 when all is written, and
with 3 when nothing is, because files (NUL-separated on standard output) are not as expected or may not be written.
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
from collections.abc import Iterator

CHANGED = 3
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_LINK = 0o120000
_EXECUTABLE = 0o111


# Of ``collections``: ``typing`` costs more to import than most edits take.
Write = namedtuple("Write", ["path", "expected", "expected_mode", "mode", "content"])  # noqa: PYI024
"""One file of the request: modes are git's, ints, 0 for no file; the rest is bytes."""
Place = namedtuple("Place", ["folder", "name"])  # noqa: PYI024
"""An open folder (a descriptor) and a name in it, so that nothing above can be swapped for a link."""
Staged = namedtuple("Staged", ["write", "temporary"])  # noqa: PYI024
"""A file of the request and the name, in its folder, under which its content waits."""


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


@contextlib.contextmanager
def located(root: int, path: bytes, *, create: bool = False) -> Iterator[Place]:
    """Open the folder of ``path``; with ``create``, make what is missing. A link above it is an ``OSError``."""
    *folders, name = path.split(b"/")
    if b".." in folders or name in {b"..", b""}:
        raise OSError("outside the work tree")
    here = os.dup(root)
    try:
        for folder in folders:
            if create:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=here)
            below = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        yield Place(here, name)
    finally:
        os.close(here)


def is_ready(root: int, write: Write) -> bool:
    """Whether the file is what it was when the edit was planned, and its folder may be written."""
    try:
        with located(root, write.path) as place:
            return os.access(b".", os.W_OK | os.X_OK, dir_fd=place.folder) and is_expected(place, write)
    except FileNotFoundError:
        return not write.expected and may_be_made(root, write.path.rpartition(b"/")[0])
    except OSError as error:
        if error.errno not in {errno.ENOTDIR, errno.ELOOP, errno.EACCES}:
            raise
        return False


def may_be_made(root: int, folder: bytes) -> bool:
    """Whether a folder that is not there can be: the nearest that is may be written."""
    try:
        with located(root, folder) as place:
            return os.access(b".", os.W_OK | os.X_OK, dir_fd=place.folder)
    except FileNotFoundError:
        return may_be_made(root, folder.rpartition(b"/")[0])


def is_expected(place: Place, write: Write) -> bool:
    """Whether the file is what it was when the edit was planned; whether it is there decides if none was."""
    try:
        state = os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError:
        return not write.expected
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


def remove(root: int, path: bytes) -> None:
    """Take a file away, and the folders this leaves empty, as git does."""
    with located(root, path) as place:
        os.unlink(place.name, dir_fd=place.folder)
    folder = path.rpartition(b"/")[0]
    with contextlib.suppress(OSError):
        while folder:
            with located(root, folder) as place:
                os.rmdir(place.name, dir_fd=place.folder)
            folder = folder.rpartition(b"/")[0]


def write_all(root: int, writes: list[Write]) -> None:
    """Stage every file, then put all in place. An error while staging leaves nothing behind but folders."""
    # No folder stays open meanwhile: there may be more of them than descriptors.
    staged: list[Staged] = []
    try:
        for number, write in enumerate(writes):
            temporary = b".tmp-%s-%d" % (os.urandom(8).hex().encode(), number)
            if write.mode:
                with located(root, write.path, create=True) as place:
                    staged.append(Staged(write, temporary))
                    stage(place, write, temporary)
        for write, temporary in staged:
            with located(root, write.path) as place:
                os.replace(temporary, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        staged.clear()
        for write in writes:
            if not write.mode:
                remove(root, write.path)
    finally:
        for write, temporary in staged:
            with contextlib.suppress(FileNotFoundError), located(root, write.path) as place:
                os.unlink(temporary, dir_fd=place.folder)


def main() -> int:
    """The program: see the module's docstring."""
    writes = read_requests(sys.stdin.buffer.read())
    # Opened as a place, not for reading: the agent may have closed it.
    root = os.open(os.fsencode(sys.argv[1]), os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    changed = [write.path for write in writes if not is_ready(root, write)]
    if changed:
        sys.stdout.buffer.write(b"\0".join(changed))
        sys.stdout.buffer.flush()
        return CHANGED
    write_all(root, writes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
