"""What is known of a language: which neutral edits a file can have, and when two contents mean the same."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from fourhands.edits.neutral.braces import BRACES, Braces
from fourhands.edits.neutral.candidate import Candidate
from fourhands.edits.neutral.comment import comments
from fourhands.edits.neutral.plain import brace_comments, shell_comments, toml_comments
from fourhands.edits.neutral.python import Function, identifiers, parse_python, substituted
from fourhands.edits.neutral.reformat import reformats
from fourhands.edits.neutral.rename import is_private, renames
from fourhands.touch.shell import parse as parse_shell

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["Language", "language_of"]


@dataclass(frozen=True, slots=True)
class Language:
    """``candidates`` of a content that is UTF-8.

    ``alike(before, after, renamed)``: whether ``after`` is proven to mean what ``before`` means, once the new name of
    ``renamed`` is read as the old one. Wrong for a content that is not valid in the language.
    """

    candidates: Callable[[bytes], Iterator[Candidate]]
    alike: Callable[[bytes, bytes, tuple[str, str] | None], bool]


def language_of(path: str) -> Language | None:
    """The language of a file, by its suffix; ``None`` where no neutral edit is known for it."""
    suffix = PurePosixPath(path).suffix
    if suffix in BRACES:
        braces = BRACES[suffix]
        return Language(partial(brace_comments, language=braces), partial(_alike_braces, braces))
    return _LANGUAGES.get(suffix)


def _python_candidates(data: bytes) -> Iterator[Candidate]:
    source = parse_python(data)
    if source is not None:
        yield from renames(source)
        yield from reformats(source)
        yield from comments(source)


def _alike_python(before: bytes, after: bytes, renamed: tuple[str, str] | None) -> bool:
    one, other = parse_python(before), parse_python(after)
    if one is None or other is None:
        return False
    if renamed is not None:
        is_new = renamed[1] not in re.findall(r"\w+", before.decode("utf-8"))
        if not is_new or not _is_complete(other.tree, renamed):
            return False
    return substituted(one.tree, None) == substituted(other.tree, renamed)


def _is_complete(tree: ast.Module, renamed: tuple[str, str]) -> bool:
    """Whether each function that has the new name has the old one nowhere, and still keeps its names to itself."""
    old, new = renamed
    outermost = [node for node in _outermost_functions(tree) if new in set(identifiers(node))]
    return all(_within(node, old, new) for node in outermost) and bool(outermost)


def _within(function: Function, old: str, new: str) -> bool:
    """The innermost functions that hold every use of the new name must be free of the old one."""
    inner = [each for each in _outermost_functions(function) if new in set(identifiers(each))]
    names = list(identifiers(function))
    if len(inner) == 1 and names.count(new) == list(identifiers(inner[0])).count(new):
        return _within(inner[0], old, new)
    return old not in names and is_private(function)


def _outermost_functions(tree: ast.AST) -> Iterator[Function]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, Function):
            yield child
        else:
            yield from _outermost_functions(child)


def _alike_braces(language: Braces, before: bytes, after: bytes, renamed: tuple[str, str] | None) -> bool:
    return renamed is None and language.code(before.decode()) == language.code(after.decode())


def _alike_toml(before: bytes, after: bytes, renamed: tuple[str, str] | None) -> bool:
    try:
        return renamed is None and tomllib.loads(before.decode()) == tomllib.loads(after.decode())
    except tomllib.TOMLDecodeError:
        return False


def _alike_shell(before: bytes, after: bytes, renamed: tuple[str, str] | None) -> bool:
    one, other = (parse_shell(data.decode()) for data in (before, after))
    return renamed is None and one is not None and other is not None and _meaning(one) == _meaning(other)


def _meaning(node: Node) -> object:
    """A syntax tree without comments and positions."""
    if not node.children:
        return node.type, node.text
    return node.type, [_meaning(child) for child in node.children if child.type != "comment"]


_SHELL: Final = Language(shell_comments, _alike_shell)
_LANGUAGES: Final = {
    ".py": Language(_python_candidates, _alike_python),
    ".sh": _SHELL,
    ".bash": _SHELL,
    ".toml": Language(toml_comments, _alike_toml),
}
