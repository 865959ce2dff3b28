"""A sheet of inches on which panels, words and a key are placed: nothing moves by itself, so nothing overlaps."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Literal

from fourhands.report.figures.style import INK, SMALL, Fill, Look, face
from fourhands.report.figures.svg import write_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch, Rectangle

__all__ = ["ROW", "Entry", "Sheet", "bar", "key_height", "rectangle", "text_width"]

ROW: Final = 0.165
"""Height of a line of small text, in inches."""

_HANDLE: Final = 0.3
_GAP: Final = 0.16
_POINTS: Final = 72


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a key. ``line`` is whether a line runs through the marker of a look."""

    text: str
    sample: Look | Fill
    line: bool = True
    marker: bool = True


class Sheet:
    """A figure under construction. Places are in inches from the left and from the top."""

    def __init__(self, width: float, height: float) -> None:
        from matplotlib.figure import Figure  # noqa: PLC0415 - heavy
        from matplotlib.transforms import Affine2D  # noqa: PLC0415

        self.width = width
        self.height = height
        self._figure = Figure(figsize=(width, height))
        self._inches = Affine2D().scale(1 / width, -1 / height).translate(0, 1) + self._figure.transFigure

    def panel(self, left: float, top: float, width: float, height: float) -> Axes:
        """Axes at this place; what labels their ticks lies outside of it."""
        place = (
            left / self.width,
            1 - (top + height) / self.height,
            width / self.width,
            height / self.height,
        )
        return self._figure.add_axes(place)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = SMALL,
        align: Literal["left", "center", "right"] = "left",
        alpha: float = 1,
        bold: bool = False,
    ) -> None:
        """A line of words whose middle is at ``y``."""
        self._figure.text(
            x,
            y,
            text,
            transform=self._inches,
            fontsize=size,
            ha=align,
            va="center_baseline",
            alpha=alpha,
            fontweight="bold" if bold else "normal",
        )

    def key(self, entries: Sequence[Entry], left: float, top: float, width: float) -> None:
        """What each look or fill stands for, in as many columns as fit; `key_height` tells how tall it gets."""
        columns, column = _columns(entries, width)
        rows = math.ceil(len(entries) / columns)
        for index, entry in enumerate(entries):
            x = left + (index // rows) * column
            y = top + (index % rows + 0.5) * ROW
            self._sample(entry, x, y)
            self.text(x + _HANDLE + 0.06, y, entry.text)

    def _sample(self, entry: Entry, x: float, y: float) -> None:
        sample = entry.sample
        if isinstance(sample, Fill):
            self.area(rectangle(sample, x, y - 0.05, _HANDLE, 0.1))
            return
        if entry.line:
            self.line(sample, x, y, _HANDLE)
        if entry.marker:
            self.mark(sample, x + _HANDLE / 2, y)

    def area(self, patch: Patch) -> None:
        """A shape whose coordinates are inches."""
        patch.set_transform(self._inches)
        self._figure.add_artist(patch)

    def line(self, sample: Look, x: float, y: float, length: float) -> None:
        """A line of this look, from left to right."""
        self._line([x, x + length], y, color=sample.colour, linestyle=sample.dash)

    def mark(self, sample: Look, x: float, y: float) -> None:
        """The marker of this look."""
        fill = "none" if sample.hollow else sample.colour
        self._line([x], y, color=sample.colour, marker=sample.marker, markerfacecolor=fill)

    def _line(self, xs: Sequence[float], y: float, **settings: Any) -> None:
        from matplotlib.lines import Line2D  # noqa: PLC0415 - heavy

        self._figure.add_artist(Line2D(xs, [y] * len(xs), transform=self._inches, **settings))

    def svg(self, *, name: str, title: str, description: str) -> str:
        """The finished figure."""
        return write_svg(self._figure, name=name, title=title, description=description)


def rectangle(fill: Fill, left: float, low: float, width: float, height: float) -> Rectangle:
    """An area of this fill, edged in ink so that its hatch is seen."""
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - heavy

    return Rectangle(
        (left, low), width, height, facecolor=face(fill), edgecolor=INK, hatch=fill.hatch or None
    )


def bar(panel: Axes, fill: Fill, *, y: float, length: float, height: float, left: float = 0.0) -> None:
    """A bar whose middle is at ``y``, in the panel's own units, and none where there is nothing to show."""
    if not length:
        return
    panel.add_artist(rectangle(fill, left, y - height / 2, length, height)).set_clip_on(False)


def key_height(entries: Sequence[Entry], width: float) -> float:
    """How tall, in inches, a key of these entries gets in this width."""
    columns, _ = _columns(entries, width)
    return math.ceil(len(entries) / columns) * ROW


@lru_cache(4096)
def text_width(text: str, size: float = SMALL, *, bold: bool = False) -> float:
    """Inches that a line of words takes, in the widest of the usual fonts."""
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415 - heavy
    from matplotlib.textpath import text_to_path  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font", category=UserWarning)
        font = FontProperties(size=size, weight="bold" if bold else "normal")
        width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / _POINTS


def _columns(entries: Sequence[Entry], width: float) -> tuple[int, float]:
    """How many columns of a key fit, and the width of one."""
    widest = max((text_width(entry.text) for entry in entries), default=0.0)
    column = _HANDLE + 0.06 + widest + _GAP
    return max(1, min(len(entries), int((width + _GAP) / column))), column
