"""System calls that Python does not wrap, and what a process does to be neither seen nor touched inside."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

__all__ = [
    "become_subreaper",
    "die_with_parent",
    "drop_privileges",
    "hide",
    "join_new_keyring",
    "refuse_signals",
    "restore_signals",
    "shield",
]

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NAME = 15
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_KEYCTL = 250 if os.uname().machine == "x86_64" else 219
_KEYCTL_JOIN_SESSION_KEYRING = 1
_LINUX_CAPABILITY_VERSION_3 = 0x20080522
_ARG_START, _ARG_END = 45, 46  # fields of /proc/PID/stat, counted after the closing parenthesis
_ALL_SIGNALS = signal.valid_signals()
_HANDLED_BY_PYTHON = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)
_NEUTRAL_NAME = ctypes.create_string_buffer(b"exec")


_LAST_CAPABILITY = int(Path("/proc/sys/kernel/cap_last_cap").read_text(encoding="ascii"))
_LIBC.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]


def _check(status: int, name: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _prctl(option: int, value: int) -> None:
    _check(_LIBC.prctl(option, value, 0, 0, 0), f"prctl({option})")


def become_subreaper() -> None:
    """Adopt orphans below this process, so that none of them leaves its tree."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Be killed when the thread that forked this process ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def drop_privileges() -> None:
    """Give up every capability, for good."""
    for capability in range(_LAST_CAPABILITY + 1):
        _prctl(_PR_CAPBSET_DROP, capability)
    header, nothing = (ctypes.c_uint32 * 2)(_LINUX_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)()
    _check(_LIBC.capset(header, nothing), "capset")
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def join_new_keyring() -> None:
    """Leave the session's keyring, which no namespace keeps apart, for an empty one of its own.

    It holds the host's keys, and what one sandbox puts there every other can read. Where the call is forbidden it
    is forbidden inside as well; a user who is out of quota keeps the keyring that the server has joined.
    """
    _LIBC.syscall(_KEYCTL, _KEYCTL_JOIN_SESSION_KEYRING, None)


def hide() -> None:
    """Leave nothing in ``/proc`` to read: no arguments, a neutral name, and no one may look at memory or files.

    What is forked from here inherits all of it until it executes another program.
    """
    fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
    start, end = int(fields[_ARG_START]), int(fields[_ARG_END])
    ctypes.memset(start, 0, end - start)
    _prctl(_PR_SET_NAME, ctypes.addressof(_NEUTRAL_NAME))
    shield()


def shield() -> None:
    """Forbid ptrace and the private parts of ``/proc/PID``; a change of credentials may have allowed them."""
    _prctl(_PR_SET_DUMPABLE, 0)


def refuse_signals() -> None:
    """Block every signal that can be: nothing but SIGKILL ends this process from inside."""
    signal.pthread_sigmask(signal.SIG_SETMASK, _ALL_SIGNALS)


def restore_signals() -> None:
    """Undo what Python and ``refuse_signals`` did, for a program that expects the defaults."""
    for number in _HANDLED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
