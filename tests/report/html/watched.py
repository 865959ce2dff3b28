"""A page in a browser, with all that it does that nobody asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page

_WORST = {"serious", "critical"}


def faults(page: Page) -> list[str]:
    """What keeps people from using what is shown: serious faults of accessibility."""
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']}: {json.dumps([node['html'] for node in each['nodes'][:3]])}"
        for each in found
        if each["impact"] in _WORST
    ]


@dataclass
class Watched:
    """``errors`` are console errors and uncaught exceptions; ``requests`` are those after the page's own."""

    page: Page
    file: Path
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def go(self, address: str) -> None:
        """Follow an address within the page, as a link would."""
        self.page.evaluate("address => { location.hash = address; }", address)

    def story(self) -> None:
        """Wait until a story is told."""
        self.page.wait_for_selector("article.story .entry")

    def see_that_it_was_quiet(self, *, loaded: int = 0) -> None:
        assert self.errors == []
        assert self.dialogs == []
        own = [url for url in self.requests if url.startswith(self.file.parent.as_uri())]
        assert len(self.requests) == len(own) == loaded, self.requests


@contextmanager
def opened(browser: Browser, file: Path, address: str = "", **options: Any) -> Iterator[Watched]:
    """The page opened from disk."""
    context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
    page = context.new_page()
    watched = Watched(page, file)

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            watched.errors.append(message.text)

    def asked(dialog: Dialog) -> None:
        watched.dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("console", heard)
    page.on("pageerror", lambda error: watched.errors.append(str(error)))
    page.on("dialog", asked)
    page.on("request", lambda request: watched.requests.append(request.url))
    page.goto(file.as_uri() + address)
    first = watched.requests.pop(0)
    assert first.startswith(file.as_uri())
    try:
        yield watched
    finally:
        context.close()
