"""What agents do after the user's last edit: files read, files edited, tests run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from fourhands.analysis.findings.after import after_table
from fourhands.analysis.study import Study
from fourhands.report.figures.figure import Figure
from fourhands.report.figures.labels import counts, label, names
from fourhands.report.figures.rows import Rows
from fourhands.report.figures.sheet import Entry, Sheet, bar, key_height
from fourhands.report.figures.style import BLUE, HATCHES, MUTED, ORANGE, PAGE, SKY, Fill, styled

__all__ = ["After", "draw", "of_study"]

_TITLE: Final = "What agents do after the user's last edit"
_PITCH: Final = 0.46
_BAR: Final = 0.125
_COUNT: Final = 0.55
_AXIS: Final = 0.42
FILLS: Final = (
    ("reads", Fill(BLUE, "")),
    ("edits", Fill(ORANGE, HATCHES[1])),
    ("tests", Fill(SKY, HATCHES[3])),
)


@dataclass(frozen=True, slots=True)
class After:
    """Means per trial of the actions after the last delivered edit, over so many trials; None is not told."""

    name: str
    condition: str
    reads: float | None
    edits: float | None
    tests: float | None
    trials: int

    @property
    def means(self) -> tuple[float | None, float | None, float | None]:
        """In the order of the key."""
        return self.reads, self.edits, self.tests


def of_study(study: Study) -> Figure | None:
    """Of every agent under every condition whose user edits."""
    table = after_table(study)
    shown = names((row.agent, row.model) for row in table)
    return draw(
        [
            After(
                shown[row.agent, row.model],
                row.condition,
                row.reads_after_final_edit,
                row.edits_after_final_edit,
                row.tests_after_final_edit,
                row.edited,
            )
            for row in table
        ]
    )


def draw(rows: Sequence[After]) -> Figure | None:
    """Three bars a row; None where no edit was delivered."""
    told = [row for row in rows if row.trials]
    if not told:
        return None
    entries = [Entry(words, fill) for words, fill in FILLS]
    with styled():
        lines = Rows.of(told, _PITCH)
        top = key_height(entries, PAGE) + 0.1
        sheet = Sheet(PAGE, top + lines.height + _AXIS)
        sheet.key(entries, 0.05, 0, PAGE)
        lines.write(sheet, top)
        panel = sheet.panel(lines.margin, top, PAGE - lines.margin - _COUNT, lines.height)
        longest = max((mean for row in told for mean in row.means if mean), default=1.0)
        panel.set_xlim(0, 1.1 * longest)
        panel.set_ylim(lines.height, 0)
        panel.set_yticks([])
        panel.grid(axis="x")
        panel.set_xlabel("mean actions a trial")
        for at, row in lines.placed:
            for place, ((_, fill), mean) in enumerate(zip(FILLS, row.means, strict=True)):
                if mean is None:
                    continue
                y = at + (place - 1) * _BAR
                bar(panel, fill, y=y, length=mean, height=0.9 * _BAR)
                panel.text(mean + 0.008 * longest, y, f" {mean:.1f}", va="center_baseline", fontsize=6.5)
            sheet.text(PAGE - 0.02, top + at, f"n = {row.trials:,}", align="right", alpha=MUTED)
        description = "Grouped bars of mean actions after the last edit. " + " ".join(map(_words, told))
        svg = sheet.svg(name="after-edit", title=_TITLE, description=description)
    caption = (
        "Mean number of actions after the last edit of the user that was delivered: those that read a file, changes "
        f"of files, and those that ran tests. n = {counts((row.trials for row in told), 'trial')} with a delivered "
        "edit a row."
    )
    return Figure("after-edit", _TITLE, caption, svg, description)


def _words(row: After) -> str:
    told = [
        f"{mean:.1f} {what}" for (what, _), mean in zip(FILLS, row.means, strict=True) if mean is not None
    ]
    return f"{row.name}, {label(row.condition)}: {', '.join(told)}."
