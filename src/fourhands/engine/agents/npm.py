"""Agents from npm: installed once from a pinned lock, with the Node.js that runs them, and bound read-only.

A lock is a ``package-lock.json`` with the ``package.json`` it was made from beside it. It names no registry: the
machine's npm knows which one it uses, and the hashes in the lock tell whether it brought the right bytes.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from fourhands.model.errors import InputError, MissingError
from fourhands.tasks.cache import content_key, provide

__all__ = ["CPU", "MODULES", "node_prefix", "npm_packages", "npm_prefix"]

MODULES: Final = "node_modules"
"""Where packages lie in a prefix."""
CPU: Final = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
"""This machine's processor, as npm names it."""
_BUILDER: Final = "npm 1"
_NODE_LOCK: Final = Path(__file__).parent / "locks" / "node" / "package-lock.json"
_OPTIONS: Final = ("--ignore-scripts", "--engine-strict", "--omit=dev", "--no-audit", "--no-fund")
_SHOWN_LINES: Final = 8
_QUIET: Final = ("--no-update-notifier", "--loglevel=error", "--no-progress")


def npm_packages(lock: Path) -> tuple[Path, Path]:
    """What must be readable for an agent of ``lock`` to run: its own prefix, and that of Node.js.

    A package's program is started as ``NODE/bin/node PREFIX/node_modules/PACKAGE/ENTRY``, or by its own binary.

    Raises:
        InputError: the lock does not fit its ``package.json``, or has nothing for this machine.
        MissingError: npm is not installed, or does not reach its registry.
    """
    return npm_prefix(lock), node_prefix()


def npm_prefix(lock: Path) -> Path:
    """The folder whose ``node_modules`` holds what ``lock`` pins, installed on first use.

    No install script is run: one may fetch from anywhere.

    Raises:
        InputError: as `npm_packages`.
        MissingError: as `npm_packages`.
    """
    node = node_prefix()
    return provide("npm", _key(lock), lambda scratch, _: _install(lock, scratch, path=f"{node}/bin"))


def node_prefix() -> Path:
    """The Node.js that agents run on: ``bin/node`` in it. It comes from npm, whichever npm's own Node.js is.

    Raises:
        InputError: there is none for this machine.
        MissingError: as `npm_packages`.
    """

    def build(scratch: Path, final: Path) -> None:
        del final
        package = f"node-linux-{CPU}"
        if f"{MODULES}/{package}" not in _pinned(_NODE_LOCK):
            raise InputError(f"{_NODE_LOCK} pins no Node.js for {CPU}: agents from npm cannot run here")
        _install(_NODE_LOCK, scratch)
        # Links must hold once the folder has its final name.
        (scratch / "bin").symlink_to(f"{MODULES}/{package}/bin")

    return provide("npm", _key(_NODE_LOCK), build)


def _key(lock: Path) -> str:
    return content_key(_BUILDER, lock.read_bytes(), lock.with_name("package.json").read_bytes(), CPU)


def _install(lock: Path, prefix: Path, path: str = "") -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise MissingError(
            f"{lock}: npm is needed to install it, and is not on the PATH. Install it: on Debian apt install npm"
        )
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(lock.with_name(name), prefix / name)
    # A cache of its own: packages of hundreds of megabytes need not lie in npm's as well.
    cache = prefix / ".npm"
    done = subprocess.run(
        [npm, "ci", *_OPTIONS, *_QUIET, "--cache", str(cache)],
        cwd=prefix,
        # npm, too, then runs on our Node.js, and holds what it installs against that one's version.
        env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    said = _errors(done.stderr.decode("utf-8", "replace"))
    if done.returncode and "EUSAGE" in said:
        raise InputError(f"{lock} does not fit the package.json beside it: run make lock. npm says: {said}")
    if done.returncode:
        raise MissingError(
            f"{lock}: its packages could not be installed: {said}. Check that npm reaches its registry "
            "(npm config get registry; npm ping), then run the command again."
        )
    _check_whole(lock, prefix)
    shutil.rmtree(cache)


def _errors(stderr: str) -> str:
    """What npm says went wrong: not where in npm it did, nor in which log of the folder that is gone by then."""
    lines = [
        line.removeprefix("npm error").strip() for line in stderr.splitlines() if line.startswith("npm error")
    ]
    kept = [line for line in lines if line and not line.startswith(("at ", "A complete log"))]
    return " ".join(kept[:_SHOWN_LINES]) or stderr.strip()


def _check_whole(lock: Path, prefix: Path) -> None:
    """An optional package is left out in silence when it cannot be fetched; here agents' programs are such."""
    left_out = [
        name
        for name, pin in _pinned(lock).items()
        if name and _fits(pin) and not pin.get("dev") and not (prefix / name / "package.json").is_file()
    ]
    if left_out:
        raise MissingError(
            f"{lock}: npm left out {', '.join(left_out)}: its registry did not bring it. Check that npm reaches its "
            "registry (npm config get registry; npm ping), then run the command again."
        )


def _pinned(lock: Path) -> Mapping[str, Mapping[str, Any]]:
    packages: Mapping[str, Mapping[str, Any]] = json.loads(lock.read_bytes())["packages"]
    return packages


def _fits(pin: Mapping[str, Any]) -> bool:
    """Whether a package is for this machine. What says nothing is for all."""
    here = {"os": "linux", "cpu": CPU, "libc": "glibc"}
    return all(_admits(pin.get(field), value) for field, value in here.items())


def _admits(listed: str | list[str] | None, value: str) -> bool:
    """Read npm's lists: names that are admitted, or names with ``!`` that are not."""
    names = [listed] if isinstance(listed, str) else listed or []
    admitted = [name for name in names if not name.startswith("!")]
    return f"!{value}" not in names and (not admitted or value in admitted or "any" in admitted)
