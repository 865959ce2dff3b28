"""A `Summary` in the terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.console import Console

from fourhands.report.rendering.markdown import inline, pipe_table
from fourhands.report.rendering.shown import shown_rows
from fourhands.report.rendering.terminal import Terminal
from fourhands.report.summary import Summary
from fourhands.report.text import visible

__all__ = ["print_summary", "summary_markdown"]

_MOST_TRIALS: Final = 60
"""Trials that a terminal lists; of more, the tables tell."""
_MOST_NOTES: Final = 60


def print_summary(summary: Summary, paths: Mapping[str, str], console: Console) -> None:
    """Print all of it, and where it is.

    Args:
        summary: what is told.
        paths: of each run, by its id, as its reader wrote it.
        console: where to.
    """

    def say(*lines: str) -> None:
        for line in lines:
            console.print(visible(line), markup=False, soft_wrap=True)

    say(*summary.headline, "")
    for section in summary.sections:
        for number, view in enumerate(section.tables):
            console.print(Terminal(view, section.title if number == 0 else view.title))
    say("", *summary.findings, *[""] * bool(summary.findings))
    say(*_first([f"  {line}" for line in summary.trials], _MOST_TRIALS, "  ", "--table trials"), "")
    say(*_first([f"· {note}" for note in summary.notes], _MOST_NOTES, "· ", "--format json"), "")
    say(*(f"Run: {path}" for path in paths.values()))
    if summary.story:
        run, trial = summary.story
        say(f"A trial's story: fourhands show {paths[run]}/trials/{trial}")
    say(f"All of it on a page: fourhands report {' '.join(paths.values())}")


def _first(lines: list[str], most: int, mark: str, option: str) -> list[str]:
    """At most so many lines, and how to get the others."""
    hidden = len(lines) - most
    more = [f"{mark}… and {hidden:,} more: fourhands results RUN {option}"] if hidden > 0 else []
    return lines[:most] + more


def summary_markdown(summary: Summary, title: str) -> str:
    """The same as Markdown; equal runs give equal text."""
    parts = [f"# {inline(title)}\n", "".join(f"{inline(each)}\n" for each in summary.headline)]
    for section in summary.sections:
        parts.append(f"## {inline(section.title)}\n")
        for view in section.tables:
            if view.title:
                parts.append(f"### {inline(view.title[0].upper() + view.title[1:])}\n")
            columns = view.columns
            parts.append(
                pipe_table([c.title for c in columns], [c.numeric for c in columns], shown_rows(view))
            )
    parts += [
        "".join(f"- {inline(line)}\n" for line in summary.findings),
        "## Trials\n",
        "".join(f"- {inline(line)}\n" for line in summary.trials),
        "## Notes\n",
        "".join(f"- {inline(note)}\n" for note in summary.notes),
    ]
    return "\n".join(part for part in parts if part)
