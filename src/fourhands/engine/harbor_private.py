"""All we use of Harbor that is not its public interface, in one place: look here when Harbor moves."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import rich
from harbor.job import Job

__all__ = ["quiet_console", "silence"]


def silence(job: Job) -> None:
    """Keep a job's log out of our terminal; it still goes to the job's file."""
    handler: logging.Handler | None = job._console_handler  # noqa: SLF001
    if handler is not None:
        handler.setLevel(logging.CRITICAL + 1)


@contextmanager
def quiet_console() -> Iterator[None]:
    """Keep Harbor's progress display, which goes to rich's shared console, out of our terminal."""
    rich.reconfigure(quiet=True)
    try:
        yield
    finally:
        rich.reconfigure(quiet=False)
