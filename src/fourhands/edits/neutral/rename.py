"""Rename a local variable of a Python function that nobody outside the function can know of."""

from __future__ import annotations

import ast
import io
import keyword
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from fourhands.edits.neutral.candidate import Candidate, Splice
from fourhands.edits.neutral.python import FIRST_LINE, Function, PythonSource, identifiers, span
from fourhands.model.text import LineRange

__all__ = ["is_private", "renames"]

_FRAME_READERS: Final = frozenset({
    *("locals", "vars", "eval", "exec", "dir"),
    *("_getframe", "currentframe", "stack", "f_locals", "f_back", "tb_frame", "co_varnames"),
})  # fmt: skip
"""Names by which code gets at variables through their names."""
_SUFFIXES: Final = ("value", "local")
_WORD: Final = re.compile(r"\w+")
_Scope = Function | ast.Lambda | ast.ClassDef


def renames(source: PythonSource) -> Iterator[Candidate]:
    """Every local variable that can be renamed, with one new name each that the file does not have."""
    words = set(_WORD.findall(source.data.decode("utf-8")))
    comments = _comment_words(source)
    for function in ast.walk(source.tree):
        if isinstance(function, Function) and is_private(function):
            lines = span(function)
            said = set().union(*(comments[number] for number in range(lines.start, lines.end + 1)))
            for name, nodes in _variables(function).items():
                new = next((n for suffix in _SUFFIXES if (n := f"{name}_{suffix}") not in words), None)
                if name not in said and new is not None:
                    candidate = _renamed(source, function, nodes, name, new)
                    if candidate is not None:
                        yield candidate


def is_private(function: ast.AST) -> bool:
    """Whether the names of a function's variables cannot be read by the code that it holds."""
    names = {each.attr for each in ast.walk(function) if isinstance(each, ast.Attribute)}
    return _FRAME_READERS.isdisjoint(names | set(identifiers(function)))


def _variables(function: Function) -> dict[str, list[ast.Name]]:
    """The function's own variables by name, with every place where each stands, also in functions inside it."""
    found: dict[str, list[ast.Name]] = defaultdict(list)
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                found[node.id].append(node)
    refused = _otherwise_bound(function) | _words_of_strings(function)
    return {
        name: nodes
        for name, nodes in found.items()
        if name not in refused
        and not name.startswith("_")
        and not keyword.issoftkeyword(name)
        and {type(node.ctx) for node in nodes} >= {ast.Store, ast.Load}
    }


def _otherwise_bound(function: Function) -> set[str]:
    """Names that are, anywhere in the function, not only plain variables of the function itself.

    Parameters can be passed by name; an import, a function or a class has its name from elsewhere; a name that a
    scope inside binds anew, a comprehension's too, stands for two variables; an annotation may be kept as text.
    """
    outer = Counter(identifiers(function))
    plain = Counter(node.id for node in ast.walk(function) if isinstance(node, ast.Name))
    refused = {name for name, times in outer.items() if times > plain[name]}
    for node in ast.walk(function):
        if isinstance(node, ast.comprehension):
            refused |= _stored(node.target)
        elif isinstance(node, _Scope) and node is not function:
            refused |= _stored(node)
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.expr):
                refused |= set(identifiers(annotation))
    # Defaults, decorators and annotations of the function itself belong to the scope around it.
    body = Counter(n.id for s in function.body for n in ast.walk(s) if isinstance(n, ast.Name))
    return refused | {name for name, times in plain.items() if times > body[name]}


def _stored(node: ast.AST) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    }


def _words_of_strings(function: Function) -> set[str]:
    """Words of its strings but the docstring: ``f"{name=}"`` shows a name, a query language may look it up."""
    docstring = function.body[0].value if isinstance(function.body[0], ast.Expr) else None
    strings = (
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node is not docstring
    )
    return {word for text in strings for word in _WORD.findall(text)}


def _comment_words(source: PythonSource) -> dict[int, set[str]]:
    """The words of comments by line: a comment that speaks of a variable must stay true."""
    words: dict[int, set[str]] = defaultdict(set)
    for token in tokenize.tokenize(io.BytesIO(source.data).readline):
        if token.type == tokenize.COMMENT:
            words[token.start[0]] |= set(_WORD.findall(token.string))
    return words


def _renamed(
    source: PythonSource, function: Function, nodes: Sequence[ast.Name], name: str, new: str
) -> Candidate | None:
    # An identifier may be written in another form than its normal one: such a one is left alone.
    if any(source.segment(node) != name.encode() for node in nodes):
        return None
    places: dict[int, list[int]] = defaultdict(list)
    for node in nodes:
        places[node.lineno].append(node.col_offset)
    if min(places) < FIRST_LINE:
        return None
    splices = []
    for number in sorted(places):
        line = source.lines[number - 1]
        for column in sorted(places[number], reverse=True):
            line = line[:column] + new.encode() + line[column + len(name.encode()) :]
        splices.append(Splice(LineRange(number, number), (line,)))
    return Candidate(
        kind="rename",
        splices=tuple(splices),
        scope=span(function),
        did=f"renamed the local variable {name} to {new}",
        place=function.name,
        renamed=(name, new),
    )
