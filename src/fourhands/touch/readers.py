"""Programs that show lines of files: ``cat``, ``head``, ``tail``, ``nl``, pagers, filters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from fourhands.model.text import LineRange
from fourhands.touch.call import Call, Handler
from fourhands.touch.flow import OPEN_END, Flow, Listing, Piece, last, renumber, scatter, select
from fourhands.touch.options import Options, parse_options

__all__ = ["READERS"]

_DEFAULT_LINES: Final = 10
_ALL: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class _Filter:
    """A program that reads its operands or standard input.

    ``values``: letters of options with a value; ``skipped``: leading operands that are no files (a program, a
    pattern); ``reorders``: its lines are not the input's in order; ``shows``: whether it shows lines at all.
    """

    values: str = ""
    skipped: int = 0
    reorders: bool = False
    shows: bool = True

    def __call__(self, call: Call) -> Flow:
        options = parse_options(call.args, short=self.values)
        flow = renumber(call.inputs(options.operands[self.skipped :]), numbered=False)
        if not self.shows:
            call.shell.read(flow)
            return ()
        return scatter(flow) if self.reorders else flow


def _cat(call: Call) -> Flow:
    options = parse_options(call.args)
    flow = call.inputs(options.operands)
    return renumber(flow, numbered=True) if options.has("n", "number") else flow


def _nl(call: Call) -> Flow:
    options = parse_options(call.args, short="bdfhilnsvw", long="body-numbering")
    # By default empty lines are not counted, so the numbers are not the file's.
    all_lines = (options.value("b", "body-numbering") or "").startswith("a")
    return renumber(call.inputs(options.operands), numbered=all_lines)


def _head(call: Call) -> Flow:
    options = parse_options(call.args, short="nc", long="lines bytes")
    if options.has("c", "bytes"):
        return scatter(call.inputs(options.operands))
    count = options.value("n", "lines", "#") or str(_DEFAULT_LINES)
    if not count.isdigit():
        # All but the last few: to an end nobody knows.
        return call.inputs(options.operands)
    return _each(call, options, lambda flow: select(flow, [LineRange(1, int(count))]))


def _tail(call: Call) -> Flow:
    options = parse_options([*map(_old_style, call.args[:1]), *call.args[1:]], short="nc", long="lines bytes")
    if options.has("c", "bytes"):
        return scatter(call.inputs(options.operands))
    count = options.value("n", "lines", "#") or str(_DEFAULT_LINES)
    number = count.lstrip("+-")
    if not number.isdigit():
        return scatter(call.inputs(options.operands))
    if count.startswith("+"):
        return _each(call, options, lambda flow: select(flow, [LineRange(max(1, int(number)), OPEN_END)]))
    return _each(call, options, lambda flow: last(flow, int(number)))


def _old_style(arg: str) -> str:
    """``tail +5`` is ``tail -n +5``."""
    return f"-n{arg}" if arg.startswith("+") and arg[1:].isdigit() else arg


def _bat(call: Call) -> Flow:
    options = parse_options(call.args, short="rlHm", long="line-range language highlight-line theme style")
    flow = renumber(call.inputs(options.operands), numbered=not options.has("p", "plain"))
    ranges = [_colon_range(value) for value in options.values("r", "line-range")]
    known = [lines for lines in ranges if lines]
    return select(flow, known) if known and len(known) == len(ranges) else flow


def _colon_range(text: str) -> LineRange | None:
    start, colon, end = text.partition(":")
    if not (start or "1").isdigit() or not (end or "1").isdigit():
        return None
    first = int(start or 1)
    return LineRange(first, first if not colon else int(end or OPEN_END))


def _each(call: Call, options: Options, narrow: Callable[[Flow], Flow]) -> Flow:
    """Narrow each file by itself, as programs do that print a header for each."""
    flow = call.inputs(options.operands)
    if not options.operands:
        return narrow(flow)
    found: list[Flow] = []
    for piece in flow:
        if isinstance(piece, Listing):
            found.append((replace(piece, lines=_first_lines(narrow)),))
        else:
            found.append(narrow((piece,)))
    return tuple(piece for part in found for piece in part)


def _first_lines(narrow: Callable[[Flow], Flow]) -> tuple[LineRange, ...] | None:
    shown = narrow((Piece(""),))
    return shown[0].lines if shown else None


READERS: Final[dict[str, Handler]] = {
    "cat": _cat,
    "nl": _nl,
    "head": _head,
    "tail": _tail,
    "bat": _bat,
    "batcat": _bat,
    **dict.fromkeys(("less", "more", "most", "view", "pygmentize", "expand"), _Filter("xOlf")),
    "tee": _Filter(skipped=_ALL),
    **dict.fromkeys(("rev", "cut", "paste", "column", "fold", "fmt"), _Filter("bcdfstnw")),
    "tr": _Filter(skipped=_ALL),
    "sort": _Filter("kotST", reorders=True),
    "uniq": _Filter("fsw", reorders=True),
    "comm": _Filter(reorders=True),
    "join": _Filter("12ejotv", reorders=True),
    "tac": _Filter("s", reorders=True),
    "shuf": _Filter("ino", reorders=True),
    "strings": _Filter("ntefs", reorders=True),
    "jq": _Filter("fL", skipped=1, reorders=True),
    "yq": _Filter(skipped=1, reorders=True),
    **dict.fromkeys(("xxd", "hexdump", "od", "base64"), _Filter("AjNtwclnse", reorders=True)),
    **dict.fromkeys(("cmp", "md5sum", "sha1sum", "sha256sum", "cksum"), _Filter(shows=False)),
    **dict.fromkeys(("diff", "sdiff", "colordiff", "vimdiff"), _Filter("UCWxIFSX", reorders=True)),
}
