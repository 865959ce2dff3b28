"""How much of the goals agents discover: of the plan, then of the code from its first revision to the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from fourhands.analysis.discovery import GRID
from fourhands.analysis.findings.conversations.whole import whole
from fourhands.analysis.findings.discovery import AnchorMeans, DiscoveryRow, anchor_means, discovery_table
from fourhands.analysis.findings.scores import ScoreMean
from fourhands.analysis.study import Anchors, Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.headings import conditions, fold
from fourhands.report.figures.labels import counts, label, names
from fourhands.report.figures.panels import Panels
from fourhands.report.figures.sheet import Entry
from fourhands.report.figures.style import COLUMN, DASHES, FAINT, INK, MUTED, PAGE, SMALL, Look, look, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Course", "draw", "of_study"]

_TITLE: Final = "Goals discovered over the conversation"
_PLAN: Final = -0.17
"""Where plans are, at the left of the code."""
_DODGE: Final = 0.018
_MANY: Final = 6
_ENDS: Final = (0, len(GRID) // 2, len(GRID) - 1)
"""The points of the grid whose intervals are drawn."""
_ANCHORS: Final = {
    "empty": Entry("no change", Look(INK, "", DASHES[2]), marker=False),
    "reference": Entry("the reference", Look(INK, "", DASHES[1]), marker=False),
    "as_plan": Entry("the reference as a plan", Look(INK, "_", "-"), line=False),
}


@dataclass(frozen=True, slots=True)
class Course:
    """One agent's scores, 0 to 100, under one condition (``panel``) by one source (``scores``, in words).

    ``anchors`` are those of its tasks, by task; ``is_defined``: what the reference has is so by definition.
    """

    name: str
    panel: str
    scores: str
    plan: ScoreMean | None
    points: Sequence[ScoreMean | None]
    anchors: Mapping[str, Anchors]
    is_defined: bool
    trials: int


def of_study(study: Study) -> Figure | None:
    """Of every agent in every kind of conversation; simulators together."""
    rows = sorted(whole(discovery_table(study)), key=lambda row: row.source)
    shown = names(((row.agent, row.model) for row in rows), 22)
    where = conditions(row.condition for row in rows)
    return draw([_course(shown[row.agent, row.model], where[row.condition], row) for row in rows])


def _course(name: str, condition: str, row: DiscoveryRow) -> Course:
    return Course(
        name=name,
        panel=condition,
        scores=row.told,
        plan=row.plan,
        points=row.points,
        anchors=row.anchored,
        is_defined=row.source.voice is None,
        trials=row.trials,
    )


def draw(courses: Sequence[Course]) -> Figure | None:
    """A panel for each condition and source of scores, a line for each agent; None without any score."""
    told = [each for each in courses if each.plan or any(each.points)]
    if not told:
        return None
    looks = {name: look(index) for index, name in enumerate(dict.fromkeys(each.name for each in told))}
    panels: dict[tuple[str, str], list[Course]] = {}
    for each in told:
        panels.setdefault((each.panel, each.scores), []).append(each)
    anchors = {key: _anchors(mine) for key, mine in panels.items()}
    known = [name for name in _ANCHORS if any(getattr(each, name) is not None for each in anchors.values())]
    axis = fold((scores for _, scores in panels), lambda text, spare: label(text, 28 - spare), lines=1)
    entries = [Entry(name, sample) for name, sample in looks.items()] + [_ANCHORS[name] for name in known]
    with styled():
        sheet = Panels.of(
            [condition for condition, _ in panels],
            entries,
            height=2.1 + 0.04 * max(0, len(looks) - _MANY),
            width=COLUMN if len(panels) == 1 else PAGE,
        )
        apart = min(_DODGE, 0.1 / len(looks))
        for (key, mine), axes in zip(panels.items(), sheet.axes, strict=True):
            _frame(axes, axis[key[1]][0])
            for name in known:
                _draw_anchor(axes, name, getattr(anchors[key], name))
            if any(each.is_defined for each in mine):
                axes.text(0.01, 97.5, "by definition", va="top", fontsize=SMALL - 0.5, alpha=MUTED)
            for each in mine:
                place = list(looks).index(each.name)
                _draw_course(axes, each, looks[each.name], _Dodge(place * apart, (len(looks) - 1) * apart))
        description = (
            "Lines of the mean score against progress, and the plan's score at their left. "
            + " ".join(map(_words, told))
        )
        svg = sheet.sheet.svg(name="discovery", title=_TITLE, description=description)
    caption = (
        "Mean score of the goals, 0 to 100: at the left, hollow, of the plan that the work began with; then of the "
        "code, from its first revision (0) to the end (1), a revision standing until the next. 95 % intervals, by "
        f"task, at the plan, 0, 0.5 and 1. n = {counts((each.trials for each in told), 'scored trial')} a line."
    )
    if any(each.is_defined for each in told):
        caption += " By checks the reference has 100 by definition: nobody scored it."
    if by := sorted({each.scores for each in told}):
        caption += f" Scores by {'; by '.join(by)}."
    return Figure("discovery", _TITLE, caption, svg, description)


@dataclass(frozen=True, slots=True)
class _Dodge:
    """By how much the intervals of one line are moved to the right, of the ``width`` that those of all lines take."""

    by: float
    width: float

    def at(self, index: int) -> float:
        """At a point of the grid: within it at both of its ends."""
        return self.by - self.width * index / (len(GRID) - 1)

    @property
    def middle(self) -> float:
        """To both sides of a place that has room."""
        return self.by - self.width / 2


def _anchors(courses: Sequence[Course]) -> AnchorMeans:
    """Means over the tasks of a panel, whichever of its agents have them; each task counts once."""
    return anchor_means({task: each for course in courses for task, each in course.anchors.items()})


def _frame(axes: Axes, scores: str) -> None:
    axes.set_xlim(_PLAN - 0.08, 1.02)
    axes.set_ylim(-2, 102)
    axes.set_xticks([_PLAN, 0, 0.25, 0.5, 0.75, 1], ["plan", "0", "", "0.5", "", "1"])
    axes.set_yticks(range(0, 101, 20))
    axes.set_xlabel("progress of the code")
    axes.set_ylabel(f"goals, by {scores}")
    axes.axvline(_PLAN / 2, color=INK, alpha=FAINT, linewidth=0.6)
    axes.grid(axis="y")


def _draw_anchor(axes: Axes, name: str, value: float | None) -> None:
    if value is None:
        return
    sample = _ANCHORS[name].sample
    assert isinstance(sample, Look)
    if name == "as_plan":
        axes.plot([_PLAN], [value], color=INK, marker=sample.marker, markersize=9, linestyle="")
    else:
        axes.plot([0, 1], [value, value], color=INK, linestyle=sample.dash, linewidth=0.8)


def _draw_course(axes: Axes, course: Course, sample: Look, dodge: _Dodge) -> None:
    known = [(x, found) for x, found in zip(GRID, course.points, strict=True) if found]
    axes.plot(
        [x for x, _ in known],
        [found.value for _, found in known],
        color=sample.colour,
        marker=sample.marker,
        linestyle=sample.dash,
        drawstyle="steps-post",
        markersize=3.2,
        clip_on=False,
    )
    for index in _ENDS:
        if found := course.points[index]:
            _draw_interval(axes, GRID[index] + dodge.at(index), found, sample)
    if course.plan:
        axes.plot(
            [_PLAN + dodge.middle],
            [course.plan.value],
            color=sample.colour,
            marker=sample.marker,
            markersize=4.5,
            markerfacecolor="none",
            clip_on=False,
        )
        _draw_interval(axes, _PLAN + dodge.middle, course.plan, sample)


def _draw_interval(axes: Axes, x: float, found: ScoreMean, sample: Look) -> None:
    if found.interval:
        ends = [found.interval.low, found.interval.high]
        axes.plot([x, x], ends, color=sample.colour, linewidth=0.7, alpha=0.6)


def _words(course: Course) -> str:
    first, half, end = (course.points[index] for index in _ENDS)
    told = [
        f"{what} {found.value:.1f}"
        for what, found in (("plan", course.plan), ("first code", first), ("half way", half), ("end", end))
        if found
    ]
    where = f"{course.name}, {label(course.panel, 80)}, by {label(course.scores, 80)}"
    return f"{where}: {', '.join(told)}."
