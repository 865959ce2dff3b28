"""How long the lines that the user wrote last: unrevised, and present at all, by the agent's steps since then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from fourhands.analysis.findings.survival import Curve, Ending, survival_table
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.labels import counts, label, names, points
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import ROW, Sheet
from fourhands.report.figures.style import DASHES, MUTED, PAGE, SMALL, TEXT, Look, look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Survival", "draw", "of_study"]

_TITLE: Final = "Survival of the user's lines over the agent's steps"
_TOP: Final = 0.25
_HEIGHT: Final = 2.0
_MANY: Final = 12
_AXIS: Final = 0.5
_SAMPLE: Final = 0.32
_GAP: Final = 0.4
_RIGHT: Final = 0.15
_TICKS: Final = 5


@dataclass(frozen=True, eq=False)
class Survival:
    """How the lines fare that the user wrote for one agent under one condition: until ``revised``, until ``gone``."""

    name: str
    condition: str
    revised: Curve
    gone: Curve


def of_study(study: Study) -> Figure | None:
    """Of every agent under every condition whose user writes lines."""
    table = survival_table(study)
    shown = names((curve.agent, curve.model) for curve in table)
    arms: dict[tuple[str, str, str], dict[Ending, Curve]] = defaultdict(dict)
    for curve in table:
        arms[curve.agent, curve.model, curve.condition][curve.ending] = curve
    return draw(
        [
            Survival(shown[agent, model], condition, both["revised"], both["gone"])
            for (agent, model, condition), both in arms.items()
        ]
    )


def draw(curves: Sequence[Survival]) -> Figure | None:
    """Two panels, the lines at risk below them; None where the user wrote no line."""
    told = [curve for curve in curves if curve.revised.points and curve.gone.points]
    if not told:
        return None
    last = max(1, *(_last(side) for curve in told for side in (curve.revised, curve.gone)))
    with styled():
        rows = Rows.of(told, ROW)
        left = max(rows.margin + _SAMPLE + 0.35, 1.2)
        width = (PAGE - left - _GAP - _RIGHT) / 2
        height = _HEIGHT + 0.05 * max(0, len(told) - _MANY)
        below = _TOP + height + _AXIS
        sheet = Sheet(PAGE, below + 0.18 + rows.height)
        looks = _looks(told)
        sheet.text(rows.margin - 0.1, below + 0.04, "lines at risk", align="right", alpha=MUTED)
        rows.write(sheet, below + 0.12)
        for at, curve in rows.placed:
            sample, y = looks[curve], below + 0.12 + at
            sheet.line(sample, rows.margin - 0.03, y, _SAMPLE)
            sheet.mark(sample, rows.margin - 0.03 + _SAMPLE / 2, y)
        for index, heading in enumerate(("unrevised", "present")):
            start = left + index * (width + _GAP)
            panel = sheet.panel(start, _TOP, width, height)
            sheet.text(start, _TOP / 2 - 0.02, heading, size=TEXT, bold=True)
            sides = {curve: curve.gone if index else curve.revised for curve in told}
            ticks = _panel(panel, sides, looks, last)
            if not index:
                panel.set_ylabel("share of lines, %")
            for at, curve in rows.placed:
                side = sides[curve]
                for tick in ticks:
                    x = start + width * tick / last
                    sheet.text(
                        x, below + 0.12 + at, f"{side.at_risk(tick):,}", size=SMALL - 0.5, align="center"
                    )
        description = "Step curves of the lines' survival. " + " ".join(map(_words, told))
        svg = sheet.svg(name="survival", title=_TITLE, description=description)
    caption = (
        "Share of the user's lines that the agent has not revised (left) and that are still there (right), by the "
        "agent's steps since they were written (Kaplan–Meier; lines are watched to the end of their trial). "
        f"n = {counts((curve.revised.lines for curve in told), 'line')} of "
        f"{counts((curve.revised.trials for curve in told), 'trial')} a curve; the lines of a trial share their fate."
    )
    return Figure("survival", _TITLE, caption, svg, description)


def _looks(told: Sequence[Survival]) -> dict[Survival, Look]:
    """Colour and marker tell the agent, dashes the condition."""
    agents = list(dict.fromkeys(curve.name for curve in told))
    conditions = list(dict.fromkeys(curve.condition for curve in told))
    return {
        curve: replace(
            look(agents.index(curve.name)), dash=DASHES[conditions.index(curve.condition) % len(DASHES)]
        )
        for curve in told
    }


def _panel(panel: Axes, sides: dict[Survival, Curve], looks: dict[Survival, Look], last: int) -> list[int]:
    """Draw one panel and give the steps at its ticks."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415 - heavy

    located = MaxNLocator(_TICKS, integer=True, steps=[1, 2, 5, 10]).tick_values(0, last)
    ticks = [int(tick) for tick in located if 0 <= tick <= last]
    for curve, side in sides.items():
        sample = looks[curve]
        at = [0, *(point.step for point in side.points)]
        shares = [100.0, *(100 * point.share for point in side.points)]
        panel.step(at, shares, where="post", color=sample.colour, linestyle=sample.dash, clip_on=False)
        marked = [tick for tick in ticks if 0 < tick <= _last(side)]
        panel.plot(
            marked,
            [100 * side.share_at(tick) for tick in marked],
            color=sample.colour,
            marker=sample.marker,
            linestyle="none",
            markersize=3.8,
            clip_on=False,
        )
    panel.set_xlim(0, last)
    panel.set_ylim(0, 100)
    panel.set_xticks(ticks)
    panel.grid(axis="y")
    panel.set_xlabel("agent's steps since the line was written")
    return ticks


def _last(curve: Curve) -> int:
    return curve.points[-1].step


def _words(curve: Survival) -> str:
    unrevised, present = (side.points[-1].share for side in (curve.revised, curve.gone))
    return (
        f"{curve.name}, {label(curve.condition)}: in the end {points(unrevised)} unrevised and "
        f"{points(present)} present."
    )
