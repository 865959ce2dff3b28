r"""A table as LaTeX, for pdfLaTeX and LuaLaTeX with ``\usepackage{booktabs,graphicx}``."""

from __future__ import annotations

import re
from typing import Final

from fourhands.report.rendering.shown import brief, group_starts, shown_rows
from fourhands.report.table import TableView
from fourhands.report.text import visible

__all__ = ["escaped", "latex"]

_ASCII: Final = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after the end of a row a bracket or a star would be an argument of it
    "]": "{]}",
    "*": "{*}",
}
_SIGNS: Final = {
    "−": "$-$",
    "–": r"\textendash{}",
    "—": r"\textemdash{}",
    "…": r"\ldots{}",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "†": r"\textdagger{}",
    "Δ": r"$\Delta$",
    "κ": r"$\kappa$",
    "ω": r"$\omega$",
    "ε": r"$\varepsilon$",
    "Σ": r"$\Sigma$",
    "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}",
    "\u2018": r"\textquoteleft{}",
    "\u2019": r"\textquoteright{}",
    "\u00a0": "~",
}
_LETTERS: Final = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ")
"""Those that even TeX's oldest encoding sets."""
_LIGATURE: Final = re.compile(r"(?<=-)-|(?<=')'|(?<=,),|(?<=[!?])(?=`)")


def escaped(text: str) -> str:
    """``text`` such that TeX sets it as it is; a character that not every TeX can set becomes ``U+4E2D``."""
    apart = _LIGATURE.sub(lambda found: f"\0{found[0]}", visible(text, keep=""))
    return "".join(map(_char, apart))


def _char(char: str) -> str:
    if char == "\0":  # `visible` leaves none, so it can mark where two characters must not become one
        return "{}"
    if char in _ASCII:
        return _ASCII[char]
    if char.isascii():
        return char
    if char in _SIGNS:
        return _SIGNS[char]
    if char in _LETTERS:
        return char
    return f"U+{ord(char):04X}"


def latex(view: TableView) -> str:
    r"""A ``table`` with caption, label (``tab:NAME``), rules and notes; one that is too wide is scaled down."""
    view = brief(view)
    kinds = "".join("r" if column.numeric else "l" for column in view.columns)
    starts = group_starts(view)
    body = []
    for number, texts in enumerate(shown_rows(view)):
        if number in starts:
            body.append(r"    \addlinespace")
        body.append(f"    {_row(texts)}")
    notes = [rf"  \par\smallskip{{\raggedright {escaped(note)}\par}}" for note in view.notes]
    lines = [
        r"% \usepackage{booktabs,graphicx}",
        r"\begin{table}",
        r"  \centering\footnotesize",
        rf"  \caption{{{escaped(view.title)}}}",
        rf"  \label{{tab:{view.name}}}",
        r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"  \begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
        r"    \toprule",
        f"    {_row([column.title for column in view.columns])}",
        r"    \midrule",
        *body,
        r"    \bottomrule",
        r"  \end{tabular}}",
        *notes,
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _row(texts: list[str]) -> str:
    return " & ".join(map(escaped, texts)) + r" \\"
