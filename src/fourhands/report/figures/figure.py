"""One figure, ready to be shown anywhere."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Figure"]


@dataclass(frozen=True, slots=True)
class Figure:
    """``svg`` is one ``<svg>`` element that stands alone and can be put into a page as it is.

    ``caption`` says what is drawn, of how many trials or tasks; ``alt`` says in words what one sees.
    """

    name: str
    title: str
    caption: str
    svg: str
    alt: str
