"""A table such as results have: two agents, an interval, something unknown."""

from __future__ import annotations

from fourhands.report.table import Cell, Column, TableView

VIEW = TableView(
    name="conditions",
    title="Resolved, and Δ",
    columns=(
        Column("agent", "agent", numeric=False),
        Column("condition", "condition", numeric=False),
        Column("rate", "rate"),
        Column("rate_low", "95 % CI", more=("rate_high",)),
        Column("delta", "Δ"),
    ),
    rows=(
        (
            Cell("thin", "thin"),
            Cell("vanilla", "vanilla"),
            Cell("67%", 2 / 3),
            Cell("21–94%", 0.2, (0.9,)),
            Cell(""),
        ),
        (
            Cell("thin", "thin"),
            Cell("counter-edit[k=1]", "counter-edit[k=1]"),
            Cell("33%", 1 / 3),
            Cell("6–79%", 0.1, (0.8,)),
            Cell("−33.3*", -1 / 3),
        ),
        (Cell("pi_2", "pi_2"), Cell("vanilla", "vanilla"), Cell("–"), Cell("–"), Cell("")),
    ),
    notes=("*: 1 task is left out.",),
    group=1,
)


def of_texts(*texts: str) -> TableView:
    """One column of words, a row for each."""
    column = Column("text", "text", numeric=False)
    return TableView("texts", "texts", (column,), tuple((Cell(text, text),) for text in texts))
