"""Trees of files into and out of a sandbox, as tar archives.

What comes out was made by the agent, and ``tarfile``'s own filters can be led out of their folder by chains of
links (CVE-2025-4517 and its kin, in every 3.12 before 3.12.11). So nothing here follows a link while it writes,
and a link is kept only if no reader of the folder can be led out by it either.
"""

from __future__ import annotations

import errno
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Self

__all__ = ["pack", "unpack"]

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def pack(source: Path, name: str = ".") -> bytes:
    """Return an archive of ``source`` (a file or a folder) as ``name``; links are kept as links."""
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT, encoding="utf-8") as archive:
        archive.add(source, name, filter=_without_owner)
    return buffer.getvalue()


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def unpack(archive: bytes, target: Path, *, select: Callable[[str], bool] = lambda _: True) -> list[str]:
    """Write the files of ``archive`` for which ``select`` holds below ``target``, over what is there.

    Permissions are kept, but no special bits; the owner is who runs this. Returns the names of what was left
    out: devices, pipes, and links or names that lead out of ``target``.

    Raises:
        tarfile.TarError: this is no archive, or it is torn.
        OSError: ``target`` cannot be written.
    """
    target.mkdir(parents=True, exist_ok=True)
    left_out: list[str] = []
    links: list[tarfile.TarInfo] = []
    written: set[str] = set()
    with (
        tarfile.open(
            fileobj=BytesIO(archive), mode="r:", encoding="utf-8", errors="surrogateescape"
        ) as members,
        _Folder(target) as root,
    ):
        for member in members:
            parts = _parts(member.name)
            if parts is None:
                left_out.append(member.name)
            elif not parts or not select("/".join(parts)):
                continue
            elif member.isdir():
                root.make_folder(parts)
            elif member.issym() or member.islnk():
                links.append(member)
            elif (content := members.extractfile(member)) is not None:
                root.write(parts, content.read(), member.mode)
                written.add("/".join(parts))
            else:
                left_out.append(member.name)
        # Last, so that no file is written through one of them.
        left_out += [link.name for link in links if not root.link(link, written)]
    return left_out


def _parts(name: str) -> list[str] | None:
    """Components below the target; ``None`` for a name that leads out of it."""
    path = PurePosixPath(name)
    return None if path.is_absolute() or ".." in path.parts else list(path.parts)


def _stays_inside(link: str, depth: int) -> bool:
    """Whether a link in a folder ``depth`` below the target leads nowhere outside.

    Up goes first, through real folders only; then down, through names each of which stays inside.
    """
    parts = PurePosixPath(link).parts
    up = next((index for index, part in enumerate(parts) if part != ".."), len(parts))
    return not link.startswith("/") and up <= depth and ".." not in parts[up:]


class _Folder:
    """A folder held open, below which paths are walked without following a link."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    @contextmanager
    def _open(self, parts: Iterable[str]) -> Iterator[int]:
        """Give a descriptor of the folder, made where it is missing; what is in the way is replaced."""
        current = os.dup(self._descriptor)
        try:
            for part in parts:
                deeper = _open_or_make(part, current)
                os.close(current)
                current = deeper
            yield current
        finally:
            os.close(current)

    def make_folder(self, parts: list[str]) -> None:
        """Make a folder and those above it."""
        with self._open(parts):
            pass

    def write(self, parts: list[str], content: bytes, mode: int) -> None:
        """Write a file in place of what has its name."""
        with self._open(parts[:-1]) as folder:
            with suppress(FileNotFoundError):
                os.unlink(parts[-1], dir_fd=folder)
            file = os.open(parts[-1], _FILE_FLAGS, 0o600, dir_fd=folder)
            with os.fdopen(file, "wb") as stream:
                stream.write(content)
                os.fchmod(file, (mode & 0o777) | 0o600)

    def link(self, member: tarfile.TarInfo, written: set[str]) -> bool:
        """Make a symbolic link that stays inside, or a hard link to a file of this archive; whether it did."""
        parts = _parts(member.name) or []
        other = _parts(member.linkname)
        if member.issym():
            if not _stays_inside(member.linkname, len(parts) - 1):
                return False
        elif other is None or "/".join(other) not in written:
            return False
        with self._open(parts[:-1]) as folder:
            with suppress(FileNotFoundError):
                os.unlink(parts[-1], dir_fd=folder)
            if member.issym():
                os.symlink(member.linkname, parts[-1], dir_fd=folder)
            else:
                with self._open((other or [])[:-1]) as source:
                    os.link(
                        (other or [])[-1],
                        parts[-1],
                        src_dir_fd=source,
                        dst_dir_fd=folder,
                        follow_symlinks=False,
                    )
        return True


def _open_or_make(name: str, parent: int) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno not in {errno.ENOTDIR, errno.ELOOP}:
            raise
        os.unlink(name, dir_fd=parent)
    os.mkdir(name, dir_fd=parent)
    return os.open(name, _FOLDER_FLAGS, dir_fd=parent)
