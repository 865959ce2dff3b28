"""``awk``: which lines a condition on ``NR`` lets through."""

from __future__ import annotations

import re
from typing import Final

from fourhands.model.text import LineRange
from fourhands.touch.call import Call
from fourhands.touch.flow import OPEN_END, Flow, renumber, scatter, select, union
from fourhands.touch.options import parse_options

__all__ = ["awk"]

_PROGRAM: Final = re.compile(r"\s*(?P<when>[^{}/]*?)\s*(?:\{(?P<what>[^{}]*)\})?\s*", re.DOTALL)
_BOUND: Final = re.compile(r"F?NR\s*(==|>=|<=|>|<)\s*(\d+)")


def awk(call: Call) -> Flow:
    """Exact lines for conjunctions, unions and ranges of comparisons of ``NR``; otherwise unknown ones."""
    options = parse_options(call.args, short="Ffv", long="field-separator file assign", permute=False)
    operands = options.operands
    program = ""
    if not options.has("f", "file"):
        program, operands = (operands[0] if operands else ""), operands[1:]
    flow = call.inputs([word for word in operands if "=" not in word])
    match = _PROGRAM.fullmatch(program)
    wanted = _positions(match["when"]) if match and program else None
    numbered = bool(match and match["what"] and re.search(r"\bF?NR\b.*\$0", match["what"], re.DOTALL))
    chosen = scatter(flow) if wanted is None else select(flow, wanted)
    return renumber(chosen, numbered=numbered)


def _positions(condition: str) -> list[LineRange] | None:
    if not condition:
        return [LineRange(1, OPEN_END)]
    edges = condition.split(",")
    if len(edges) > 1:
        found = [_conjunction(edge) for edge in edges]
        first, last = found[0], found[-1]
        is_range = len(found) == 2 and first and last and first.start == first.end and last.start == last.end  # noqa: PLR2004
        return [LineRange(first.start, max(first.start, last.start))] if is_range and first and last else None
    ranges = [_conjunction(part) for part in condition.split("||")]
    return None if None in ranges else union(r for r in ranges if r and len(r))


def _conjunction(condition: str) -> LineRange | None:
    start, end = 1, OPEN_END
    for part in condition.split("&&"):
        match = _BOUND.fullmatch(part.strip().removeprefix("(").removesuffix(")").strip())
        if not match:
            return None
        number = int(match[2])
        match match[1]:
            case "==":
                start, end = max(start, number), min(end, number)
            case ">=":
                start = max(start, number)
            case ">":
                start = max(start, number + 1)
            case "<=":
                end = min(end, number)
            case _:
                end = min(end, number - 1)
    return LineRange(start, end)
