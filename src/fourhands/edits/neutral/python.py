"""Python source as a tree with exact positions, and when two sources mean the same."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from fourhands.model.text import LineRange, split_lines

__all__ = [
    "FIRST_LINE",
    "Function",
    "Holder",
    "PythonSource",
    "identifiers",
    "parse_python",
    "span",
    "substituted",
]

Function = ast.FunctionDef | ast.AsyncFunctionDef
Holder = Function | ast.ClassDef

FIRST_LINE: Final = 3
"""Lines before this one may declare an interpreter or an encoding by their position: they stay as they are."""
_UNICODE: Final = {"utf-8", "utf-8-sig"}
_BARE_RETURN: Final = re.compile(rb"\r(?!\n)")


@dataclass(frozen=True, slots=True)
class PythonSource:
    r"""``lines`` are as git counts them, which is as ``tree`` counts them: other line ends are refused."""

    data: bytes
    lines: list[bytes]
    tree: ast.Module

    def holders(self) -> Iterator[tuple[ast.stmt, Holder | None]]:
        """Every statement, in no order, with the innermost function or class that holds it."""
        pending: list[tuple[ast.AST, Holder | None]] = [(self.tree, None)]
        while pending:
            node, holder = pending.pop()
            if isinstance(node, ast.stmt):
                yield node, holder
            inner = node if isinstance(node, Holder) else holder
            pending += [(child, inner) for child in ast.iter_child_nodes(node)]

    def segment(self, node: ast.expr) -> bytes:
        """The text of an expression on one line."""
        assert node.end_col_offset is not None
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset]


def parse_python(data: bytes) -> PythonSource | None:
    """Parse a file; ``None`` if it is no valid Python of this version, not UTF-8, or has unusual line ends."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        if encoding not in _UNICODE or _BARE_RETURN.search(data):
            return None
        data.decode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return PythonSource(data, split_lines(data), tree)


def span(node: ast.stmt) -> LineRange:
    """The lines of a statement, decorators included."""
    decorators = node.decorator_list if isinstance(node, Holder) else []
    assert node.end_lineno is not None
    return LineRange(min([node.lineno, *(each.lineno for each in decorators)]), node.end_lineno)


def identifiers(node: ast.AST) -> Iterator[str]:
    """Every name below ``node`` that is bound, looked up or declared; not attributes, not keywords of a call."""
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                yield name
            case ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=asname):
                yield asname or name.partition(".")[0]
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name
            case ast.TypeVar(name=name) | ast.ParamSpec(name=name) | ast.TypeVarTuple(name=name):
                yield name


def substituted(tree: ast.Module, renamed: tuple[str, str] | None) -> str:
    """What ``tree`` means, as text without positions; with ``renamed``, the new name read as the old."""
    if renamed is not None:
        old, new = renamed
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == new:
                node.id = old
    return ast.dump(tree)
