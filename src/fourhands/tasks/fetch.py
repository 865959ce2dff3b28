"""Fetch one released file from the package index that pip is configured for, without running any of it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from fourhands.model.errors import MissingError
from fourhands.tasks import cache

__all__ = ["Distribution", "fetch_distribution"]


class Distribution(BaseModel):
    """One file of one release, pinned by its content."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    package: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    version: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.!+_-]*$")
    filename: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.!+_-]*$")
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


def fetch_distribution(wanted: Distribution) -> Path:
    """The file of ``wanted``, from the cache or from the index.

    Raises:
        MissingError: it could not be fetched, or what came is not what was pinned.
    """

    def build(scratch: Path, _final: Path) -> None:
        requirement = scratch / "requirement"
        requirement.write_text(f"{wanted.package}=={wanted.version} --hash=sha256:{wanted.sha256}\n")
        kind = "--only-binary" if wanted.filename.endswith(".whl") else "--no-binary"
        with as_file(files("fourhands.tasks").joinpath("inside", "pip_download.py")) as program:
            arguments = [
                "download",
                "--quiet",
                "--no-input",
                "--no-deps",
                "--ignore-requires-python",
                kind,
                ":all:",
            ]
            command = [
                sys.executable,
                "-I",
                str(program),
                *arguments,
                "--require-hashes",
                "--dest",
                str(scratch),
            ]
            done = subprocess.run([*command, "-r", str(requirement)], capture_output=True, check=False)
        requirement.unlink()
        got = scratch / wanted.filename
        if done.returncode or not got.is_file():
            said = [
                line
                for line in done.stderr.decode("utf-8", "replace").splitlines()
                if line.startswith("ERROR")
            ]
            raise MissingError(
                f"could not fetch {wanted.filename} with pip: {' '.join(said) or 'no such file came'}. "
                "Check that pip reaches its index (pip config list), then run the command again."
            )
        if hashlib.sha256(got.read_bytes()).hexdigest() != wanted.sha256:
            raise MissingError(f"{wanted.filename} is not the file that was pinned (sha256 {wanted.sha256})")

    return cache.provide("files", wanted.sha256, build) / wanted.filename
