"""Walk a work tree and tell what differs from what is already known.

What counts as a file of the repository:

- regular files and symbolic links (never followed), whatever ``.gitignore`` says; not sockets, pipes, devices;
- also those of nested repositories, but nothing named ``.git`` at any depth: the histories are the agent's;
- not the caches in ``CACHES``: running the tests writes them, and nobody authors them;
- no empty folders;
- a regular file above ``SIZE_CAP`` bytes counts by a placeholder with its size and the SHA-256 of its ends, an
  unreadable one by a placeholder that says so;
- what cannot be looked at counts as unchanged: below a folder without permissions, or a path that is too long.

As a program: ``argv`` = work tree; standard input = known ``path NUL key NUL`` pairs; standard output =
records, each ``tag u32 path`` and, by tag: ``-`` (gone) and ``~`` (told by the next walk) nothing; ``=`` (content
as known) ``u32 mode, u32 key``; ``+`` (new or changed) the same and ``u64 content``. Numbers are big-endian; texts
follow their length.
"""

from __future__ import annotations

import io
import os
import stat
import struct
import sys
import time
from collections import namedtuple
from collections.abc import Iterator, Mapping

CACHES = frozenset({b"__pycache__", b".pytest_cache", b".mypy_cache", b".ruff_cache", b".hypothesis"})
SIZE_CAP = 64 << 20
AT_ONCE = 64 << 20
"""Bytes of content after which a walk tells no more: whoever reads it holds all of it in memory."""
TRUST = b"="
"""A known key that is this and a type (``100`` or ``120``) means: content as known if it is of that type."""
SETTLED = b"!"
"""A known key that is this means: leave it as it is, unless it is gone."""
RACY = b"?"
"""The key of a file too young to trust its times: a later write may leave them as they are."""
_RACY_NS = 50_000_000
_END = 1 << 20
"""Bytes at either end of a file above the cap that its placeholder tells: a sparse file may be endless."""
_LINK = 0o120000


# Of ``collections``: ``typing`` costs as much to import as a small walk takes, and this runs at every step.
Gone = namedtuple("Gone", ["path"])  # noqa: PYI024
"""A known path that is no longer a file; ``path`` is bytes."""
Kept = namedtuple("Kept", ["path", "mode", "key"])  # noqa: PYI024
"""A path whose content is the known one; ``mode`` is git's, an int, ``key`` is bytes."""
Content = namedtuple("Content", ["path", "mode", "key", "data"])  # noqa: PYI024
"""A new or changed path; ``data`` is the file's content, a link's target, or a placeholder."""
Later = namedtuple("Later", ["path"])  # noqa: PYI024
"""A new or changed path that this walk had no room for."""
TAGS = {Gone: b"-", Kept: b"=", Content: b"+", Later: b"~"}


def walk(
    root: bytes, known: Mapping[bytes, bytes], at_once: int | None = None
) -> Iterator[Gone | Kept | Content | Later]:
    """What differs below ``root`` from ``known`` (path to key). A path whose key is the same is not told.

    Once ``at_once`` bytes of content are told, what else is new or changed is only named.
    """
    started = time.time_ns()
    told = 0
    missing = dict(known)
    unreadable: list[bytes] = []
    for path, place, state in _leaves(root, unreadable):
        before = missing.get(path, b"")
        mode = _mode(state.st_mode)
        if not mode:
            continue
        missing.pop(path, None)
        key = _key(state)
        if before in {key, SETTLED}:
            continue
        if max(state.st_mtime_ns, state.st_ctime_ns) > started - _RACY_NS:
            key = RACY
        if before == b"%s%03o" % (TRUST, mode >> 9):
            yield Kept(path, mode, key)
        elif at_once is not None and told >= at_once:
            yield Later(path)
        else:
            data = _read(place, mode)
            told += len(data)
            yield Content(path, mode, key, data)
    for path in missing:
        if not path.startswith(tuple(unreadable)):
            yield Gone(path)


def _leaves(root: bytes, unreadable: list[bytes]) -> Iterator[tuple[bytes, bytes, os.stat_result]]:
    """All that is not a folder: its path, below ``root`` and whole, and state.

    Folders that refuse are added to ``unreadable``: to list them, or to look at what is in them.
    """
    pending = [b""]
    while pending:
        prefix = pending.pop()
        try:
            entries = list(os.scandir(root + b"/" + prefix))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            unreadable.append(prefix)
            continue
        for entry in entries:
            name = entry.name
            if name == b".git" or name in CACHES or name.endswith(b".pyc"):
                continue
            if entry.is_dir(follow_symlinks=False):
                pending.append(prefix + name + b"/")
                continue
            try:
                state = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            except OSError:
                unreadable.append(prefix)
                break
            yield prefix + name, entry.path, state


def _key(state: os.stat_result) -> bytes:
    times = state.st_mtime_ns, state.st_ctime_ns
    return b"%x %x %x %x %x" % (state.st_mode, state.st_size, *times, state.st_ino)


def _mode(mode: int) -> int:
    if stat.S_ISLNK(mode):
        return _LINK
    if stat.S_ISREG(mode):
        return 0o100755 if mode & stat.S_IXUSR else 0o100644
    return 0


def _read(path: bytes, mode: int) -> bytes:
    try:
        if mode == _LINK:
            return os.readlink(path)  # noqa: PTH115 (bytes)
        # The path may have become something else since it was looked at: never follow, never wait.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b"fourhands placeholder: unreadable\n"
    with os.fdopen(handle, "rb") as stream:
        size = os.fstat(handle).st_size
        return stream.read(SIZE_CAP) if size <= SIZE_CAP else _placeholder(stream, size)


def _placeholder(stream: io.BufferedReader, size: int) -> bytes:
    import hashlib  # noqa: PLC0415 - costs more than a walk, and few trees hold such a file

    ends = stream.read(_END)
    stream.seek(size - _END)
    digest = hashlib.sha256(ends + stream.read(_END)).hexdigest()
    return b"fourhands placeholder: size %d sha256 %s of its first and last MiB\n" % (size, digest.encode())


def main() -> None:
    """The program: see the module's docstring."""
    fields = sys.stdin.buffer.read().split(b"\0")
    out = sys.stdout.buffer
    known = dict(zip(fields[::2], fields[1::2]))  # noqa: B905 (3.9)
    for record in walk(os.fsencode(sys.argv[1]), known, AT_ONCE):
        out.write(TAGS[type(record)] + struct.pack(">I", len(record.path)) + record.path)
        if isinstance(record, (Kept, Content)):
            out.write(struct.pack(">II", record.mode, len(record.key)) + record.key)
        if isinstance(record, Content):
            out.write(struct.pack(">Q", len(record.data)) + record.data)
    out.flush()


if __name__ == "__main__":
    main()
