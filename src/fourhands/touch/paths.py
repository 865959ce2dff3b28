"""Where in the repository a path points that an agent has written down."""

from __future__ import annotations

import posixpath
from typing import Final

from fourhands.model.sandbox import WORKDIR

__all__ = ["looks_like_file", "relative_path"]

_LONGEST_SUFFIX: Final = 5


def relative_path(path: str, cwd: str | None = WORKDIR, workdir: str = WORKDIR) -> str | None:
    """``path`` relative to the repository ``workdir``, ``""`` for the repository itself.

    ``None`` when it lies outside (as home, ``~``, does), or when ``cwd``, the absolute folder that it is relative
    to, is unknown.
    """
    if not path or path.startswith("~") or "\0" in path or (cwd is None and not path.startswith("/")):
        return None
    # POSIX keeps two slashes at the start apart from one; no agent means anything by it.
    full = "/" + posixpath.normpath(posixpath.join(cwd or "/", path)).lstrip("/")
    if full == workdir:
        return ""
    return full.removeprefix(f"{workdir}/") if full.startswith(f"{workdir}/") else None


def looks_like_file(path: str) -> bool:
    """Whether the last part of ``path`` has a suffix as source files have: ``a/b.py``, not ``a/b`` or ``.git``."""
    stem, _, suffix = posixpath.basename(path).rpartition(".")
    is_suffix = 0 < len(suffix) <= _LONGEST_SUFFIX and suffix.isalnum() and suffix[0].isalpha()
    return is_suffix and bool(stem.strip("."))
