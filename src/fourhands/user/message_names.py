"""The names of code in a message: files, paths, identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from fourhands.language.ground import IDENTIFIER, Ground, bounded

__all__ = ["SPAN", "unknown_names", "without_edit_names"]

SPAN: Final = re.compile(r"`([^`\n]+)`")
"""What stands in backticks."""

_EXTENSIONS: Final = (
    "bash|c|cc|cfg|cjs|conf|cpp|cs|css|cxx|ex|exs|go|h|hpp|html|ini|ipynb|java|js|json|jsx|kt|lock|lua|md|mjs|php|"
    "pl|proto|py|pyi|pyx|rb|rs|rst|scala|scss|sh|sql|swift|toml|ts|tsx|txt|vue|xml|yaml|yml"
)
_FILE: Final = re.compile(rf"[\w./-]*\w\.(?:{_EXTENSIONS})\b")
_SLASHED: Final = re.compile(r"[\w.-]*(?:/[\w.-]+)+/?|[\w.-]+/(?!\S)")
_CALL: Final = re.compile(r"([^\W\d][\w.]*)\(")
_COMPOUND: Final = re.compile(r"\b(?:\w*[^\W_]_\w+|_\w+|[A-Za-z]+[a-z0-9][A-Z]\w*)\b")
_LITERALS: Final = frozenset({"None", "True", "False", "null", "true", "false", "nil", "undefined"})


def unknown_names(text: str, ground: Ground) -> list[str]:
    """The names in ``text`` that stand neither in the edit nor in the task; each once, in order."""
    paths = list(dict.fromkeys(_paths(text)))
    unknown = [path for path in paths if not ground.holds(path)]
    rest = text
    for path in paths:
        rest = re.sub(bounded(path), " ", rest)
    unknown += [
        span for span in SPAN.findall(rest) if not ground.holds(span.strip()) and not _is_known(span, ground)
    ]
    prose = SPAN.sub(" ", rest)
    bare = (*_CALL.findall(prose), *_COMPOUND.findall(prose))
    unknown += [name for name in bare if not _is_known(name, ground)]
    return list(dict.fromkeys(unknown))


def without_edit_names(text: str, ground: Ground) -> str:
    """``text`` without the names that stand in the edit and are clearly code: a plain word only in backticks."""
    for path in set(_paths(text)):
        if ground.edit_holds(path):
            text = re.sub(bounded(path), " ", text)

    def blank(match: re.Match[str]) -> str:
        return " " if match[0] in ground.edit_identifiers else match[0]

    text = SPAN.sub(lambda span: IDENTIFIER.sub(blank, span[0]), text)
    return _COMPOUND.sub(blank, text)


def _is_known(name: str, ground: Ground) -> bool:
    return all(each in ground.identifiers or each in _LITERALS for each in IDENTIFIER.findall(name))


def _paths(text: str) -> Iterator[str]:
    """Files by their extension; folders where a slash cannot be one of prose, such as ``and/or``."""
    spans = SPAN.findall(text)
    for match in _SLASHED.finditer(text):
        path = match[0].rstrip(".-") or match[0]
        in_code = any(path in span for span in spans)
        if in_code or path.count("/") > 1 or path.startswith((".", "/")) or path.endswith("/"):
            yield path.removeprefix("./") or path
    for match in _FILE.finditer(text):
        yield match[0].removeprefix("./")
