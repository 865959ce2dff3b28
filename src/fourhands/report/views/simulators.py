"""The simulator card: how fairly the talking user was played, and whether it would be played so again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fourhands.analysis.findings.simulators import (
    LEAST_KAPPA,
    MOST,
    Counts,
    SimulatorPairRow,
    SimulatorRow,
    simulator_pair_table,
    simulator_table,
)
from fourhands.analysis.study import Study
from fourhands.model.agreement import Estimate
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, field, table
from fourhands.report.views.numbers import UNKNOWN, count, dollars, mean, percent, word

__all__ = ["FIELDS", "PAIR_FIELDS", "simulator_pairs", "simulators"]

_MARK: Final = "⚠"


def _counts(name: str, title: str, of: Callable[[SimulatorRow], Counts], what: str) -> Field[SimulatorRow]:
    def told(row: SimulatorRow) -> Cell:
        found = of(row)
        return Cell(f"{found.out} ({found.blocked})", found.out, (found.blocked,))

    return field(
        name,
        title,
        told,
        f"{what}: messages that went out; and wordings held back",
        more=(f"{name}_blocked",),
    )


def _over(over: tuple[str, ...]) -> Cell:
    words = "; ".join(over)
    return Cell(f"{_MARK} {words}", words) if over else Cell("", None)


def _estimate(found: Estimate | None) -> Cell:
    if found is None:
        return Cell(UNKNOWN)
    known = found.low is not None and found.high is not None
    between = f" ({found.low:.2f} to {found.high:.2f})" if known else ""
    return Cell(f"{found.value:.2f}{between}".replace("-", "−"), found.value, (found.low, found.high))


FIELDS: Final[tuple[Field[SimulatorRow], ...]] = (
    field("run", "run", lambda row: word(row.run), "the run", numeric=False, detail=True),
    field("simulator", "user", lambda row: word(row.simulator), "the model that plays it", numeric=False),
    field("persona", "persona", lambda row: word(row.persona), "how it speaks", numeric=False),
    field(
        "disclosure",
        "decides",
        lambda row: word(row.disclosure),
        "who decides what is said: `ledger` (our code) or `prompt` (the model alone)",
        numeric=False,
    ),
    field(
        "coverage",
        "coverage",
        lambda row: word(row.coverage),
        "whether what was held is said in the end",
        numeric=False,
    ),
    field("trials", "n", lambda row: count(row.trials), "conversations that came to an end"),
    field("said", "messages", lambda row: count(row.said), "of the user, in all"),
    _counts(
        "leaks",
        "leaks",
        lambda row: row.leaks,
        "words of the tests, the reference or the benchmark, and of a user who obeys or speaks as the agent",
    ),
    _counts(
        "early",
        "early",
        lambda row: row.early,
        "words of a requirement whose time has not come",
    ),
    field(
        "out_of_order",
        "out of order",
        lambda row: count(row.out_of_order),
        "requirements said in an earlier turn than one that they depend on",
    ),
    _counts("invented", "invented", lambda row: row.invented, "names and numbers that nothing has"),
    _counts("unsaid", "unsaid", lambda row: row.unsaid, "words that do not say what they were to say"),
    _counts("approved", "approves", lambda row: row.approved, "words of approval where nothing shows it"),
    field(
        "told_at_will",
        "told at will",
        lambda row: percent(row.told_at_will),
        "mean share of the requirements that were said when the agent first wanted to end",
    ),
    field("told", "told", lambda row: percent(row.told), "the same in the end"),
    field(
        "covered",
        "covered",
        lambda row: percent(row.covered),
        "share of the finished conversations in which everything was said; at full coverage only",
    ),
    field(
        "refused", "refused", lambda row: count(row.refused), "wordings that were held back, for any reason"
    ),
    field(
        "fallbacks",
        "fixed",
        lambda row: count(row.fallbacks),
        "messages in fixed words in place of a model's",
    ),
    field(
        "unheard", "no reply", lambda row: count(row.unheard), "requests to the user's model without words"
    ),
    field(
        "user_cost",
        "cost",
        lambda row: dollars(row.cost),
        "US dollars of the user's model, mean a trial",
        more=("user_cost_at_least",),
    ),
    field("over", "marked", lambda row: _over(row.over), "what is over its threshold", numeric=False),
)

PAIR_FIELDS: Final[tuple[Field[SimulatorPairRow], ...]] = (
    field("kind", "pairs of", lambda row: word(row.kind), "two simulators, or one again", numeric=False),
    field("one", "user", lambda row: word(row.one), "the first", numeric=False),
    field("other", "other", lambda row: word(row.other), "the second", numeric=False),
    field("persona", "persona", lambda row: word(row.persona), "of both", numeric=False),
    field("disclosure", "decides", lambda row: word(row.disclosure), "who decides, of both", numeric=False),
    field(
        "pairs",
        "pairs",
        lambda row: count(row.pairs),
        "of the same task, agent, model and repeat; or repeats",
    ),
    field("tasks", "tasks", lambda row: count(row.tasks), "that they are of"),
    field(
        "same_verdict",
        "same verdict",
        lambda row: percent(row.same_verdict),
        "share with equal final verdicts",
    ),
    field(
        "kappa",
        "κ",
        lambda row: _estimate(row.kappa),
        "Cohen's of the verdicts, with its 95 % interval",
        more=("kappa_low", "kappa_high"),
    ),
    field(
        "told",
        "said alike",
        lambda row: percent(row.told),
        "of what either said when the agent first wanted to end, mean share that both did (Jaccard)",
    ),
    field(
        "order",
        "order",
        lambda row: mean(row.order, 2),
        "mean of Kendall's τ-b of the turns in which both said it",
    ),
    field(
        "messages",
        "messages",
        lambda row: Cell(
            " / ".join(mean(each).text for each in row.messages), row.messages[0], (row.messages[1],)
        ),
        "means of the first; and of the second",
        more=("messages_other",),
    ),
    field(
        "identical",
        "identical",
        lambda row: percent(row.identical),
        "share in which the same was said in the same turns, to the same verdict",
    ),
    field("over", "marked", lambda row: _over(row.over), "what is over its threshold", numeric=False),
)


def simulators(study: Study) -> TableView | None:
    """Of each run, simulator and persona."""
    notes = [
        "leaks, early, invented, unsaid, approves: messages that went out with it, in brackets wordings held back.",
        "Marked from: "
        + ", ".join(f"{name} more than {most:.0%} of messages" for name, most in MOST.items())
        + "; anything unsaid in a finished conversation at full coverage.",
    ]
    return table("simulators", "The simulator card", simulator_table(study), FIELDS, notes=notes, group=0)


def simulator_pairs(study: Study) -> TableView | None:
    """Two simulators side by side, and one with itself."""
    notes = [
        f"Marked: all of κ's interval below {LEAST_KAPPA}; less than 90 % of what was said is the same again."
    ]
    return table(
        "simulator-pairs",
        "Two simulators, and one again",
        simulator_pair_table(study),
        PAIR_FIELDS,
        notes=notes,
        group=1,
    )
