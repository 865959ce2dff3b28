"""What is played: a task of three files, a user who edits each of them, and the moves of the model."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from fourhands.gateway.playbook import Edit, Move
from fourhands.model.intervention import Intervention, Trigger, TriggerEvent
from fourhands.model.text import LineRange, Region
from fourhands.tasks.folder import load_task
from fourhands.trajectories.run_folder import (
    Plan,
    PlannedIntervention,
    PlannedTask,
    PlannedTrial,
    PlannedUser,
    Settings,
)

__all__ = [
    "ALPHA",
    "ASK",
    "BETA",
    "DELEGATE",
    "EDIT",
    "EDIT_AGAIN",
    "FIRST_EDIT",
    "GAMMA",
    "LOOK_AT_ALL",
    "MOVES",
    "PARALLEL",
    "PLAYER",
    "READ",
    "READ_AGAIN",
    "SECOND_EDIT",
    "message_of",
    "plan_of",
    "user_line",
]

PLAYER: Final = "model"
"""What the scripted model is called where it is served."""
ALPHA, BETA, GAMMA = "alpha.py", "beta.py", "gamma.py"
_TASK: Final = Path(__file__).with_name("task")
_CONDITION: Final = "counter-edit"
_STEP_LIMIT: Final = 40
_MOMENT: Final = 'python3 -c "import time; time.sleep(0.3)"'
"""Some agents lose the output of a command that is over at once."""

FIRST_EDIT: Final = Edit(
    path=ALPHA, old="total // 3  # what is left", new="total - first(total) - second(total)"
)
SECOND_EDIT: Final = Edit(path=ALPHA, old="is shared by three.", new="is shared by three, without loss.")

READ: Final = Move(thought="First I read the file.", read=ALPHA)
EDIT: Final = Move(thought="I let the third get what is left.", edit=FIRST_EDIT)
READ_AGAIN: Final = Move(thought="I look at it once more.", read=ALPHA)
EDIT_AGAIN: Final = Move(thought="Now its description.", edit=SECOND_EDIT)
PARALLEL: Final = Move(
    thought="Two looks at once.",
    parallel=(f"cat {BETA}; {_MOMENT}", f"wc -l tests/test_shares.py; {_MOMENT}"),
)
LOOK_AT_ALL: Final = Move(thought="And what is there now.", command=f"cat {ALPHA} {BETA}; {_MOMENT}")
DELEGATE: Final = Move(
    thought="Let somebody else look at the last one, twice.",
    delegate=(f"cat {GAMMA}; {_MOMENT}", f"cat {GAMMA}; {_MOMENT}"),
)
ASK: Final = Move(thought="Is there anything else you want?", ask=True)
MOVES: Final = (
    *(READ, EDIT, READ_AGAIN, EDIT_AGAIN, PARALLEL, LOOK_AT_ALL, DELEGATE, ASK),
    Move(thought="The third gets what is left. I am done.", submit=True),
)


def user_line(path: str) -> str:
    """The line that the user writes into a file."""
    return f"    # the user was at {path}, too"


def message_of(path: str) -> str:
    """What the user says once it stands."""
    return f"I left a note in {path} while you were working. Please keep it."


def plan_of(agent: str) -> Plan:
    """One trial of an agent of the registry."""
    task = load_task(_TASK)
    return Plan(
        run_id=secrets.token_hex(6),
        settings=Settings(step_limit=_STEP_LIMIT, asking=True),
        tasks=(PlannedTask(name=task.name, path=task.directory, digest=task.digest, record_status=None),),
        users=(
            PlannedUser(
                task=task.name,
                condition=_CONDITION,
                interventions=tuple(PlannedIntervention.of(_visit(path)) for path in (ALPHA, BETA, GAMMA)),
            ),
        ),
        trials=(
            PlannedTrial(
                task=task.name, agent=agent, model=f"scripted/{PLAYER}", condition=_CONDITION, repeat=1
            ),
        ),
    )


def _visit(path: str) -> Intervention:
    patch = (
        f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -2,6 +2,7 @@\n"
        f" \n \n def first(total):\n+{user_line(path)}\n     return total // 3\n \n \n"
    )
    trigger = Trigger(TriggerEvent.READ, (Region(path, LineRange(4, 5)),))
    return Intervention(path, trigger, patch.encode(), message_of(path))
