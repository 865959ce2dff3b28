"""Markdown: what a cell holds is read as it is by a parser of Markdown, whatever it is."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from fourhands.report.rendering.markdown import inline, markdown
from fourhands.report.text import visible

from .views import VIEW, of_texts

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
MARKED = st.text(st.sampled_from("ab1 \\`*_[](){}<>|~!#+-=&;:/.w\n\t\x1b\u202e\"'")) | st.text()


def _texts(tokens: list[Token]) -> list[str]:
    """Of each inline token the text that is shown; fails where anything of it is markup."""
    found = []
    for token in tokens:
        if token.type == "inline":
            children = token.children or []
            assert {child.type for child in children} <= {"text", "text_special"}, token.content
            found.append("".join(child.content for child in children))
    return found


def test_a_table_has_its_title_its_columns_and_its_notes() -> None:
    assert markdown(VIEW) == (
        "### Resolved, and Δ\n"
        "\n"
        "| agent | condition | rate | 95 % CI | Δ |\n"
        "| --- | --- | ---: | ---: | ---: |\n"
        "| thin | vanilla | 67% | 21–94% |  |\n"
        "|  | counter-edit[k=1] | 33% | 6–79% | −33.3\\* |\n"
        "| pi_2 | vanilla | – | – |  |\n"
        "\n"
        "- \\*: 1 task is left out.\n"
    )


@given(MARKED)
@example("a|b\\|c")
@example("<script>alert(1)</script>")
@example("![x](y) [a]: b [c][d] &lt; &#60; ~~no~~ __a__ a_b")
@example("1. - # + >")
@example("# a")
@example("- a")
@example("---")
@example("2)")
def test_any_text_is_read_as_it_is_in_a_cell_and_in_a_list(text: str) -> None:
    shown = visible(text, keep="")
    table = _texts(PARSER.parse(markdown(of_texts(text, "last"))))
    assert [" ".join(cell.split()) for cell in table] == ["texts", "text", " ".join(shown.split()), "last"]
    (item,) = _texts(PARSER.parse(f"- {inline(text)}\n")) or [""]
    assert " ".join(item.split()) == " ".join(shown.split())


@pytest.mark.parametrize("text", ["https://example.org", "www.example.org"])
def test_an_address_is_no_link_for_github(text: str) -> None:
    assert "s://" not in inline(text)
    assert "www." not in inline(text)


def test_a_number_is_left_as_it_is() -> None:
    assert [inline(text) for text in ("7.0", "+1.8", "−3.3", "-3", "$0.042")] == [
        "7.0",
        "+1.8",
        "−3.3",
        "-3",
        "$0.042",
    ]
