"""What the page shows -> its text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from fourhands.report.html.assets import TEMPLATE, asset, content_policy, early_script, script, styles
from fourhands.report.html.exhibits import Exhibit
from fourhands.report.html.facts import RunFacts
from fourhands.report.html.own_page import page_environment, stored
from fourhands.report.rendering.comma_separated import comma_separated_lines
from fourhands.report.table import TableView

if TYPE_CHECKING:
    from jinja2 import Template

    from fourhands.report.figures.figure import Figure

__all__ = ["MOST_EXHIBITS", "Page", "page_text"]

MOST_EXHIBITS: Final = 60
"""Tasks whose exhibits are listed; the others' trials can be put beside each other all the same."""


@dataclass(frozen=True, slots=True)
class Page:
    """All that stands in the page, raw: here is where it becomes markup.

    ``shelves`` are names of shelves and what they hold, in base 64; those that are not here come from a folder, which
    ``data`` names (see `trial_data`). Of ``exhibits`` at most so many tasks' are listed as `MOST_EXHIBITS` says.
    """

    title: str
    runs: tuple[RunFacts, ...]
    skipped: tuple[str, ...]
    data: Mapping[str, Any]
    headline: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    views: tuple[TableView, ...] = ()
    figures: tuple[Figure, ...] = ()
    shelves: Sequence[tuple[str, str]] = ()
    exhibits: Sequence[Exhibit] = ()


def page_text(page: Page) -> str:
    """One HTML document."""
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2, which is heavy

    def ours(text: str) -> Markup:
        return Markup(text)  # noqa: S704 - our own styles and scripts, which hold nothing of any run

    return _template().render(
        policy=ours(content_policy(loads_stories=page.data["folder"] is not None)),
        version=version("fourhands"),
        title=page.title,
        css=ours(styles()),
        early=ours(early_script()),
        script=ours(script()),
        headline=page.headline,
        cautions=page.cautions,
        runs=page.runs,
        skipped=page.skipped,
        views=page.views,
        # A figure is drawn by our own code, which escapes the names in it.
        figures=[(figure, Markup(figure.svg)) for figure in page.figures],  # noqa: S704
        exhibits=page.exhibits[:MOST_EXHIBITS],
        exhibits_left_out=max(0, len(page.exhibits) - MOST_EXHIBITS),
        data=stored(json.dumps(dict(page.data), separators=(",", ":"))),
        shelves=page.shelves,
    )


@cache
def _template() -> Template:
    environment = page_environment(asset)
    environment.filters["csv_lines"] = comma_separated_lines
    return environment.get_template(TEMPLATE)
