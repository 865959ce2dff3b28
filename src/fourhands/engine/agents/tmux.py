"""tmux: what terminus-2 types into. A sandbox without a network cannot bring it in, so it must be there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from fourhands.model.errors import MissingError

__all__ = ["NO_TMUX", "tmux_here"]

NO_TMUX: Final = (
    "terminus-2 types into a tmux, and there is none: apt-get install tmux, on this machine for --env local, else in "
    "the task's image"
)
_SEEN_INSIDE: Final = "/usr/local/bin:/usr/bin:/bin"


def tmux_here(program: Path) -> tuple[Path, ...]:
    """See that this machine has a tmux where the local sandbox sees it; nothing more need be readable.

    Raises:
        MissingError: it has none.
    """
    del program
    if shutil.which("tmux", path=_SEEN_INSIDE) is None:
        raise MissingError(NO_TMUX)
    return ()
