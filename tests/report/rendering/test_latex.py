"""LaTeX: every character that TeX acts on is escaped, and none is left that pdfLaTeX cannot set."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fourhands.report.rendering.latex import escaped, latex

from .views import VIEW, of_texts

COMMAND = re.compile(
    r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textasciigrave|ldots|textendash"
    r"|textemdash|textquotedblleft|textquotedblright|textquoteleft|textquoteright|textdagger|char34)\{\}"
    r"|\\[{}$&#_%]|\{[\[\]*]\}|\{\}"
    r"|\$(?:-|\\(?:cdot|times|pm|geq|leq|neq|approx|rightarrow|Delta|Sigma))\$|~"
)
"""All that `escaped` may write beside plain characters: each is set by pdfLaTeX and LuaLaTeX without a package."""
PLAIN = re.compile(r"[A-Za-z0-9 .,:;!?'()=+/@\-À-ÖØ-ÝßÀ-ÿ]*")


def test_a_table_is_set_with_caption_label_and_rules() -> None:
    assert latex(VIEW) == (
        "% \\usepackage{booktabs,graphicx}\n"
        "\\begin{table}\n"
        "  \\centering\\footnotesize\n"
        "  \\caption{Resolved, and $\\Delta$}\n"
        "  \\label{tab:conditions}\n"
        "  \\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
        "  \\begin{tabular}{@{}llrrr@{}}\n"
        "    \\toprule\n"
        "    agent & condition & rate & 95 \\% CI & $\\Delta$ \\\\\n"
        "    \\midrule\n"
        "    thin & vanilla & 67\\% & 21\\textendash{}94\\% &  \\\\\n"
        "     & counter-edit{[}k=1{]} & 33\\% & 6\\textendash{}79\\% & $-$33.3{*} \\\\\n"
        "    \\addlinespace\n"
        "    pi\\_2 & vanilla & \\textendash{} & \\textendash{} &  \\\\\n"
        "    \\bottomrule\n"
        "  \\end{tabular}}\n"
        "  \\par\\smallskip{\\raggedright {*}: 1 task is left out.\\par}\n"
        "\\end{table}\n"
    )


@given(st.text(st.sampled_from("\\{}$&#_%~^<>|\"`'[]*-,!?Δ−–±≥éß中😀\n\x1b") | st.characters()))
@example("\\input{/etc/passwd}")
@example("a--b ''c'' ,,d ?`e")
def test_any_text_is_plain_characters_and_known_commands_only(text: str) -> None:
    rest = COMMAND.sub("", escaped(text))
    assert PLAIN.fullmatch(rest), rest
    assert not re.search(r"--|''|,,|[?!]`", escaped(text)), "TeX would make one character of two"


@pytest.mark.parametrize("text", ["[x]", "*", "[*]"])
def test_a_row_that_begins_with_a_bracket_or_a_star_is_no_argument_of_the_row_before(text: str) -> None:
    body = latex(of_texts("first", text)).partition("\\midrule")[2]
    assert not re.search(r"\\\\\s*[\[*]", body)


def test_a_character_that_not_every_tex_sets_is_told_by_its_number() -> None:
    assert escaped("é 中") == "é U+4E2D"
