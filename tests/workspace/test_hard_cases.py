"""What an agent's tools do to the user's lines: real git, real processes, followed to the final table."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fourhands.analysis.lines import UserLines, follow_user_lines
from fourhands.gateway.shared_workspace import Changes, SharedWorkspace
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.intervention import EditOutcome, Intervention, Trigger, TriggerEvent
from fourhands.model.sandbox import Sandbox
from fourhands.workspace.store import ObjectStore

BASE = """\
def price(item):
    if item.free:
        return 0
    return item.amount * item.rate


def total(items):
    return sum(price(item) for item in items)
"""
PATCH = "".join(
    f"{line}\n"
    for line in (
        "--- a/shop.py",
        "+++ b/shop.py",
        "@@ -1,5 +1,6 @@",
        " def price(item):",
        "-    if item.free:",
        "-        return 0",
        "-    return item.amount * item.rate",
        "+    discount = item.discount or 0",
        "+    base = item.amount - discount",
        "+",
        "+    return base * item.rate",
        " ",
    )
).encode()
GIT = "git -c user.name=a -c user.email=a@b -c commit.gpgsign=false"


@dataclass
class Stage:
    """A repository with the user's edit ``e`` made: four lines written (one blank), three taken out."""

    sandbox: Sandbox
    workspace: SharedWorkspace
    events: list[Event] = field(default_factory=list)

    def note(self, changes: Changes, actor: Actor) -> None:
        body = {"files": changes.files, "user_lines": changes.user_lines}
        event = Event(len(self.events), "", MAIN_THREAD, actor, EventKind.WORKSPACE_CHANGED, body)
        self.events.append(event)

    async def run(self, *commands: str) -> None:
        for command in commands:
            done = await self.sandbox.run(["bash", "-ec", command])
            assert done.code == 0, done.stderr
            self.note(await self.workspace.observe(), Actor.AGENT)

    def table(self) -> UserLines:
        found = follow_user_lines(self.events)
        assert found is not None
        assert self.workspace.standing() == {"e": sum(not line.absent_at_end for line in found.lines)}
        return found

    def fates(self) -> list[str]:
        return [line.fate for line in self.table().lines]


@pytest.fixture
async def stage(sandbox: Sandbox, store: ObjectStore) -> Stage:
    done = await sandbox.run(
        [
            "bash",
            "-ec",
            f"cat > shop.py; git init -q . && git add . && {GIT} commit -qm base && echo notes > notes.txt",
        ],
        stdin=BASE.encode(),
    )
    assert done.code == 0, done.stderr
    tree = store.import_directory(Path(sandbox.workdir))
    workspace = SharedWorkspace(sandbox, store, tree)
    await workspace.start([Intervention("e", Trigger(TriggerEvent.READ, ()), PATCH, None)])
    made = Stage(sandbox, workspace)
    edit = await workspace.edit("e")
    assert edit.outcome is EditOutcome.APPLIED
    assert [entry["fate"] for entry in edit.by_user.user_lines] == ["deleted"] * 3 + ["written"] * 4
    made.note(edit.by_user, Actor.USER)
    return made


async def test_untouched_lines_are_kept_through_commit_and_amend(stage: Stage) -> None:
    await stage.run(
        "echo '# the agent was here' >> shop.py",
        f"git add -A && {GIT} commit -qm work",
        f"{GIT} commit -q --amend -m better && git log --oneline > /dev/null",
    )
    assert stage.fates() == ["kept"] * 4
    assert [line.by for line in stage.table().lines] == ["user"] * 4


async def test_checkout_takes_the_edit_out_and_puts_back_what_it_replaced(stage: Stage) -> None:
    await stage.run("git checkout -q -- shop.py")
    table = stage.table()
    assert stage.fates() == ["removed"] * 4
    assert all(line.by == "agent" and line.ever_revised and line.absent_at_end for line in table.lines)
    assert all(one.put_back and one.by == "agent" for one in table.deletions)
    assert len(table.deletions) == 3


async def test_stash_and_pop_leave_everything_as_it_was_but_not_unseen(stage: Stage) -> None:
    await stage.run("sed -i 's/for item in items/for item in list(items)/' shop.py", f"{GIT} stash -q")
    assert stage.fates() == ["removed"] * 4
    await stage.run(f"{GIT} stash pop -q")
    table = stage.table()
    assert stage.fates() == ["kept"] * 4
    assert all(line.ever_revised and not line.absent_at_end for line in table.lines)
    assert [(one.put_back, one.ever_put_back) for one in table.deletions] == [(False, True)] * 3


async def test_a_renamed_file_takes_its_lines_along(stage: Stage) -> None:
    await stage.run(
        "mkdir src && git mv shop.py src/store.py && sed -i 's/discount or 0/discount/' src/store.py"
    )
    table = stage.table()
    assert stage.fates() == ["changed", "moved", "moved", "moved"]
    assert {line.path for line in table.lines} == {"src/store.py"}
    assert [one.put_back for one in table.deletions] == [False] * 3


async def test_a_block_moved_within_the_file_is_moved(stage: Stage) -> None:
    script = (
        "lines = open('shop.py').read().split('\\n'); block = lines[1:4]; del lines[1:4];"
        " lines[-1:-1] = ['', '', 'def base(item):', *block]; open('shop.py', 'w').write('\\n'.join(lines))"
    )
    await stage.run(f'{sys.executable} -c "{script}"')
    assert stage.fates()[:2] == ["moved", "moved"]
    assert not any(line.ever_revised for line in stage.table().lines[:2])


async def test_crlf_by_a_tool_changes_white_space_and_removes_nothing(stage: Stage) -> None:
    await stage.run("sed -i 's/$/\\r/' shop.py")
    table = stage.table()
    assert stage.fates() == ["changed"] * 4
    assert all(line.whitespace_only and line.ever_revised and not line.absent_at_end for line in table.lines)
    await stage.run("sed -i 's/\\r$//' shop.py")
    assert stage.fates() == ["kept"] * 4


async def test_a_formatter_changes_white_space(stage: Stage) -> None:
    await stage.run("sed -i 's/^    \\(.\\)/  \\1/' shop.py")
    assert stage.fates() == ["changed", "changed", "kept", "changed"]
    assert all(line.whitespace_only for line in stage.table().lines if line.fate == "changed")


async def test_duplicates_are_counted_one_by_one(stage: Stage) -> None:
    await stage.run("printf '    return base * item.rate\\n' >> shop.py")
    assert stage.fates() == ["kept"] * 4
    await stage.run("sed -i '$d' shop.py")
    assert stage.fates() == ["kept"] * 4


async def test_a_deletion_by_the_agent_is_seen_in_the_summary(stage: Stage) -> None:
    await stage.run(
        "sed -i '/discount or 0/d; s/item.amount - discount/item.amount - item.discount/' shop.py"
    )
    stage.events.append(Event(9, "", MAIN_THREAD, Actor.USER, EventKind.EDIT_APPLIED, {"intervention": "e"}))
    (summary,) = stage.table().interventions()
    assert (summary.written, summary.kept, summary.changed, summary.removed) == (4, 2, 1, 1)
    assert (summary.ever_revised, summary.absent_at_end, summary.deleted, summary.put_back) == (2, 2, 3, 0)
