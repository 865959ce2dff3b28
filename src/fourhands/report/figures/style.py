"""The one style of all figures: Okabe and Ito's colours, and never colour alone.

What is drawn in `INK` takes the colour of the text around the figure, so that it is dark on a light page and light on
a dark one. Lines and grids that should stand back are ink that lets the page through.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

__all__ = [
    "BLUE", "COLUMN", "DASHES", "FAINT", "GREEN", "HATCHES", "INK", "MUTED", "ORANGE", "PAGE", "PURPLE", "SKY",
    "SMALL", "TEXT", "VERMILION", "Fill", "Look", "face", "look", "styled",
]  # fmt: skip

INK: Final = "#010203"
"""Written as ``currentColor``: no other part of a figure may have this colour."""

BLUE: Final = "#0072B2"
VERMILION: Final = "#D55E00"
GREEN: Final = "#009E73"
PURPLE: Final = "#CC79A7"
ORANGE: Final = "#E69F00"
SKY: Final = "#56B4E9"

MUTED: Final = 0.72
FAINT: Final = 0.16
"""How much of the ink is seen in secondary text, and in grids."""

TEXT: Final = 8.0
SMALL: Final = 7.0
"""Sizes of text, in points."""

COLUMN: Final = 3.3
PAGE: Final = 6.9
"""Widths of a figure, in inches: one column of a paper of two columns, or both."""

HATCHES: Final = ("", "/////", "\\\\\\\\\\", "-----", "|||||", "xxxxx", "+++++")
"""Of lines only: matplotlib writes each dot of a dotted hatch as a path, half a megabyte in all."""

_COLOURS: Final = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, INK)
_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "<", "p", ">", "h", "*")
DASHES: Final = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))

_SETTINGS: Final = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fourhands",
    "text.parse_math": False,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": TEXT,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.linewidth": 0.6,
    "axes.labelsize": TEXT,
    "axes.labelpad": 3,
    "axes.titlesize": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "figure.facecolor": "none",
    "figure.edgecolor": "none",
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.color": INK,
    "grid.alpha": FAINT,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.5,
    "patch.linewidth": 0.6,
}

type Dash = str | tuple[float, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Look:
    """How one of several series is told from the others: by marker and dashes as much as by colour.

    What lies below a ``hollow`` marker is seen.
    """

    colour: str
    marker: str
    dash: Dash
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Fill:
    """How one kind of area is told from the others: by its hatch as much as by colour."""

    colour: str
    hatch: str
    alpha: float | None = None


def face(fill: Fill) -> str | tuple[str, float]:
    """What matplotlib takes as the colour of an area."""
    return fill.colour if fill.alpha is None else (fill.colour, fill.alpha)


def look(index: int) -> Look:
    """The look of the ``index``-th series; the first 12 differ in marker, the first 84 in marker or colour."""
    return Look(_COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)], DASHES[index % len(DASHES)])


@contextmanager
def styled() -> Iterator[None]:
    """This style within the block, whatever the user's own settings of matplotlib are; theirs come back after it."""
    from matplotlib import style  # noqa: PLC0415 - matplotlib takes a second: only who draws pays for it

    with style.context(["default", _SETTINGS]):
        yield
