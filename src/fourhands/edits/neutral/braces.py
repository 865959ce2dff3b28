"""The code of languages with ``//`` comments, told from their comments and strings without parsing them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["BRACES", "Braces"]

_COMMENTS: Final = r"(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
_STRING: Final = r'"(?:\\.|[^"\\\n])*"'
_CHARACTER: Final = r"'(?:\\[^\n']{1,10}|[^\\'\n])'"
_TEMPLATE: Final = r"`(?:\\.|[^`\\])*`"
_TEXT_BLOCK: Final = r'"""(?:\\.|(?!""").)*"""'


@dataclass(frozen=True, slots=True)
class Braces:
    """One language. ``literals`` match its strings and characters, those over several lines first.

    ``free_text`` says that lines of prose may stand between its statements, as in JSX.
    """

    literals: tuple[str, ...]
    free_text: bool = False

    def code(self, text: str) -> str:
        """``text`` without its comments, and without the lines that they leave blank."""
        bare = self._pattern().sub(lambda match: "" if match["comment"] else match[0], text)
        return "\n".join(line for line in bare.split("\n") if line.strip())

    def lines_in_code(self, text: str) -> set[int]:
        """Numbers (1-based) of the lines that begin neither within a comment nor within a string."""
        within = {
            number
            for match in self._pattern().finditer(text)
            for number in _lines_begun(text, match.start(), match.end())
        }
        return set(range(1, text.count("\n") + 2)) - within

    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join((_COMMENTS, *self.literals)), re.DOTALL)


def _lines_begun(text: str, start: int, end: int) -> range:
    first = text.count("\n", 0, start) + 2
    return range(first, first + text.count("\n", start, end))


_C: Final = Braces((r'R"(?P<tag>[^(\s"]*)\(.*?\)(?P=tag)"', _STRING, _CHARACTER))
_GO: Final = Braces((r"`[^`]*`", _STRING, _CHARACTER))
_RUST: Final = Braces((r'r(?P<hashes>#*)".*?"(?P=hashes)', r'"(?:\\.|[^"\\])*"', _CHARACTER))
_JAVA: Final = Braces((_TEXT_BLOCK, _STRING, _CHARACTER))
_SCRIPT: Final = Braces((_TEMPLATE, _STRING, r"'(?:\\.|[^'\\\n])*'"), free_text=True)

BRACES: Final[dict[str, Braces]] = {
    **dict.fromkeys((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp"), _C),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"), _SCRIPT),
    **dict.fromkeys((".java", ".kt", ".scala", ".swift"), _JAVA),
    ".go": _GO,
    ".rs": _RUST,
}
"""By the suffix of a file's name."""
