"""How many requirements are held, told, met or lost over the course of a conversation."""

from __future__ import annotations

from typing import Final

from fourhands.analysis.findings.requirement_states import StatesRow, states_table
from fourhands.analysis.study import Study
from fourhands.model.ledger_state import RequirementState
from fourhands.report.table import TableView
from fourhands.report.views.build import Field, agent_fields, field, table
from fourhands.report.views.conversations.fields import informed, simulator_field
from fourhands.report.views.numbers import count, percent

__all__ = ["FIELDS", "states"]

_MEANING: Final = {
    RequirementState.HELD: "the user has not said, whether or not the code holds them",
    RequirementState.REVEALED: "the user has said, and nothing has shown since",
    RequirementState.ACKNOWLEDGED: "the agent has since taken up in words of its own",
    RequirementState.SATISFIED: "are said, and found in the code",
    RequirementState.VIOLATED: "are said, and found not to hold (any more)",
    RequirementState.FORGOTTEN: "were said, never met and never taken up: in the final state alone",
}


def _share(state: RequirementState) -> Field[StatesRow]:
    return field(
        state.value,
        state.value,
        lambda row: percent(row.shares[state]),
        f"mean share of the requirements that {_MEANING[state]}",
    )


FIELDS: Final[tuple[Field[StatesRow], ...]] = (
    *agent_fields(StatesRow),
    simulator_field(StatesRow),
    field(
        "progress",
        "progress",
        lambda row: percent(row.progress),
        "0 before the user's first message, 1 in the final state",
    ),
    field("trials", "n", lambda row: count(row.n), "scored trials"),
    *map(_share, RequirementState),
)


def states(study: Study) -> TableView | None:
    """Each agent and model in each kind of conversation, at each point of progress."""
    rows = states_table(study)
    said = [
        "Means over trials; a trial's progress is by the user's messages, and a state stands until the next."
    ]
    return table(
        "requirement-states",
        "What became of the requirements",
        rows,
        FIELDS,
        notes=[*said, *informed(rows)],
        group=4,
    )
