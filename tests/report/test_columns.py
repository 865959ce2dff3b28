"""The tidy tables' columns are documented as they are."""

from __future__ import annotations

from pathlib import Path

from fourhands.analysis.schema import TABLES
from fourhands.report.columns import columns_markdown
from fourhands.report.views import DERIVED, VIEWS

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_page_is_what_the_schema_says() -> None:
    assert PAGE.read_text("utf-8") == columns_markdown(), (
        "write it anew: python -c 'from fourhands.report.columns import columns_markdown; "
        'print(columns_markdown(), end="")\' > docs/tables.md'
    )


def test_every_column_is_on_the_page_with_its_definition() -> None:
    page = columns_markdown()
    for name, columns in TABLES.items():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        rows = [line for line in section.splitlines() if line.startswith("| `")]
        assert [line.split("`")[1] for line in rows] == [column.name for column in columns]
        assert all(column.definition for column in columns)


def test_every_derived_table_is_on_the_page() -> None:
    page = columns_markdown()
    assert {*DERIVED, "trials"} == set(VIEWS)
    for name, columns in DERIVED.items():
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for column in columns:
            assert column.definition in section
            assert all(f"`{each}`" in section for each in (column.name, *column.more))
