"""A sheet -> the page's text."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from fourhands.report.audit_sheet.model import SheetPage
from fourhands.report.html.assets import asset, early_script, policy_of
from fourhands.report.text import visible

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["sheet_page"]

_SHARED_STYLES: Final = ("page.css", "narrow.css")
_SHARED_SCRIPTS: Final = ("dom.js", "theme.js")


def sheet_page(page: SheetPage) -> str:
    """One HTML document that opens from disk and asks nothing of the network.

    It keeps answers in the browser, under the sheet's name and the person's, and saves them as ``answers-NAME.csv``,
    with the sheet's columns.
    """
    from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2, which is heavy

    script = _script()
    data = {
        "sheet": page.sheet,
        "any": page.any_of,
        "labels": [name for name, _ in page.labels],
        "columns": page.columns,
        "words": page.words,
        "items": [item.name for item in page.items],
    }
    return _template().render(
        policy=Markup(policy_of([early_script(), script])),  # noqa: S704 - hashes of our own scripts
        css=Markup("".join([*map(asset, _SHARED_STYLES), _own("sheet.css")])),  # noqa: S704 - our own styles
        early=Markup(early_script()),  # noqa: S704 - our own script
        script=Markup(script),  # noqa: S704 - our own scripts, which hold nothing of any record
        # ``<`` could end the script element, and is ``\u003c`` in JSON's strings.
        data=Markup(json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")),  # noqa: S704
        version=version("fourhands"),
        page=page,
    )


def _own(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text("utf-8")


def _script() -> str:
    parts = "".join([*map(asset, _SHARED_SCRIPTS), _own("sheet.js")])
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


@cache
def _template() -> Template:
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 - heavy

    environment = Environment(
        loader=FunctionLoader(_own), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["visible"] = lambda value: visible(str(value))
    environment.filters["shown"] = lambda lines: visible("\n".join(lines))
    return environment.get_template("sheet.html.j2")
