"""The results of a run as a table in the terminal and as ``report.md``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fourhands.analysis.aftermath import Aftermath, AftermathRow, aftermath_table
from fourhands.analysis.costs import dollars
from fourhands.analysis.table import ConditionRow, condition_table
from fourhands.analysis.trials import TrialRow
from fourhands.model.condition import ConditionName
from fourhands.model.outcome import Termination
from fourhands.model.price import Cost, PriceTable
from fourhands.model.trial import RECORDED, SCRIPTED
from fourhands.trajectories.run_folder import RunFolder

__all__ = ["markdown_report", "plain_table", "print_report"]

_HEADERS = ("condition", "n", "resolved", "95 % CI", "Δ", "steps", "tokens", "cost")
_DELIVERED_TITLE = "what the user did"
_DELIVERED = (
    *("condition", "intended", "would", "trig.", "deliv."),
    *("messages", "carried", "announced"),
)
_AFTER_TITLE = "after the user's interventions"
_AFTER = (
    *("condition", "n", "lines", "kept", "moved", "chg.", "gone"),
    *("read", "test", "said", "ask", "caused"),
)
_STAND_INS = (
    (
        SCRIPTED,
        "scripted models. They follow a playbook; their numbers measure this product, not a model.",
    ),
    (
        RECORDED,
        "recorded actions, repeated whatever is said to them: no measurement of a live model.",
    ),
)


@dataclass(frozen=True, slots=True)
class _Report:
    """All that is told, computed once: each trial, and the tables of conditions and of what followed."""

    prices: PriceTable
    rows: Sequence[TrialRow]
    conditions: Sequence[ConditionRow]
    afterwards: Sequence[AftermathRow]

    @classmethod
    def of(cls, trials: Sequence[tuple[TrialRow, Aftermath]], prices: PriceTable) -> Self:
        rows = [row for row, _ in trials]
        return cls(prices, rows, condition_table(rows), aftermath_table(after for _, after in trials))


def print_report(
    folder: RunFolder, trials: Sequence[tuple[TrialRow, Aftermath]], prices: PriceTable, console: Console
) -> None:
    """Print the tables, each trial's outcome, and what a reader must know."""
    report = _Report.of(trials, prices)
    for agent, tables in _by_agent(report):
        for title, headers, lines in tables:
            console.print(plain_table(title or agent, headers, lines))
    console.print()
    for line in _findings(report):
        console.print(line, markup=False, soft_wrap=True)
    console.print()
    for line in _trials(report.rows):
        console.print(line, markup=False, soft_wrap=True)
    console.print()
    for note in _notes(report):
        console.print(f"· {note}", markup=False, soft_wrap=True)
    shown = max(report.rows, key=lambda row: row.delivered).key.slug
    console.print(
        f"\nRun: {folder.path}\nA trial's story: fourhands show {folder.path}/trials/{shown}",
        markup=False,
        soft_wrap=True,
    )


def plain_table(title: str, headers: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    """A table for the terminal: the first column to the left, numbers to the right.

    Where it is too wide the first column is folded, so that no number is cut.

    Cells and title are text as it is: a condition's label has brackets, which are no markup.
    """
    table = Table(
        title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=(0, 0)
    )
    table.add_column(headers[0], overflow="fold")
    for header in headers[1:]:
        table.add_column(header, justify="right", no_wrap=True)
    for cells in lines:
        table.add_row(*map(Text, cells))
    return table


def markdown_report(
    folder: RunFolder, trials: Sequence[tuple[TrialRow, Aftermath]], prices: PriceTable
) -> str:
    """The same as Markdown; equal runs give equal text."""
    report = _Report.of(trials, prices)
    parts = [f"# Run {folder.path.name}\n"]
    for agent, tables in _by_agent(report):
        parts.append(f"## {agent}\n")
        for title, headers, lines in tables:
            if title:
                parts.append(f"### {title[0].upper()}{title[1:]}\n")
            body = [headers, ["---"] * len(headers), *lines]
            parts.append("\n".join(f"| {' | '.join(line)} |" for line in body) + "\n")
    if findings := _findings(report):
        parts.append("\n".join(f"- {line}" for line in findings) + "\n")
    parts.append("## Trials\n\n" + "\n".join(f"- {line.strip()}" for line in _trials(report.rows)) + "\n")
    parts.append("## Notes\n\n" + "\n".join(f"- {note}" for note in _notes(report)) + "\n")
    return "\n".join(parts)


_Cells = tuple[str, Sequence[str], list[list[str]]]


def _by_agent(report: _Report) -> list[tuple[str, list[_Cells]]]:
    """Per agent and model its tables: title (none for the first), headers, and lines of cells."""
    outcomes: dict[str, list[list[str]]] = defaultdict(list)
    delivered: dict[str, list[list[str]]] = defaultdict(list)
    afterwards: dict[str, list[list[str]]] = defaultdict(list)
    for row in report.conditions:
        outcomes[f"{row.agent} · {row.model}"].append(_cells(row))
        delivered[f"{row.agent} · {row.model}"].append(_delivered_cells(row))
    for after in report.afterwards:
        afterwards[f"{after.agent} · {after.model}"].append(_after_cells(after))
    return [
        (
            agent,
            [
                ("", _HEADERS, lines),
                (_DELIVERED_TITLE, _DELIVERED, delivered[agent]),
                *([(_AFTER_TITLE, _AFTER, afterwards[agent])] if agent in afterwards else []),
            ],
        )
        for agent, lines in outcomes.items()
    ]


def _delivered_cells(row: ConditionRow) -> list[str]:
    would = "–" if row.would_have_triggered is None else str(row.would_have_triggered)
    if row.condition == ConditionName.VANILLA:
        return [row.condition, "", would, *[""] * 5]
    counts = (row.triggered, row.delivered, row.messages, row.messages - row.never_carried, row.announced)
    return [row.condition, str(row.intended), would, *map(str, counts)]


def _after_cells(row: AftermathRow) -> list[str]:
    caused = f"{row.by_removal}+{row.by_replacement} of {row.failed_touched}" if row.failed_touched else ""
    if row.not_ablated:
        caused = (
            f"? of {row.failed_touched}"
            if row.not_ablated == row.failed_touched
            else f"{caused}, {row.not_ablated} ?"
        )
    counts = (row.interventions, row.written, row.kept, row.moved, row.changed, row.removed)
    answers = (row.re_read, row.tested, row.mentioned, row.asked)
    return [row.condition, *map(str, counts), *map(str, answers), caused]


def _cells(row: ConditionRow) -> list[str]:
    vanilla = row.condition == ConditionName.VANILLA
    interval = "–"
    if row.resolve_rate_low is not None and row.resolve_rate_high is not None:
        interval = f"{row.resolve_rate_low * 100:.0f}–{row.resolve_rate_high:.0%}"
    delta = "" if vanilla else "–" if row.delta is None else f"{row.delta * 100:+.1f}"
    if row.incomplete_pairs:
        delta += "*"
    return [
        row.condition,
        f"{row.scored}" if row.scored == row.trials else f"{row.scored} of {row.trials}",
        "–" if row.resolve_rate is None else f"{row.resolved} = {row.resolve_rate:.0%}",
        interval,
        delta,
        "–" if row.steps is None else f"{row.steps:.1f}",
        "–" if row.tokens is None else f"{'≥ ' * (row.uncounted_replies > 0)}{row.tokens:,.0f}",
        "–" if row.cost is None else dollars(row.cost),
    ]


def _trials(rows: Sequence[TrialRow]) -> list[str]:
    lines = []
    for row in rows:
        if not row.applicable:
            state = "not applicable: the task's record has no such edit"
        elif row.outcome is None:
            state = "not run"
        else:
            state = f"{row.outcome.verdict} ({row.outcome.termination}), {row.steps} steps"
            state += f"; {row.why}" if row.why else ""
            state += f", {dollars(row.cost.agent)}" if row.cost.agent.known else ""
            if row.triggered:
                state += f"; user: triggered {_times(row.triggered)}, delivered {_times(row.delivered)}"
                state += f", edit there already {_times(row.already_present)}" if row.already_present else ""
                state += f", edit did not fit {_times(row.not_applied)}" if row.not_applied else ""
                state += f"; user lines at the end: {row.user_lines_at_end}"
        lines.append(f"  {row.key.slug}: {state}")
    return lines


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _findings(report: _Report) -> list[str]:
    """The comparison in words: each condition beside vanilla, and what execution says of the failures."""
    vanilla = {(r.agent, r.model): r for r in report.conditions if r.condition == ConditionName.VANILLA}
    compared = [
        f"{row.model}: {row.resolved} of {row.scored} resolved under {row.condition}, "
        f"{before.resolved} of {before.scored} left alone."
        for row in report.conditions
        if (before := vanilla.get((row.agent, row.model))) is not None and row is not before and row.scored
    ]
    caused = [
        f"{row.model}: {row.by_removal} of {row.failed_touched} failures under {row.condition} are resolved once the "
        "user's edit is out."
        for row in report.afterwards
        if row.failed_touched > row.not_ablated
    ]
    return compared + caused


def _notes(report: _Report) -> list[str]:
    rows = report.rows
    notes = [
        "Δ: mean over tasks of the difference to vanilla, in percentage points; tasks scored under both only.",
        "95 % CI: Wilson, trials as independent.",
        "intended: trials in which the user was to act. would: vanilla trials in which that user would have acted.",
        "trig(gered), deliv(ered): trials in which the user acted, and in which it took place.",
        "messages: said by the user; carried: those that a request to the model held.",
        "announced: trials in which the agent's own client told its model of the user's edit.",
    ]
    if report.afterwards:
        notes += [
            "n: interventions delivered. lines: that the user wrote, in the end kept, moved, changed, or gone.",
            "read, test: interventions after which the agent read the place again, ran tests;",
            "said, ask: after which it spoke of the change, asked the user something.",
            "caused: failed trials, by removal + by replacement. Removal: resolved once the edit is out;",
            "replacement: resolved only once the reference stands in its place, and not with the edit beside it.",
        ]
    if any(row.not_ablated for row in report.afterwards):
        notes.append("?: not looked at yet; fourhands ablate does it.")
    if not any(row.key.condition.name is ConditionName.VANILLA for row in rows):
        notes.append("–: vanilla was not run, so there is nothing to compare with.")
    models = {row.key.agent.model for row in rows}
    for prefix, says in _STAND_INS:
        if names := sorted(model for model in models if model.startswith(prefix)):
            notes.append(f"{', '.join(names)}: {says}")
    if any(row.incomplete_pairs for row in report.conditions):
        notes.append("*: tasks without an outcome that counts on one side are left out of Δ.")
    if any(row.uncounted_replies for row in rows):
        notes.append("≥: the provider did not tell the tokens of every reply; what it told is a lower bound.")
    if cut := sum(row.outcome is not None and row.outcome.termination is Termination.BUDGET for row in rows):
        notes.append(
            f"budget: {cut} of {len(rows)} trials ended with the run's money, and are scored as they stood."
        )
    notes += _cost_notes(report)
    notes += [
        f"{row.model}, {row.condition}: {row.fallback_messages} of {row.messages} messages were said in fixed words: "
        "the user's model failed, or what it wrote was refused; fourhands show tells why."
        for row in report.conditions
        if row.fallback_messages
    ]
    notes += [
        f"{row.model}, {row.condition}: {row.never_carried} of {row.messages} messages never reached the model: "
        "the agent ended first, or its history lost their place."
        for row in report.conditions
        if row.never_carried
    ]
    notes += [
        f"{row.model}, {row.condition}: with protocol failures as unresolved, {row.resolve_rate_strict:.1%}"
        for row in report.conditions
        if row.resolve_rate_strict is not None and row.resolve_rate_strict != row.resolve_rate
    ]
    if any(row.applicable and not row.is_scored for row in rows):
        notes.append(
            "Trials without an outcome that counts are not scored; fourhands run --out RUN runs them again."
        )
    return notes


def _cost_notes(report: _Report) -> list[str]:
    """Where the prices are from, what is unknown, and what the whole run cost."""
    costs = [row.cost for row in report.rows]
    asked = sorted({name for cost in costs for name in cost.models})
    priced = {name: price for name in asked if (price := report.prices.price_of(name)) is not None}
    notes = []
    if priced:
        how = ", cached input at the input price" if report.prices.cached_as_input else ""
        dates = ", ".join(f"{name} {price.date}" for name, price in priced.items())
        agents = sum((cost.agent for cost in costs), Cost())
        users = sum((cost.user for cost in costs), Cost())
        total = f"{dollars(agents)} for the agents of all trials"
        if not users.is_whole or users.known:
            total += f", and {dollars(users)} for the user's own model"
        notes.append(f"cost: by {report.prices.name} ({dates}){how}; {total}.")
        notes += [f"{name}: {price.note}." for name, price in priced.items() if price.note]
    real = [name for name in asked if not name.startswith((SCRIPTED, RECORDED))]
    if unknown := [name for name in real if name not in priced]:
        notes.append(
            f"unknown: {report.prices.name} has no price for {', '.join(unknown)}; --prices takes another table."
        )
    if any(not cost.agent.is_whole and cost.agent.known for cost in costs):
        notes.append("≥ before a cost: a part has no known price, or its tokens were not told.")
    return notes
