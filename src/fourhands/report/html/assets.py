"""The page's own styles and scripts, and the policy by which a browser runs these scripts and no others."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = [
    "TEMPLATE",
    "as_one_function",
    "asset",
    "content_policy",
    "early_script",
    "policy_of",
    "script",
    "styles",
]

TEMPLATE: Final = "page.html.j2"
_STYLES: Final = ("page.css", "story.css", "talk.css", "narrow.css", "print.css")
_SCRIPTS: Final = (
    "dom.js",
    "data.js",
    "tables.js",
    "tips.js",
    "trials.js",
    "diff.js",
    "talk.js",
    "entry.js",
    "evidence.js",
    "why.js",
    "ledger.js",
    "story.js",
    "beside.js",
    "routes.js",
    "keys.js",
    "theme.js",
    "main.js",
)
"""In the order in which they need each other; together they are one function, so that nothing of them is global."""


@cache
def asset(name: str) -> str:
    """The text of one of the page's own files."""
    return (files(__package__) / "assets" / name).read_text("utf-8")


def styles() -> str:
    """All style sheets as one."""
    return "".join(map(asset, _STYLES))


def early_script() -> str:
    """What runs before anything is drawn."""
    return asset("early.js")


def script() -> str:
    """All other scripts as one."""
    return as_one_function("".join(map(asset, _SCRIPTS)))


def as_one_function(text: str) -> str:
    """Scripts that run at once, and of which nothing is global."""
    return f'(() => {{\n"use strict";\n{text}}})();\n'


def content_policy(*, loads_stories: bool) -> str:
    """The ``Content-Security-Policy``: nothing is loaded, and a script runs only if it is one of these two.

    ``loads_stories``: what these two load may run as well, for that is how stories come from a folder.
    """
    return policy_of([early_script(), script()], *(["'strict-dynamic'"] if loads_stories else []))


def policy_of(scripts: Sequence[str], *further: str) -> str:
    """The policy of a page that loads nothing and runs ``scripts`` alone. ``further`` are more sources of scripts."""
    sources = [*(f"'sha256-{_digest(text)}'" for text in scripts), *further]
    rules = (
        "default-src 'none'",
        f"script-src {' '.join(sources)}",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
