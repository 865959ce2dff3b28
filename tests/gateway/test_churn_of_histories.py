"""Churn of histories made by hand, in real repositories, read as in a trial: equal to what one counts on paper."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fourhands.analysis.churn import Churn, churn
from fourhands.engine.sandbox import LocalSandbox
from fourhands.gateway.conversation_checkpoints import ConversationCheckpoints
from fourhands.gateway.shared_workspace import SharedWorkspace
from fourhands.gateway.state_checks import StateChecks
from fourhands.model.checkpoint import CheckpointKind, CheckReport
from fourhands.model.event import Actor, EventKind
from fourhands.model.ledger import Goal, Ledger, Requirement
from fourhands.model.sandbox import SandboxSpec
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.event_bodies import check_body
from fourhands.workspace.commits import CommitReader
from fourhands.workspace.snapshot import Snapshotter
from fourhands.workspace.store import ObjectStore

AS = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;"
LEDGER = Ledger("Do it.", (Requirement("R1", "It is done.", (0, 1)),), (Goal("G1", "All", 1, "", ("R1",)),))
LOOK = "look"
"""In a history: the agent asks, so that what there is by then is recorded."""


class History(NamedTuple):
    """What the agent does; by hand, the lines of each revision (c_t), those left (f), and the two measures."""

    steps: tuple[str, ...]
    lines: tuple[int, ...]
    final: int
    overhead: float | None
    late: float | None


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSandbox]:
    folder = tmp_path_factory.mktemp("churn")
    (folder / "repository").mkdir()
    made = LocalSandbox(SandboxSpec(folder / "repository"), folder / "sandboxes")
    asyncio.run(made.start())
    yield made
    asyncio.run(made.stop())


async def _churn_of(history: tuple[str, ...], sandbox: LocalSandbox, folder: Path) -> Churn:
    """A repository with nine lines in ``a.txt``; then the history, and the end."""

    async def do(script: str) -> None:
        done = await sandbox.run(["bash", "-ec", AS + script])
        assert done.code == 0, done.stderr.decode()

    await do(
        "find . -mindepth 1 -delete; git init -q -b main .; seq 9 > a.txt; git add .; git commit -qm base"
    )
    store, bodies = ObjectStore(folder / "objects"), list[dict[str, Any]]()
    workspace = SharedWorkspace(sandbox, store, (await Snapshotter(sandbox, store).start()).tree)
    await workspace.start(())
    commits = CommitReader(sandbox, store, workspace.base_tree)
    await commits.start()

    def emit(
        _: Actor, kind: EventKind, body: dict[str, Any], *, thread: str = "", durable: bool = False
    ) -> None:
        assert (thread, durable) == ("", False)
        assert kind is EventKind.CHECKPOINT
        check_body(kind, body)
        bodies.append(body)

    async def no_checks(tree: str, *, seconds: float) -> CheckReport:
        assert tree
        assert seconds
        return CheckReport()

    checkpoints = ConversationCheckpoints(
        workspace=workspace,
        commits=commits,
        store=store,
        blobs=BlobStore(folder / "blobs"),
        emit=emit,
        ledger=LEDGER,
        checks=StateChecks(no_checks, 60),
        words=lambda text: {"R1": "done" in text},
    )
    states = (CheckpointKind.STOP, CheckpointKind.END)
    for step in (*history, *states):
        if isinstance(step, CheckpointKind) or step == LOOK:
            await workspace.observe()
            kind = step if isinstance(step, CheckpointKind) else CheckpointKind.WORKING
            question = "Is it right?" if step == LOOK else None
            await checkpoints.take(kind, elapsed=1.0, question=question)
        else:
            await do(step)
    return churn(bodies)


THREE = "seq 3 > b; git add b; git commit -qm b"
REWRITE = "printf '1\\nx\\ny\\n' > b; git add b"  # two of the three lines: 2 out, 2 in
TESTS = "mkdir -p tests; seq 7 > tests/test_b.py; git add tests"
SIDE = "git checkout -qb side; seq 4 > c; git add c; git commit -qm c"
MAIN = "git checkout -q main; sed -i '1,2d' a.txt; git commit -qam shorter"

HISTORIES = {
    "one commit": History((THREE,), (3,), 3, 0.0, 0.0),
    "two commits that only add": History(
        (THREE, "seq 2 > c; git add c; git commit -qm c"), (3, 2), 5, 0.0, 2 / 5
    ),
    "amended before anyone looks": History(
        (THREE, f"{REWRITE}; git commit -q --amend --no-edit"),
        (3, 4),
        3,
        (7 - 3) / 3,
        4 / 7,
    ),
    "amended after a look": History(
        (THREE, LOOK, f"{REWRITE}; git commit -q --amend -m better"),
        (3, 4),
        3,
        (7 - 3) / 3,
        4 / 7,
    ),
    "amended in its words alone": History(
        (THREE, LOOK, "git commit -q --amend -m better"), (3,), 3, 0.0, 0.0
    ),
    "merged": History(
        (SIDE, LOOK, MAIN, LOOK, "git merge -q side -m merge"),
        (4, 2),
        6,
        0.0,
        2 / 6,
    ),
    "merged before anyone looks": History(
        (f"{SIDE}; {MAIN}; git merge -q side -m merge",), (4, 2), 6, 0.0, 2 / 6
    ),
    "reverted, and done otherwise": History(
        (THREE, LOOK, "git revert --no-edit HEAD", LOOK, "seq 2 > c; git add c; git commit -qm c"),
        (3, 3, 2),
        2,
        (8 - 2) / 2,
        5 / 8,
    ),
    "reverted, and nothing is left": History(
        (THREE, LOOK, "git revert --no-edit HEAD"), (3, 3), 0, None, 1 / 2
    ),
    "nothing done": History((LOOK,), (), 0, None, None),
    "tests in a commit of their own": History(
        (
            THREE,
            LOOK,
            f"{TESTS}; git commit -qm tests",
            LOOK,
            "echo 8 >> tests/test_b.py; git commit -qam more",
        ),
        (3,),
        3,
        0.0,
        0.0,
    ),
    "tests beside code": History((f"seq 3 > b; {TESTS}; git add b; git commit -qm both",), (3,), 3, 0.0, 0.0),
    "tests with a line of code, late": History(
        (
            THREE,
            LOOK,
            f"echo 4 >> b; {TESTS}; git commit -qam both",
            LOOK,
            "sed -i '1,2d' tests/test_b.py; sed -i 1d b; git commit -qam shorter",
        ),
        (3, 1, 1),
        3,
        (5 - 3) / 3,
        2 / 5,
    ),
    "a plan in commits": History(
        (
            "seq 50 > PLAN.md; git add .; git commit -qm plan",
            LOOK,
            THREE,
            LOOK,
            "seq 90 > PLAN.md; git commit -qam 'better plan'",
        ),
        (3,),
        3,
        0.0,
        0.0,
    ),
    "seen before it is committed": History(
        ("seq 3 > b", LOOK, "git add b; git commit -qm b", LOOK),
        (3,),
        3,
        0.0,
        0.0,
    ),
    "squashed": History(
        (
            THREE,
            LOOK,
            "seq 2 > c; git add c; git commit -qm c",
            LOOK,
            "git reset -q --soft HEAD~2; git commit -qm all",
        ),
        (3, 2),
        5,
        0.0,
        2 / 5,
    ),
    "squashed with a line more": History(
        (
            *(THREE, LOOK, "seq 2 > c; git add c; git commit -qm c", LOOK),
            "git reset -q --soft HEAD~2; echo 3 >> c; git add c; git commit -qm all",
        ),
        (3, 2, 1),
        6,
        0.0,
        3 / 6,
    ),
    "left uncommitted at the end": History((THREE, LOOK, "sed -i 1d b"), (3, 1), 2, (4 - 2) / 2, 1 / 4),
}


@pytest.mark.parametrize("of", HISTORIES.values(), ids=list(HISTORIES))
async def test_churn_equals_what_one_counts_on_paper(
    of: History, sandbox: LocalSandbox, tmp_path: Path
) -> None:
    found = await _churn_of(of.steps, sandbox, tmp_path)
    assert (found.lines, found.final) == (of.lines, of.final)
    assert found.overhead == (None if of.overhead is None else pytest.approx(of.overhead))
    assert found.late_share == (None if of.late is None else pytest.approx(of.late))
