"""Errors a user can act on.

``FourhandsError`` — the message names what is wrong, where, and the remedy; the command line prints it bare
├─ ``InputError`` — a file, field or option given to us is wrong
├─ ``MissingError`` — something must be fetched or installed first; the message holds the command
└─ ``SandboxError`` — a sandbox could not start, or is gone
"""

from __future__ import annotations

__all__ = ["FourhandsError", "InputError", "MissingError", "SandboxError"]


class FourhandsError(Exception):
    """Base of all errors whose message is meant for the person at the command line."""


class InputError(FourhandsError):
    """A file, a field or an option is wrong; the message names it and says what would be right."""


class MissingError(FourhandsError):
    """Something is not there yet; the message holds the command that gets it."""


class SandboxError(FourhandsError):
    """A sandbox could not start, or is gone."""
