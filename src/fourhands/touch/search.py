"""``grep`` and its kin: files named on the command line, or by the output."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from fourhands.touch.call import Call
from fourhands.touch.flow import Flow, Listing, Piece
from fourhands.touch.options import Options, parse_options

__all__ = ["grep", "ripgrep"]

_FILE: Final = re.compile(r"[^/.]\.[A-Za-z]\w{0,4}$")
_GREP_VALUES: Final = "efmABCdD"
_GREP_LONG: Final = (
    "regexp file max-count after-context before-context context include exclude exclude-dir exclude-from"
    " binary-files devices directories label color colour"
)
_SHOWS_NO_CODE: Final = (
    "c",
    "count",
    "l",
    "files-with-matches",
    "L",
    "files-without-match",
    "q",
    "quiet",
    "silent",
)
"""With these a search names or counts files: whoever runs it has not read a line of them."""
_RG_VALUES: Final = "efmABCgtTjMrEd"
_RG_LONG: Final = (
    "regexp file max-count after-context before-context context glob iglob type type-not threads max-columns"
    " replace encoding max-depth sort sortr color colors engine max-filesize path-separator pre"
)


def grep(call: Call) -> Flow:
    """``grep``, ``egrep``, ``fgrep``, ``zgrep``: recursive only on request."""
    options = parse_options(call.args, short=_GREP_VALUES, long=_GREP_LONG)
    recursive = options.has("r", "R", "recursive", "dereference-recursive") or "recurse" in options.values(
        "d"
    )
    return _search(call, options, recursive=recursive, numbered=options.has("n", "line-number"))


def ripgrep(call: Call) -> Flow:
    """``rg``, ``ag``, ``git grep``: recursive by nature; numbers only on request when not at a terminal."""
    options = parse_options(call.args, short=_RG_VALUES, long=_RG_LONG)
    if options.has("files"):
        return ()
    return _search(call, options, recursive=True, numbered=options.has("n", "line-number", "vimgrep"))


def _search(call: Call, options: Options, *, recursive: bool, numbered: bool) -> Flow:
    operands = options.operands
    if not options.has("e", "f", "regexp", "file"):
        operands = operands[1:]
    if options.has(*_SHOWS_NO_CODE):
        return ()
    if not operands and (call.stdin or not recursive):
        found = call.stdin
    elif recursive:
        found = _below(call, operands or ["."])
    else:
        found = call.inputs(operands)
    return tuple(
        replace(piece, exact=False, numbered=numbered or piece.numbered)
        if isinstance(piece, Piece)
        else piece
        for piece in found
    )


def _below(call: Call, operands: list[str]) -> Flow:
    """An operand that looks like a file is one; what else there is below, only the output tells."""
    flow: list[Piece | Listing] = []
    for word in operands:
        if _FILE.search(word):
            flow += call.shell.files([word])
        elif (root := call.shell.path(word)) is not None:
            flow.append(Listing((root,)))
    return tuple(flow)
