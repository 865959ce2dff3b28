"""Put a true comment above a Python statement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from fourhands.edits.neutral.candidate import Candidate, Splice
from fourhands.edits.neutral.layout import indent_of, line_ending
from fourhands.edits.neutral.python import FIRST_LINE, Holder, PythonSource, span
from fourhands.model.text import LineRange

__all__ = ["comments"]

_LONGEST: Final = 40
"""Characters of an expression that a comment may repeat."""
_NAMES: Final = 3


def comments(source: PythonSource) -> Iterator[Candidate]:
    """A comment above every statement that starts a line and can be described in plain words."""
    for statement, holder in source.holders():
        number = span(statement).start
        line = source.lines[number - 1]
        text = _described(statement)
        indent = indent_of(line)
        # Also not above an ``elif``, which the tree has for a statement, nor within a line.
        if text is None or number < FIRST_LINE or line.startswith(b"elif", len(indent)):
            continue
        if not isinstance(statement, Holder) and statement.col_offset != len(indent):
            continue
        comment = indent + b"# " + text.encode() + line_ending(source.lines, number)
        yield Candidate(
            kind="comment",
            splices=(Splice(LineRange(number, number - 1), (comment,)),),
            scope=span(holder) if holder else LineRange(number, number),
            did="added a comment",
            place=holder.name if holder else None,
        )


def _described(statement: ast.stmt) -> str | None:
    match statement:
        case ast.Assign(targets=[target]) | ast.AnnAssign(target=target, value=ast.expr()):
            return _about("Set", target)
        case ast.AugAssign(target=target):
            return _about("Update", target)
        case ast.Raise(exc=ast.Call(func=error)) | ast.Raise(exc=ast.Name() as error):
            return _about("Raise", error)
        case ast.For(iter=items) | ast.AsyncFor(iter=items):
            return _about("Go through", items)
        case ast.Expr(value=ast.Call(func=called)) | ast.Expr(value=ast.Await(value=ast.Call(func=called))):
            return _about("Call", called)
        case _:
            return _described_by_its_form(statement)


def _described_by_its_form(statement: ast.stmt) -> str | None:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return f"Define {name}."
        case ast.If(test=test):
            names = list(dict.fromkeys(node.id for node in ast.walk(test) if isinstance(node, ast.Name)))
            return f"What follows depends on {' and '.join(names)}." if 0 < len(names) <= _NAMES else None
        case ast.Return(value=None):
            return "Nothing more to do here."
        case ast.Return():
            return "This is the result."
        case ast.While():
            return "Repeat as long as the condition holds."
        case _:
            return None


def _about(verb: str, node: ast.expr) -> str | None:
    if not isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call):
        return None
    text = ast.unparse(node)
    return f"{verb} {text}." if len(text) <= _LONGEST and "\n" not in text else None
