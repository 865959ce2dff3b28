"""Words of a shell command as the program would get them, as far as the text alone tells.

A word is a ``str``. One that the text does not tell (a substitution, an unset variable) is ``UNKNOWN``; one with
an unquoted wildcard is ``GLOB`` and the pattern. Both start with NUL, which no argument can hold.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

__all__ = ["GLOB", "UNKNOWN", "expand", "is_known", "text_of"]

UNKNOWN: Final = "\0?"
GLOB: Final = "\0*"
_WILD: Final = re.compile(r"[*?\[]")
_BRACES: Final = re.compile(r"\{([^{}\s]*,[^{}\s]*)\}")
_ESCAPED: Final = re.compile(r"\\(\n|.)", re.DOTALL)
_ESCAPED_IN_QUOTES: Final = re.compile(r'\\([\n"\\$`])')
_MOST_WORDS: Final = 64

_Part = tuple[str, bool]
"""Text, and whether it was quoted (so that its wildcards and braces mean themselves)."""


def expand(node: Node, variables: Mapping[str, str]) -> list[str]:
    """The words that one argument becomes; braces may make several of it."""
    parts = _parts(node, variables)
    if parts is None:
        return [UNKNOWN]
    return [_join(alternative) for alternative in _unbrace(parts)]


def is_known(word: str) -> bool:
    """Whether the text tells the word."""
    return not word.startswith("\0")


def text_of(node: Node | None) -> str:
    """The source text of a node; undecodable bytes as surrogate escapes."""
    return node.text.decode("utf-8", "surrogateescape") if node is not None and node.text else ""


def _parts(node: Node, variables: Mapping[str, str]) -> list[_Part] | None:
    text = text_of(node)
    parts: list[_Part] | None = None
    match node.type:
        case "word" | "number" | "variable_name" | "extglob_pattern" | "brace_expression" | "test_operator":
            parts = _unescape(text)
        case "raw_string":
            parts = [(text[1:-1], True)]
        case "ansi_c_string":
            parts = _ansi_c(text[2:-1])
        case "string" | "translated_string":
            parts = _string(node, variables)
        case "concatenation" | "command_name":
            found = [_parts(child, variables) for child in node.children]
            parts = None if None in found else [part for some in found if some for part in some]
        case "simple_expansion" | "expansion":
            value = variables.get(text.strip("${}"))
            parts = None if value is None else [(value, False)]
        case _ if not node.is_named:
            # Anonymous tokens inside a concatenation stand for themselves.
            parts = [(text, False)]
    return parts


def _string(node: Node, variables: Mapping[str, str]) -> list[_Part] | None:
    parts: list[str] = []
    end = node.start_byte + 1
    source = node.text or b""
    for child in node.children[1:-1]:
        # White space beside an expansion is in no child.
        parts.append(
            source[end - node.start_byte : child.start_byte - node.start_byte].decode("utf-8", "replace")
        )
        end = child.end_byte
        if child.type == "string_content":
            parts.append(_ESCAPED_IN_QUOTES.sub(lambda m: "" if m[1] == "\n" else m[1], text_of(child)))
            continue
        inner = _parts(child, variables)
        if inner is None:
            return None
        parts += [text for text, _ in inner]
    if not node.children[1:-1]:
        parts.append(text_of(node)[1:-1])
    return [("".join(parts), True)]


def _unescape(text: str) -> list[_Part]:
    parts: list[_Part] = []
    at = 0
    for match in _ESCAPED.finditer(text):
        parts += [(text[at : match.start()], False), ("" if match[1] == "\n" else match[1], True)]
        at = match.end()
    return [*parts, (text[at:], False)]


def _ansi_c(text: str) -> list[_Part] | None:
    try:
        return [(codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape"), True)]
    except UnicodeDecodeError:
        return None


def _unbrace(parts: list[_Part]) -> list[list[_Part]]:
    done: list[list[_Part]] = []
    pending = [_adjoin(parts)]
    while pending and len(done) < _MOST_WORDS:
        current = pending.pop()
        for number, (text, quoted) in enumerate(current):
            match = None if quoted else _BRACES.search(text)
            if match:
                before, after = text[: match.start()], text[match.end() :]
                pending += [
                    [*current[:number], (before + choice + after, False), *current[number + 1 :]]
                    for choice in reversed(match[1].split(","))
                ]
                break
        else:
            done.append(current)
    return done


def _adjoin(parts: list[_Part]) -> list[_Part]:
    """Neighbours of one kind as one part: the grammar cuts words at braces."""
    groups = groupby(parts, key=itemgetter(1))
    return [("".join(text for text, _ in group), quoted) for quoted, group in groups]


def _join(parts: list[_Part]) -> str:
    text = "".join(part for part, _ in parts)
    if "\0" in text:
        return UNKNOWN
    is_glob = any(not quoted and _WILD.search(part) for part, quoted in parts)
    is_home = bool(parts) and not parts[0][1] and parts[0][0].startswith("~")
    return UNKNOWN if is_home else GLOB + text if is_glob else text
