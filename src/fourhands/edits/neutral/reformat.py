"""Lay a one-line Python statement out over several lines."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from typing import Final

from fourhands.edits.neutral.candidate import Candidate, Splice
from fourhands.edits.neutral.layout import indent_of, indent_unit, line_ending
from fourhands.edits.neutral.python import FIRST_LINE, PythonSource, span
from fourhands.model.text import LineRange

__all__ = ["reformats"]

_SHORTEST: Final = 16
"""Bytes of an expression: nobody breaks a shorter one."""


def reformats(source: PythonSource) -> Iterator[Candidate]:
    """Every one-line statement whose value can be broken: a call at its arguments, else between parentheses."""
    unit = indent_unit(source.lines)
    for statement, holder in source.holders():
        value = getattr(statement, "value", None)
        number = statement.lineno
        if (
            isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr)
            and value is not None
            and number == statement.end_lineno
            and number >= FIRST_LINE
        ):
            parts = _broken(source, statement, value)
            if parts is not None:
                ending = line_ending(source.lines, number)
                indent = indent_of(source.lines[number - 1])
                inner = [indent + unit + part + ending for part in parts[1:-1]]
                last = indent + parts[-1] + (ending if source.lines[number - 1].endswith(b"\n") else b"")
                where = LineRange(number, number)
                yield Candidate(
                    kind="reformat",
                    splices=(Splice(where, (parts[0] + ending, *inner, last)),),
                    scope=span(holder) if holder else where,
                    did="reformatted a statement",
                    place=holder.name if holder else None,
                )


def _broken(source: PythonSource, statement: ast.stmt, value: ast.expr) -> list[bytes] | None:
    """The statement's new lines without indentation (but the first has it) and endings, or ``None``."""
    line = source.lines[statement.lineno - 1]
    before, segment, after = line[: value.col_offset], source.segment(value), line[value.end_col_offset :]
    # Something else on the line, a comment for tools among it, is about the line as it is.
    if len(segment) < _SHORTEST or after.strip() or line[: statement.col_offset].strip():
        return None
    if isinstance(value, ast.Call):
        call = _arguments(segment.decode())
        if call is not None:
            return [before + call[0], *call[1:-1], call[-1]]
    breakable = isinstance(value, ast.BinOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.Attribute | ast.Call)
    if not breakable or isinstance(statement, ast.Expr):
        return None
    return [before + b"(", segment, b")"]


def _arguments(call: str) -> list[bytes] | None:
    """A call as its head, one argument a line, and the closing bracket.

    ``None`` if it has no arguments, or one whose own commas cannot be told from those between arguments.
    """
    opened: list[int] = []
    cuts: list[int] = []
    for token in tokenize.generate_tokens(io.StringIO(call).readline):
        if len(opened) == 1 and token.string in {"lambda", "for"}:
            return None
        if token.type != tokenize.OP:
            continue
        if token.string in {"(", "[", "{"}:
            if not opened:
                cuts = [token.end[1]]
            opened.append(token.end[1])
        elif token.string in {")", "]", "}"}:
            opened.pop()
        elif token.string == "," and len(opened) == 1:
            cuts.append(token.end[1])
    pieces = [call[start:end].strip() for start, end in zip(cuts, [*cuts[1:], len(call) - 1], strict=True)]
    arguments = [piece for piece in pieces if piece]
    return [part.encode() for part in (call[: cuts[0]], *arguments, ")")] if arguments else None
