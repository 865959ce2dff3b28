"""The terminal: within its width, whole numbers, names folded, and nothing that acts on it."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from fourhands.report.rendering.terminal import terminal
from fourhands.report.table import Cell, Column, TableView

from .views import VIEW, of_texts


def _printed(view: TableView, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, force_terminal=True, color_system="truecolor", highlight=False).print(
        terminal(view)
    )
    return re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())


def test_a_table_tells_a_name_once_and_numbers_to_the_right() -> None:
    assert [line.rstrip() for line in _printed(VIEW).splitlines()] == [
        "Resolved, and Δ",
        "",
        " agent condition         rate 95 % CI      Δ",
        " ───────────────────────────────────────────",
        " thin  vanilla            67%  21–94%",
        "       counter-edit[k=1]  33%   6–79% −33.3*",
        " pi_2  vanilla              –       –",
        "",
        "· *: 1 task is left out.",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 100])
@pytest.mark.parametrize("columns", [1, 7, 20])
def test_a_wide_table_goes_on_in_another_and_cuts_no_number(width: int, columns: int) -> None:
    name = "counter-edit[k=5,trigger=progress,moment=before_action]"
    numbers = [f"{10**i:,}" for i in range(columns % 9)] + ["1,234"] * (columns - columns % 9)
    view = TableView(
        "wide",
        "wide",
        (Column("name", "condition", numeric=False), *(Column(f"c{i}", f"c{i}") for i in range(columns))),
        ((Cell(name, name), *(Cell(number) for number in numbers)),),
    )
    printed = _printed(view, width)
    assert max(map(len, printed.splitlines())) <= width
    assert "…" not in printed
    words = printed.split()
    assert [word for word in words if re.fullmatch(r"[0-9,]+", word)] == numbers
    assert [word for word in words if re.fullmatch(r"c[0-9]+", word)] == [f"c{i}" for i in range(columns)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[red]name[/red]", "[red]name[/red]"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\nb", "a\\x0ab"),
        ("\u202eabc", "\\u202eabc"),
        ("\ud800", "\\ud800"),
    ],
)
def test_a_name_is_text_and_acts_on_nothing(text: str, shown: str) -> None:
    printed = _printed(of_texts(text))
    assert shown in printed
    assert text == shown or text not in printed


@pytest.mark.parametrize("width", [60, 80, 120])
def test_many_columns_of_names_push_no_number_out_and_those_that_never_differ_are_told_once(
    width: int,
) -> None:
    names = ["agent", "model", "condition", "simulator", "benchmark"]
    said = ["mini-swe-agent", "scripted/reconciles", "interactive[persona=neutral]", "grounded", "all"]
    rows = [
        (*(Cell(each, each) for each in [*said[:2], f"{said[2]}{n}", *said[3:]]), Cell("20,703 → 763,032", n))
        for n in range(2)
    ]
    view = TableView(
        "wide",
        "wide",
        (*(Column(name, name, numeric=False) for name in names), Column("steps", "steps, single → multi")),
        tuple(rows),
    )
    printed = _printed(view, width)
    assert printed.count("20,703 → 763,032") == 2
    assert "steps, single → multi" in printed
    assert printed.count("reconciles") == printed.count("grounded") == 1
    assert max(map(len, printed.splitlines())) <= width
