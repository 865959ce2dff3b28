"""Pages of one thing, beside the report: they open from disk, ask nothing of the network, and look as it does."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from fourhands.report.html.assets import as_one_function, asset, early_script, policy_of
from fourhands.report.text import visible

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from markupsafe import Markup

__all__ = ["OwnPage", "own_file", "page_environment", "stored"]

_SCRIPTS: Final = ("dom.js", "theme.js")
"""Those of the report that every page has."""


@dataclass(frozen=True)
class OwnPage:
    """What a page is made of. ``package`` is the one whose ``assets`` hold its own files.

    ``shared`` are style sheets of the report, ``style`` is its own. ``script`` is text that runs behind the report's
    shared scripts, in one function with them; it and ``asset`` files hold nothing of what is shown.
    """

    package: str
    template: str
    shared: tuple[str, ...]
    style: str
    script: str
    filters: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def text(self, *, data: Any = None, **values: Any) -> str:
        """The document; ``data`` is what its script is told, as JSON, ``values`` what its template is."""
        from markupsafe import Markup  # noqa: PLC0415 - comes with jinja2, which is heavy

        script = as_one_function("".join([*map(asset, _SCRIPTS), self.script]))
        styles = "".join([*map(asset, self.shared), own_file(self.package, self.style)])
        return self._template.render(
            policy=Markup(policy_of([early_script(), script])),  # noqa: S704 - hashes of our own scripts
            css=Markup(styles),  # noqa: S704 - our own styles
            early=Markup(early_script()),  # noqa: S704 - our own script
            script=Markup(script),  # noqa: S704 - our own scripts
            data=stored(json.dumps(data, separators=(",", ":"))),
            version=version("fourhands"),
            **values,
        )

    @cached_property
    def _template(self) -> Template:
        environment = page_environment(lambda name: own_file(self.package, name))
        environment.filters.update(self.filters)
        return environment.get_template(self.template)


def own_file(package: str, name: str) -> str:
    """The text of one of a page's own files."""
    return (files(package) / "assets" / name).read_text("utf-8")


def stored(text: str) -> Markup:
    r"""JSON in ASCII, fit for a script element: ``<`` could end that, and is ``\u003c`` in JSON's strings."""
    from markupsafe import Markup  # noqa: PLC0415 - as above

    return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - and is never markup there


def page_environment(load: Callable[[str], str]) -> Environment:
    """For templates of pages: all is escaped, and what is not there is an error."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # noqa: PLC0415 - heavy

    environment = Environment(
        loader=FunctionLoader(load), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["visible"] = lambda value: visible(str(value))
    return environment
