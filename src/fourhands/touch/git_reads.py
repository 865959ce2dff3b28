"""``git``: subcommands that show a file's lines when they are given its path."""

from __future__ import annotations

import re
from typing import Final

from fourhands.model.text import LineRange
from fourhands.touch.call import Call
from fourhands.touch.flow import OPEN_END, Flow, Piece, renumber, scatter, select
from fourhands.touch.options import Options, parse_options
from fourhands.touch.search import ripgrep

__all__ = ["git"]

_FILE_LIKE: Final = re.compile(r"(?:^|/)[^/.][^/]*\.[A-Za-z]\w*$|^\.{0,2}/")
_SUMMARIES: Final = (
    "stat",
    "name-only",
    "name-status",
    "shortstat",
    "numstat",
    "summary",
    "dirstat",
    "check",
    "s",
)
_LINES: Final = re.compile(r"(\d+)?,(\+?\d+)?")


def git(call: Call) -> Flow:
    """``show``, ``diff``, ``blame``, ``log`` with a patch, and ``grep``, of named paths."""
    top = parse_options(call.args, short="Cc", long="git-dir work-tree namespace", permute=False)
    if not top.operands or top.has("C", "git-dir", "work-tree"):
        return ()
    subcommand, *args = top.operands
    if subcommand == "grep":
        return ripgrep(Call("git grep", tuple(args), call.stdin, call.here, call.shell))
    separator = args.index("--") if "--" in args else len(args)
    options = parse_options(args[:separator], short="LnSGUO", long="format pretty since until author")
    paths = [*args[separator + 1 :], *filter(_FILE_LIKE.search, _without_revisions(options.operands))]
    if options.has(*_SUMMARIES):
        return ()
    flow: Flow = ()
    match subcommand:
        case "show":
            blobs = [word.partition(":")[2] for word in options.operands if ":" in word]
            # A path in a revision counts from the top, wherever the command runs.
            whole = call.shell.files([f":/{path}" for path in blobs if path])
            flow = (*whole, *scatter(call.shell.files(paths)))
        case "diff" | "difftool":
            flow = scatter(call.shell.files(paths))
        case "blame" | "annotate":
            words = paths or options.operands[-1:]
            flow = _ranged(renumber(call.shell.files(words), numbered=True), options.values("L"))
        case "log":
            flow = _log(call, options, paths)
    return flow


def _log(call: Call, options: Options, paths: list[str]) -> Flow:
    flow: list[Flow] = []
    for value in options.values("L"):
        lines, _, path = value.rpartition(":")
        flow.append(_ranged(call.shell.files([path]), [lines]))
    if options.has("p", "u", "patch"):
        flow.append(scatter(call.shell.files(paths)))
    return tuple(piece for part in flow for piece in part)


def _ranged(flow: Flow, texts: list[str]) -> Flow:
    ranges = []
    for text in texts:
        match = _LINES.fullmatch(text)
        if not match:
            return scatter(flow)
        start = int(match[1] or 1)
        end = match[2] or str(OPEN_END)
        ranges.append(LineRange(start, start + int(end) - 1 if end.startswith("+") else int(end)))
    if not ranges:
        return flow
    return tuple(
        out for piece in flow for out in (select((piece,), ranges) if isinstance(piece, Piece) else (piece,))
    )


def _without_revisions(words: list[str]) -> list[str]:
    return [word for word in words if ".." not in word.removeprefix("../") and ":" not in word]
