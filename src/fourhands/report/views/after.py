"""After the user's interventions: their lines, and what the agent did."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.findings.after import AfterRow, Revision, after_table
from fourhands.analysis.responses import ResponseMode
from fourhands.analysis.study import Study
from fourhands.report.table import Cell, TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.numbers import UNKNOWN, count, interval_of, mean

__all__ = ["FIELDS", "after"]

_EVIDENCE = (
    "Lines are evidence, not a verdict: one that stands may be dead, one that is gone may be obeyed. What caused a "
    "failure is decided by execution."
)


def _revised(found: Revision) -> Cell:
    text = f"{found.revised} of {found.trials}" if found.trials else UNKNOWN
    return Cell(
        text,
        found.rate,
        (
            found.revised,
            found.trials,
        ),
    )


def _absent(found: Revision) -> Cell:
    text = f"{found.absent} of {found.trials}" if found.trials else UNKNOWN
    return Cell(text, found.absent / found.trials if found.trials else None, (found.absent,))


def _mode(mode: ResponseMode) -> Field[AfterRow]:
    title = mode.value.replace("_", " ")
    return field(
        f"mode_{mode.value}",
        title,
        lambda row: count(row.modes.get(mode.value, 0)),
        f"interventions whose first response was: {title}",
    )


FIELDS: Final[tuple[Field[AfterRow], ...]] = (
    *agent_fields(AfterRow),
    field(
        "interventions",
        "n",
        lambda row: Cell(f"{row.interventions:,}", row.interventions, (row.trials,)),
        "interventions delivered: edits, and words alone",
        more=("trials",),
    ),
    field("written", "lines", lambda row: count(row.written), "lines that the user wrote"),
    field("kept", "kept", lambda row: count(row.kept), "that stand as they were, where they were"),
    field("moved", "moved", lambda row: count(row.moved), "that stand elsewhere"),
    field("changed", "changed", lambda row: count(row.changed), "in whose place something alike stands"),
    field("removed", "gone", lambda row: count(row.removed), "in whose place nothing alike stands"),
    field(
        "ever_revised",
        "revised",
        lambda row: count(row.ever_revised),
        "lines that the agent changed or removed at some time",
    ),
    field(
        "absent_at_end",
        "absent",
        lambda row: count(row.absent_at_end),
        "lines that no line of the final state is any more",
    ),
    field("taken_out", "taken out", lambda row: count(row.taken_out), "lines that the user took out"),
    field(
        "put_back",
        "put back",
        lambda row: Cell(f"{row.put_back:,}", row.put_back, (row.ever_put_back,)),
        "lines of them that the agent has put back, and that stand in the end",
        more=("ever_put_back",),
    ),
    field(
        "revised_rate",
        "trials revised",
        lambda row: _revised(row.revision),
        "trials in which the agent changed or removed a line of the user, or put one back that they had taken out",
        more=("revised_trials", "revised_of"),
    ),
    field(
        "revised_low",
        "95 % CI",
        lambda row: interval_of(row.revision.interval),
        "Wilson's interval of that share",
        more=("revised_high",),
    ),
    field(
        "absent_rate",
        "trials undone",
        lambda row: _absent(row.revision),
        "trials in whose final state nothing of the user's edit stands",
        more=("absent_trials",),
    ),
    field(
        "failed_revised_rate",
        "failed, revised",
        lambda row: _revised(row.revision_of_failed),
        "the same among trials that failed",
        more=("failed_revised_trials", "failed_revised_of"),
    ),
    field(
        "failed_absent_rate",
        "failed, undone",
        lambda row: _absent(row.revision_of_failed),
        "the same among trials that failed",
        more=("failed_absent_trials",),
    ),
    field(
        "re_read",
        "read",
        lambda row: count(row.re_read),
        "interventions after which the agent read the place again",
    ),
    field("tested", "test", lambda row: count(row.tested), "after which it ran tests"),
    field("mentioned", "said", lambda row: count(row.mentioned), "after which its words spoke of the change"),
    field("asked", "ask", lambda row: count(row.asked), "after which it asked the user something"),
    *map(_mode, ResponseMode),
    field(
        "reads_after_final_edit",
        "reads after",
        lambda row: mean(row.reads_after_final_edit),
        "mean number of reads after the user's last edit of a trial",
    ),
    field(
        "edits_after_final_edit",
        "edits after",
        lambda row: mean(row.edits_after_final_edit),
        "mean number of edits after it",
    ),
    field(
        "tests_after_final_edit",
        "tests after",
        lambda row: mean(row.tests_after_final_edit),
        "mean number of test runs after it",
    ),
)


def after(study: Study) -> TableView | None:
    """Each agent and model under each condition in which anything was delivered."""
    rows = after_table(study)
    return table("after", "After the user's interventions", rows, FIELDS, notes=[_EVIDENCE])
