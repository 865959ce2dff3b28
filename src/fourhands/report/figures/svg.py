"""A drawn figure -> one accessible ``<svg>`` element that can be put into a page beside others.

Matplotlib's own output names its parts alike in every figure, restyles the whole page that holds it, and has black
ink. Here parts that are referred to carry the figure's name, styles are attributes of the elements they are for (so
that a strict content security policy lets them through), ink is the page's own colour, and nothing refers to the
outside.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET

from fourhands.report.figures.style import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["write_svg"]

_SVG: Final = "http://www.w3.org/2000/svg"
_XLINK: Final = "http://www.w3.org/1999/xlink"
_NO_METADATA: Final = {"Date": None, "Creator": None, "Format": None, "Type": None}
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")
_DROPPED: Final = frozenset({"metadata", "style"})
_INHERITED: Final = frozenset({"font-family"})
_NO_TURN: Final = re.compile(r"rotate\(-?0 [^)]*\)")


def write_svg(figure: Figure, *, name: str, title: str, description: str) -> str:
    """The element; the same figure and words always give the same text.

    ``name`` is of letters, digits and hyphens, and unique among the figures of a page.
    """
    root = _drawn(figure)
    references = _references(root)
    _clean(root, name, references)
    root.attrib = {
        "xmlns": _SVG,
        "xmlns:xlink": _XLINK,
        **{key: root.attrib[key] for key in ("width", "height", "viewBox")},
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-description",
        "font-family": "sans-serif",
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
    }
    for tag, words in (("description", description), ("title", title)):
        said = ET.Element("desc" if tag == "description" else tag, {"id": f"{name}-{tag}"})
        said.text = words
        root.insert(0, said)
    return ET.tostring(root, encoding="unicode")


def _drawn(figure: Figure) -> ET.Element:
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415 - heavy

    written = io.StringIO()
    with warnings.catch_warnings():
        # Names in any script are written as text: whoever shows the figure has the letters, matplotlib need not.
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font", category=UserWarning)
        FigureCanvasSVG(figure).print_figure(written, format="svg", metadata=_NO_METADATA)
    return ET.fromstring(written.getvalue())  # noqa: S314 - written by matplotlib just now


def _references(root: ET.Element) -> frozenset[str]:
    found: set[str] = set()
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == f"{{{_XLINK}}}href":
                found.add(value.removeprefix("#"))
            else:
                found.update(_REFERENCE.findall(value))
    return frozenset(found)


def _clean(element: ET.Element, name: str, references: frozenset[str]) -> None:
    element.tag = _local(element.tag)
    element.attrib = _attributes(element.attrib, name, references)
    element.tail = "\n" if element.tag == "g" else None
    if element.tag != "text":
        element.text = None
    for child in list(element):
        if _local(child.tag) in _DROPPED:
            element.remove(child)
        else:
            _clean(child, name, references)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _attributes(found: dict[str, str], name: str, references: frozenset[str]) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for key, value in found.items():
        if key == "style":
            for part in value.split(";"):
                style, _, setting = part.partition(":")
                if style.strip() not in _INHERITED:
                    attributes[style.strip()] = _value(setting.strip(), name)
        elif key == f"{{{_XLINK}}}href":
            attributes["xlink:href"] = f"#{name}-{value.removeprefix('#')}"
        elif key == "id":
            if value in references:
                attributes["id"] = f"{name}-{value}"
        elif key == "d":
            attributes["d"] = " ".join(value.split())
        elif not _NO_TURN.fullmatch(value):
            attributes[key] = _value(value, name)
    return attributes


def _value(value: str, name: str) -> str:
    if value.lower() == INK:
        return "currentColor"
    return _REFERENCE.sub(lambda match: f"url(#{name}-{match[1]})", value)
