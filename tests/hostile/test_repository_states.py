"""Whatever the agent makes of the repository: it is seen, the user's edit lands, and the tests get all of it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from fourhands.engine.sandbox import LocalSandbox
from fourhands.gateway.shared_workspace import SharedWorkspace
from fourhands.model.errors import InputError
from fourhands.model.event import Actor, EventKind
from fourhands.model.intervention import EditOutcome, Intervention, Trigger, TriggerEvent
from fourhands.model.sandbox import SandboxSpec
from fourhands.trajectories.events import EventLog, read_events
from fourhands.workspace.edit import regenerate
from fourhands.workspace.layout import lay_tree
from fourhands.workspace.store import ObjectStore

from .scene import Base

PATCH: Final = b"""diff --git a/shop.txt b/shop.txt
--- a/shop.txt
+++ b/shop.txt
@@ -9,3 +9,4 @@
 line 9
 line 10
+the user's line
 line 11
"""
GIT: Final = "git -c user.name=a -c user.email=a@example.org -c protocol.file.allow=always"
ODD_NAMES: Final = (
    b"a b", b"'single'", b'"double"', b"new\nline", b"tab\t", b"\xc3\xa9t\xc3\xa9", b"latin-\xe9", b"\xe2\x80\xa8",
    b"back\\slash", b"-dash", b".GIT", b"git~1", b"$(touch ran)",
)  # fmt: skip
MAKE_ODD_NAMES: Final = f"""python3 - << 'END'
for name in {ODD_NAMES!r}:
    with open(b"./" + name, "wb") as stream:
        stream.write(name + b"\\n")
END"""
CONTENTS: Final = {
    "no-end": b"no final newline",
    "blank-end": b"a\n\n",
    "form-feed": b"a\x0cb\nc\x0b\n\x1c\n",
    "separators": b"a\xe2\x80\xa8b\xe2\x80\xa9\xc2\x85c\n",
    "latin-1": b"caf\xe9\r\n",
    "mixed": b"a\r\nb\nc\r",
    "like-a-diff": b"diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n",
    "like-our-placeholder": b"fourhands placeholder: unreadable\n",
}
MAKE_CONTENTS: Final = f"""python3 - << 'END'
for name, content in {CONTENTS!r}.items():
    with open(name, "wb") as stream:
        stream.write(content)
END"""
SETTINGS: Final = """
for name in diff.noprefix diff.mnemonicPrefix core.autocrlf; do
    git config $name true; git config --global $name true
done
for name in diff.external core.fsmonitor core.pager core.sshCommand; do
    git config $name "touch /testbed/ran; false"; git config --global $name "touch /testbed/ran; false"
done
git config color.ui always; git config --global color.ui always
"""
HOOK_NAMES: Final = ("pre-commit", "post-checkout", "post-index-change", "reference-transaction")
HOOKS: Final = f"""
mkdir hooks
for name in {" ".join(HOOK_NAMES)}; do
    printf '#!/bin/sh\\ntouch /testbed/ran\\n' > hooks/$name; chmod +x hooks/$name
done
cp hooks/* .git/hooks/
"""
FILTERS: Final = """
git config filter.evil.clean "touch ran; tr a-z A-Z"; git config filter.evil.smudge "touch ran; cat"
git config diff.evil.textconv "touch ran; echo"
echo '* filter=evil diff=evil -text eol=crlf export-ignore ident' > .gitattributes
cp .gitattributes .git/info/attributes
"""
SUBMODULE: Final = f"""
git init -q /tmp/o; cd /tmp/o; echo x > f; {GIT} add f; {GIT} commit -qm x
cd /testbed; {GIT} submodule add -q /tmp/o sub; {GIT} commit -qm sub
"""
STOPPED_REBASE: Final = f"""
git checkout -qb side; echo x > old.txt; {GIT} commit -qam x
git checkout -q main; echo y > old.txt; {GIT} commit -qam y
! {GIT} rebase -q side
"""
STATES: Final[dict[str, tuple[str, set[str]]]] = {
    "empty nested repository": ("git init -q sub; echo x > sub/f; git init -q void", {"sub/f"}),
    "committed nested repository": (
        f"git init -q sub; cd sub; echo x > f; {GIT} add f; {GIT} commit -qm x", {"sub/f"}
    ),
    "submodule": (
        SUBMODULE,
        {".gitmodules", "sub/f"},
    ),
    "mode change": ("chmod +x run.sh", {"run.sh"}),
    "symbolic links": ("ln -s shop.txt link; ln -s /nonexistent lost; ln -s . loop", {"link", "lost", "loop"}),
    "file turned link": ("ln -sf shop.txt run.sh", {"run.sh"}),
    "file turned folder": ("rm gone.txt; mkdir gone.txt; echo x > gone.txt/f", {"gone.txt", "gone.txt/f"}),
    "folder turned file": ("rm -r dir; echo x > dir", {"dir", "dir/inner.txt"}),
    "folder turned link": ("mv dir other; ln -s other dir", {"dir", "dir/inner.txt", "other/inner.txt"}),
    "rename": ("git mv old.txt new.txt", {"old.txt", "new.txt"}),
    "rename in letter case": ("git mv old.txt OLD.txt", {"old.txt", "OLD.txt"}),
    "binary file": ("head -c 5000 /dev/urandom > data.bin; cp /usr/bin/true new.bin", {"data.bin", "new.bin"}),
    "empty file": (": > void; : > old.txt", {"void", "old.txt"}),
    "deleted file": ("git rm -q gone.txt; rm -r dir", {"gone.txt", "dir/inner.txt"}),
    "everything deleted": (
        "rm -rf .git old.txt gone.txt run.sh data.bin dir",
        {"old.txt", "gone.txt", "run.sh", "data.bin", "dir/inner.txt"},
    ),
    "odd names": (MAKE_ODD_NAMES, {os.fsdecode(name) for name in ODD_NAMES}),
    "odd contents": (MAKE_CONTENTS, set(CONTENTS)),
    "CRLF": ("sed -i 's/$/\\r/' old.txt", {"old.txt"}),
    "git's settings": (f"{SETTINGS}echo x >> old.txt", {"old.txt"}),
    "hooks": (
        f"{HOOKS}git config core.hooksPath hooks; echo x >> old.txt",
        {"old.txt", *(f"hooks/{name}" for name in HOOK_NAMES)},
    ),
    "attributes and filters": (f"{FILTERS}echo x >> old.txt", {".gitattributes", "old.txt"}),
    "ignored new file": (
        "echo '*' | tee .gitignore > .git/info/exclude; echo x > new.py", {".gitignore", "new.py"}
    ),
    "assumed unchanged": ("git update-index --assume-unchanged old.txt; echo x >> old.txt", {"old.txt"}),
    "sparse checkout": ("git status -s; git sparse-checkout set --no-cone shop.txt", {
        "old.txt", "gone.txt", "run.sh", "data.bin", "dir/inner.txt",
    }),
    "detached HEAD": ("git checkout -q --detach; echo x >> old.txt", {"old.txt"}),
    "unborn branch": ("git checkout -q --orphan fresh; echo x >> old.txt", {"old.txt"}),
    "commit": (f"echo x >> old.txt; {GIT} commit -qam work", {"old.txt"}),
    "amended commit": (f"echo x >> old.txt; {GIT} commit -qa --amend -m other", {"old.txt"}),
    "rebased history": (
        f"git checkout -qb side HEAD~1; echo x > side; {GIT} add side; {GIT} commit -qm side; {GIT} rebase -q main",
        {"side"},
    ),
    "rebase that stopped": (
        STOPPED_REBASE,
        {"old.txt"},
    ),
    "reset to an older commit": (
        "git reset -q --hard HEAD~1", {"old.txt", "gone.txt", "run.sh", "data.bin", "dir/inner.txt"}
    ),
}  # fmt: skip
LIST: Final = """
import hashlib, os, sys
found = []
for folder, folders, files in os.walk(b"."):
    links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
    folders[:] = [name for name in folders if name != b".git"]
    for name in files + links:
        path = os.path.join(folder, name)
        if os.path.islink(path):
            found.append((path, "link", os.readlink(path)))
        elif name != b".git":
            with open(path, "rb") as stream:
                digest = hashlib.sha256(stream.read()).hexdigest()
            found.append((path, os.stat(path).st_mode & 0o111, digest))
print(*sorted(found), sep="\\n")
"""


@asynccontextmanager
async def opened(base: Base, folder: Path) -> AsyncIterator[LocalSandbox]:
    async with LocalSandbox(SandboxSpec(base.repository), folder / "sandboxes") as sandbox:
        yield sandbox


async def shared(base: Base, sandbox: LocalSandbox, store: ObjectStore) -> SharedWorkspace:
    workspace = SharedWorkspace(sandbox, store, base.tree)
    await workspace.start([Intervention("e", Trigger(TriggerEvent.READ, ()), PATCH, None)])
    return workspace


async def act(sandbox: LocalSandbox, script: str) -> None:
    done = await sandbox.run(["bash", "-ec", script])
    assert done.code == 0, done.stderr.decode()


async def listing(sandbox: LocalSandbox) -> bytes:
    done = await sandbox.run([sandbox.python, "-I", "-S", "-c", LIST])
    assert done.code == 0, done.stderr.decode()
    return done.stdout


async def assert_shared(
    base: Base, store: ObjectStore, folder: Path, script: str, expected: set[str]
) -> None:
    """Run ``script`` as the agent; the change is told, the user's edit lands, a fresh sandbox gets the same files."""
    async with opened(base, folder) as sandbox:
        workspace = await shared(base, sandbox, store)
        await act(sandbox, script)
        changes = await workspace.observe()
        assert {file["path"] for file in changes.files} == expected
        edit = await workspace.edit("e")
        assert edit.outcome is EditOutcome.APPLIED, edit.detail
        assert [file["path"] for file in edit.by_user.files] == ["shop.txt"]
        assert (await workspace.observe()).files == []
        theirs = await listing(sandbox)
    async with opened(base, folder) as fresh:
        await lay_tree(fresh, store, base.tree, workspace.tree)
        assert await listing(fresh) == theirs
        assert b"the user's line\n" in (await fresh.run(["cat", "shop.txt"])).stdout

    log = EventLog(folder / "events.jsonl", lambda event: None)  # noqa: ARG005
    body = {"by": "agent", "intervention": None, "tree": changes.tree, "files": changes.files, "lines": {}}
    log.append(Actor.AGENT, EventKind.WORKSPACE_CHANGED, body)
    log.close()
    (event,) = read_events(folder / "events.jsonl").events
    assert event.body["files"] == changes.files


@pytest.mark.parametrize("state", STATES)
async def test_the_agents_state_is_seen_edited_and_verified_whole(
    base: Base, store: ObjectStore, tmp_path: Path, state: str
) -> None:
    await assert_shared(base, store, tmp_path, *STATES[state])


@pytest.mark.parametrize("script", ["echo x >> old.txt", f"echo x >> old.txt; {GIT} commit -qam work"])
async def test_a_shallow_clone_is_as_good_as_any(shallow: Base, tmp_path: Path, script: str) -> None:
    store = ObjectStore(tmp_path / "objects.git", base=shallow.objects)
    await assert_shared(shallow, store, tmp_path, script, {"old.txt"})


CLOSED: Final = {
    "a folder that may not be entered": ("chmod 644 dir", "echo x >> old.txt"),
    "a folder that may not be listed": ("chmod 000 dir", "echo x >> old.txt"),
    "a path that is too long": (
        "name=$(printf 'x%.0s' {1..200}); for i in {1..25}; do mkdir $name; cd $name; done; echo x > f",
        "echo x >> old.txt",
    ),
}


@pytest.mark.parametrize("state", CLOSED)
async def test_what_cannot_be_looked_at_counts_as_unchanged(
    base: Base, store: ObjectStore, tmp_path: Path, state: str
) -> None:
    async with opened(base, tmp_path) as sandbox:
        workspace = await shared(base, sandbox, store)
        closing, change = CLOSED[state]
        await act(sandbox, closing)
        assert (await workspace.observe()).files == []
        await act(sandbox, change)
        assert [file["path"] for file in (await workspace.observe()).files] == ["old.txt"]
        assert (await workspace.edit("e")).outcome is EditOutcome.APPLIED


@pytest.mark.parametrize("closing", ["chmod 555 .", "chmod 000 ."])
async def test_an_edit_where_nobody_may_write_is_not_made_and_can_be_made_later(
    base: Base, store: ObjectStore, tmp_path: Path, closing: str
) -> None:
    async with opened(base, tmp_path) as sandbox:
        workspace = await shared(base, sandbox, store)
        await act(sandbox, closing)
        assert (await workspace.observe()).files == []
        refused = await workspace.edit("e")
        assert refused.outcome is EditOutcome.DOES_NOT_APPLY
        assert refused.by_user.files == refused.by_agent.files == []
        await sandbox.run(["chmod", "755", "/testbed"], cwd="/")
        assert (await workspace.edit("e")).outcome is EditOutcome.APPLIED


async def test_an_unreadable_file_is_told_and_never_written_over(
    base: Base, store: ObjectStore, tmp_path: Path
) -> None:
    async with opened(base, tmp_path) as sandbox:
        workspace = await shared(base, sandbox, store)
        await act(sandbox, "chmod 000 shop.txt")
        (file,) = (await workspace.observe()).files
        assert store.get_blob(file["new"]) == b"fourhands placeholder: unreadable\n"
        assert (await workspace.edit("e")).outcome is not EditOutcome.APPLIED
        await act(sandbox, "chmod 644 shop.txt")
        (file,) = (await workspace.observe()).files
        assert store.get_blob(file["new"]) == (base.repository / "shop.txt").read_bytes()


BLANK_CONTEXT: Final = b"--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-a\n+b\n \n \n"


def test_a_blank_last_line_of_context_may_have_lost_its_blank_but_not_itself(store: ObjectStore) -> None:
    tree = _one_file(store, b"a\n\n\n")
    edited = regenerate(store, tree, BLANK_CONTEXT).edited_tree
    assert edited == _one_file(store, b"b\n\n\n")
    assert regenerate(store, tree, BLANK_CONTEXT.replace(b" \n", b"\n")).edited_tree == edited
    with pytest.raises(InputError, match=r"corrupt patch at line 6.*make it anew against the base commit"):
        regenerate(store, tree, BLANK_CONTEXT.strip())


def _one_file(store: ObjectStore, content: bytes) -> str:
    blob = store.put_blob(content)
    return store.git("mktree", stdin=f"100644 blob {blob}\tf\n".encode()).stdout.decode().strip()
