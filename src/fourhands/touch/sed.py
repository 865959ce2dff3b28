"""``sed``: which lines a script prints."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from fourhands.model.text import LineRange
from fourhands.touch.call import Call
from fourhands.touch.flow import OPEN_END, WHOLE, Flow, Listing, Piece, renumber, scatter, select, union
from fourhands.touch.options import parse_options
from fourhands.touch.words import is_known

__all__ = ["sed"]

_ADDRESS: Final = re.compile(r"\s*(?P<start>\d+|\$)?\s*(?:,\s*(?P<end>\$|\+?\d+))?\s*(?P<not>!)?\s*")
_PRINT: Final = re.compile(r"p|=|\{\s*(?:(?:p|=)\s*;?\s*)+\}")


def sed(call: Call) -> Flow:
    """With numeric addresses the exact lines, otherwise unknown ones. In place it shows nothing."""
    options = parse_options(call.args, short="efl", long="expression file line-length", optional="i")
    scripts, operands = options.values("e", "expression"), options.operands
    if not scripts and not options.has("f", "file"):
        scripts, operands = operands[:1], operands[1:]
    if options.has("i", "in-place"):
        call.shell.read(call.stdin)
        return ()
    flow = call.inputs(operands)
    if options.has("f", "file") or not all(map(is_known, scripts)):
        return scatter(flow)
    quiet = options.has("n", "quiet", "silent")
    script = ";".join(scripts)
    if any(isinstance(piece, Listing) for piece in flow):
        return flow
    if options.has("s", "separate"):
        return tuple(out for piece in flow for out in _apply((piece,), script, quiet=quiet))
    return _apply(flow, script, quiet=quiet)


def _apply(flow: Flow, script: str, *, quiet: bool) -> Flow:
    wanted = _printed(script) if quiet else _left(script)
    if wanted is None:
        return scatter(flow) if quiet else renumber(flow, numbered=False)
    if not wanted:
        return scatter(flow)
    chosen = select(flow, wanted)
    # "$p" alone: the position is that of a last line nobody knows.
    return tuple(_without_end_only(piece) for piece in chosen)


def _without_end_only(piece: Piece | Listing) -> Piece | Listing:
    if isinstance(piece, Piece) and piece.lines[-1].start == OPEN_END:
        return replace(piece, lines=WHOLE, exact=False)
    return piece


def _printed(script: str) -> list[LineRange] | None:
    """Positions that a script under ``-n`` prints; ``None`` if it is not made of numbers alone."""
    wanted: list[LineRange] = []
    stop = OPEN_END
    for command in _commands(script):
        match = _ADDRESS.match(command)
        assert match
        action = command[match.end() :].strip()
        lines = _lines(match)
        if lines is None or match["not"]:
            return None
        if action == "q":
            stop = min(stop, lines.start)
        elif _PRINT.fullmatch(action):
            wanted.append(lines)
        else:
            return None
    return union(LineRange(r.start, min(r.end, stop)) for r in wanted if r.start <= stop)


def _left(script: str) -> list[LineRange] | None:
    """Positions that a script without ``-n`` leaves: ``Nq`` and ``N,Md``; ``None`` for any other script."""
    match = _ADDRESS.match(script)
    assert match
    lines, action = _lines(match), script[match.end() :].strip()
    if lines is None or match["not"] or match["start"] is None:
        return None
    if action == "q":
        return [LineRange(1, lines.start)]
    if action == "d":
        around = [LineRange(1, lines.start - 1), LineRange(lines.end + 1, OPEN_END)]
        return [r for r in around if len(r)]
    return None


def _lines(match: re.Match[str]) -> LineRange | None:
    start, end = match["start"], match["end"]
    if start is None:
        return LineRange(1, OPEN_END) if end is None else None
    first = OPEN_END if start == "$" else int(start)
    if end is None:
        return LineRange(first, first)
    if end == "$":
        return LineRange(first, OPEN_END)
    last = first + int(end) if end.startswith("+") else int(end)
    return LineRange(first, max(first, last))


def _commands(script: str) -> list[str]:
    """The commands, split outside braces."""
    parts = re.findall(r"[^;\n{}]+(?:\{[^{}]*\})?", script)
    return [part for part in parts if part.strip()]
