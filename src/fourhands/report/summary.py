"""What a reader is told first: headline, three tables for each agent, findings, trials and notes. No format yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from fourhands.analysis.costs import dollars
from fourhands.analysis.findings.conversations import label_table
from fourhands.analysis.headline import cautions, headline
from fourhands.analysis.study import Study
from fourhands.model.condition import Condition, ConditionName
from fourhands.report.composition import compositions
from fourhands.report.price_notes import cost_of, price_notes
from fourhands.report.rendering.records import records
from fourhands.report.table import Cell, Column, TableView
from fourhands.report.views import VIEWS, notes
from fourhands.report.views.conversations.notes import CONVERSATION_NOTES
from fourhands.report.views.conversations.turns import overall

__all__ = ["Section", "Summary", "summary"]

_OUTCOMES: Final = {
    "condition": "condition",
    "scored": "n",
    "resolve_rate": "resolved",
    "resolve_rate_low": "95 % CI",
    "delta": "Δ",
    "delta_low": "Δ 95 % CI",
    "p_holm": "p",
    "steps": "steps",
    "tokens": "tokens",
    "cost": "cost",
}
_DELIVERY: Final = {
    "condition": "condition",
    "intended": "intended",
    "would_have_triggered": "would",
    "triggered": "trig.",
    "delivered": "deliv.",
    "messages": "messages",
    "carried": "carried",
    "announced": "announced",
}
_AFTER: Final = {
    "condition": "condition",
    "interventions": "n",
    "written": "lines",
    "kept": "kept",
    "moved": "moved",
    "changed": "chg.",
    "removed": "gone",
    "re_read": "read",
    "tested": "test",
    "mentioned": "said",
    "asked": "ask",
}
_RATES_TOLD: Final = {
    "condition": "condition",
    "simulator": "user",
    "scored": "n",
    "at_will": "at will",
    "full": "full coverage",
    "full_low": "95 % CI",
    "cut": "untold",
    "lenient": "lenient",
    "strict": "strict",
}
_TALK: Final = {
    "condition": "condition",
    "simulator": "user",
    "told_at_will": "told at will",
    "told": "told",
    "said": "messages",
    "questions": "asked",
    "corrections": "corr.",
    "plan_score": "plan",
    "final_score": "final",
    "churn_overhead": "churn",
    "late_change_share": "late",
}
_LABELS: Final = {
    "condition": "condition",
    "simulator": "user",
    "failed": "failed",
    "missing": "missing",
    "forgotten": "forgotten",
    "regressed": "regression",
    "misread": "misread",
    "buggy": "bug",
    "undecided": "undecided",
    "missing_at_will": "missing at will",
}
_TURNS: Final = {
    "condition": "condition",
    "simulator": "user",
    "rate_single": "at once",
    "rate_at_will": "at will",
    "rate_multi": "end",
    "rate_ratio_at_will": "rate",
    "at_will_steps_ratio": "steps",
    "at_will_tokens_ratio": "tokens",
    "at_will_cost_ratio": "cost",
}
_JUDGED: Final = {
    "condition": "condition",
    "judge": "judge",
    "judged": "n",
    "judged_plan": "plan",
    "judged_final": "final",
    "final_score": "by checks",
    "unscored": "unscored",
}
_CONVERSATIONS_LEGEND: Final = (
    "at will: resolved when the agent first wanted to end; full coverage: in the end, of trials told everything;",
    "untold: scored trials that ended before that. strict: a broken working agreement is unresolved; lenient: not.",
    "told at will, told: share of the requirements said by then, and in the end; plan, final: score, 0 to 100;",
    "messages: of the user; asked: questions of the agent; corr.: messages that something told is not met; means.",
    "churn, late: medians of lines written beyond those left, and of the share written after the first revision.",
    "at once, end: the same tasks told at once and in conversation; ×: at will / at once, of the rate,",
    "and of steps, tokens and cost until the agent first wanted to end.",
)
_RATES_LEGEND: Final = "95 % CI: Wilson's, trials as independent."
_ADJUSTED: Final = (
    "p is adjusted by Holm's method; the family is all conditions of one agent and model against its vanilla. "
    "Unadjusted: --table conditions."
)
_LEGEND: Final = (
    "intended: trials in which the user was to act; would: vanilla trials in which that user would have acted.",
    "trig(gered), deliv(ered): trials in which the user acted, and in which it took place.",
    "messages: said by the user; carried: those that a request to the model held;",
    "announced: trials in which the agent's own client told its model of the user's edit.",
)
_AFTER_LEGEND: Final = (
    "n: interventions delivered. lines: that the user wrote, in the end kept, moved, changed, or gone.",
    "read, test, said, ask: interventions after which the agent read the place again, ran tests, spoke of it, asked.",
)
_CAUSED_LEGEND: Final = (
    "caused: failed trials, by removal + by replacement. Removal: resolved once the edit is out;",
    "replacement: resolved only once the reference stands in its place, and not with the edit beside it.",
)


@dataclass(frozen=True, slots=True)
class Section:
    """One agent with its model, and its tables; the first has no title of its own."""

    title: str
    tables: tuple[TableView, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Sentences and tables, in the order in which they are told.

    ``trials`` has a line for each; ``story`` is the run and the folder name of one that is worth telling.
    """

    headline: tuple[str, ...]
    sections: tuple[Section, ...]
    findings: tuple[str, ...]
    trials: tuple[str, ...]
    notes: tuple[str, ...]
    story: tuple[str, str] | None


def summary(study: Study) -> Summary:
    """What is told of a study."""
    conditions = VIEWS["conditions"](study)
    delivery, after, causal = (VIEWS[name](study) for name in ("delivery", "after", "causal"))
    rows = records(conditions) if conditions else []
    causes = records(causal) if causal else []
    if after:
        after = _with_causes(after, causes)
    told = {
        name: VIEWS[name](study)
        for name in ("conversations", "talk", "labels", "single-multi", "judged", "failures")
    }
    if told["single-multi"]:
        told["single-multi"] = overall(told["single-multi"])
    if not any(row.failed or row.at_will_failed for row in label_table(study)):
        told["labels"] = None
    agents = list(dict.fromkeys((row["agent"], row["model"]) for row in rows))
    failures = told["failures"]
    composed = {who: tuple(compositions(failures, who)) if failures else () for who in agents}
    if not any(composed.values()):
        told["failures"] = None
    # A user who talks does more than that table tells.
    deeds = "what the user edited" if told["conversations"] else "what the user did"
    return Summary(
        headline=tuple(headline(study)),
        sections=tuple(
            Section(
                f"{agent} · {model}",
                tuple(
                    found
                    for view, columns, title in (
                        (conditions, _OUTCOMES, ""),
                        (told["conversations"], _RATES_TOLD, "conversations"),
                        (told["talk"], _TALK, "how they went"),
                        (told["labels"], _LABELS, "why they failed"),
                        (told["single-multi"], _TURNS, "told at once → in conversation"),
                        (told["judged"], _JUDGED, "as judges read it"),
                        (delivery, _DELIVERY, deeds),
                        (after, _AFTER | _caused_column(after), "after the user's interventions"),
                    )
                    if view and (found := _part(view, (agent, model), columns, title)).rows
                )
                + composed[agent, model],
            )
            for agent, model in agents
        ),
        findings=tuple(_findings(rows, causes, records(talks) if (talks := told["conversations"]) else ())),
        trials=tuple(_trial(row) for row in study.tables.trials.iter_rows(named=True)),
        notes=tuple(_notes(study, conditions, after, causes, told | {"delivery": delivery})),
        story=_story(study),
    )


_CAUSED: Final = Column("caused", "caused")


def _caused_column(after: TableView | None) -> dict[str, str]:
    return {"caused": "caused"} if after and _CAUSED in after.columns else {}


def _with_causes(after: TableView, causes: Sequence[Mapping[str, Any]]) -> TableView:
    """The table with what execution says of the failures beside it."""
    if not causes:
        return after
    told = {(row["agent"], row["model"], row["condition"]): _caused(row) for row in causes}
    rows = tuple(
        (*cells, Cell(told.get((cells[0].value, cells[1].value, cells[2].value), ""))) for cells in after.rows
    )
    return replace(after, columns=(*after.columns, _CAUSED), rows=rows)


def _caused(row: Mapping[str, Any]) -> str:
    failed, waiting = row["failed_touched"], row["not_ablated"]
    if waiting == failed:
        return f"? of {failed}"
    text = f"{row['by_removal']}+{row['by_replacement']} of {failed}"
    return f"{text}, {waiting} ?" if waiting else text


def _part(view: TableView, agent: tuple[Any, Any], columns: Mapping[str, str], title: str) -> TableView:
    """The rows of one agent, and some of the columns under short titles."""
    at = {column.name: i for i, column in enumerate(view.columns)}
    chosen = [at[name] for name in columns]
    return TableView(
        name=view.name,
        title=title,
        columns=tuple(replace(view.columns[at[name]], title=short) for name, short in columns.items()),
        rows=tuple(
            tuple(cells[i] for i in chosen)
            for cells in view.rows
            if (cells[at["agent"]].value, cells[at["model"]].value) == agent
        ),
    )


def _arm(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["agent"], row["model"], row["condition"]


def _findings(
    rows: Sequence[Mapping[str, Any]], causes: Sequence[Mapping[str, Any]], talks: Sequence[Mapping[str, Any]]
) -> Iterable[str]:
    """The comparison in words: each condition beside vanilla, and what execution says of the failures."""
    at_will = {
        _arm(row): f"; {row['at_will_resolved']} of {row['at_will_trials']} when it first wanted to end"
        for row in talks
        if row["at_will_trials"]
    }
    alone = {(row["agent"], row["model"], row["condition"]): row for row in rows}
    for row in rows:
        condition = Condition.parse(row["condition"])
        first, then = ConditionName.SINGLE_TURN, ConditionName.VANILLA
        baselines = (
            () if condition.name in {first, then} else (first, then) if condition.talks else (then, first)
        )
        told = (alone.get((row["agent"], row["model"], baseline)) for baseline in baselines)
        before = next(filter(None, told), None)
        if before is not None and row["scored"]:
            yield (
                f"{row['model']}: {row['resolved']} of {row['scored']} resolved under {row['condition']}, "
                f"{before['resolved']} of {before['scored']} left alone{at_will.get(_arm(row), '')}."
            )
    for row in causes:
        if looked_at := row["failed_touched"] - row["not_ablated"]:
            yield (
                f"{row['model']}: {row['by_removal']} of {looked_at} failures under {row['condition']} "
                "are resolved once the user's edit is out."
            )


def _trial(row: Mapping[str, Any]) -> str:
    if row["applicable"] is False:
        return f"{row['trial']}: not applicable: {row['why'] or 'the task has not what its condition needs'}"
    if row["termination"] is None:
        return f"{row['trial']}: not run"
    parts = [f"{row['verdict']} ({row['termination']})"]
    parts[0] += "" if row["steps"] is None else f", {row['steps']} steps"
    if row["why"]:
        parts.append(row["why"])
    cost = cost_of(row["cost"], row["cost_at_least"])
    if cost.known:
        parts[-1] += f", {dollars(cost)}"
    if row["triggered"]:
        user = f"user: triggered {_times(row['triggered'])}, delivered {_times(row['delivered'])}"
        user += f", edit there already {_times(row['already_present'])}" if row["already_present"] else ""
        user += f", edit did not fit {_times(row['not_applied'])}" if row["not_applied"] else ""
        parts += [user, f"user lines at the end: {row['user_lines_at_end']}"]
    if row["said"] is not None:
        parts += _talk(row)
    return f"{row['trial']}: {'; '.join(parts)}"


def _talk(row: Mapping[str, Any]) -> Iterable[str]:
    """What a talking user told, and what was not told or not met."""
    asked_for = len(row["requirements"])
    yield f"told {asked_for - len(row['held'])} of {asked_for} requirements in {_many(row['said'], 'message')}"
    if row["held_at_will"] and row["held_at_will"] != row["held"]:
        yield f"untold when it first wanted to end ({row['at_will']}): {', '.join(row['held_at_will'])}"
    for name in ("held", "forgotten", "regressed", "misread", "buggy", "undecided"):
        if row[name]:
            yield f"{'never told' if name == 'held' else name}: {', '.join(row[name])}"
    if row["slips"]:
        yield f"agreement broken: {', '.join(row['slips'])}"


def _many(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def _notes(
    study: Study,
    conditions: TableView | None,
    after: TableView | None,
    causes: Sequence[Mapping[str, Any]],
    shown: Mapping[str, TableView | None],
) -> Iterable[str]:
    """The legend of what is shown, then what a reader must know."""
    if conditions:
        yield _RATES_LEGEND
        # The first table has the adjusted p alone, under the short title.
        yield from (_ADJUSTED if note == notes.HOLM else note for note in conditions.notes)
    if shown["delivery"]:
        yield from _LEGEND
    if shown["conversations"]:
        yield from _CONVERSATIONS_LEGEND
        below = (note for view in shown.values() if view for note in view.notes)
        yield from dict.fromkeys(note for note in below if note in CONVERSATION_NOTES)
    by_judges = [shown[name] for name in ("judged", "failures")]
    yield from dict.fromkeys(note for view in by_judges if view for note in view.notes)
    if after:
        yield from _AFTER_LEGEND
    if causes:
        yield from _CAUSED_LEGEND
    if any(row["not_ablated"] for row in causes):
        yield "?: not looked at yet; fourhands ablate does it."
    yield from cautions(study)
    yield from price_notes(study)
    yield from (f"left out: {each}" for each in study.skipped)


def _story(study: Study) -> tuple[str, str] | None:
    """A trial that can be shown: of those of our own runs the first with the most interventions."""
    own = {run.run for run in study.runs if run.kind == "run"}
    columns = study.tables.trials.select("run", "trial", "delivered").iter_rows()
    found = [(run, trial, delivered or 0) for run, trial, delivered in columns if run in own]
    return max(found, key=lambda each: each[2])[:2] if found else None
