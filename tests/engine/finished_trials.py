"""Final states made by hand, recorded through the real classes: what a trial that ended so would have left."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from fourhands.engine.session import base_objects
from fourhands.model.event import Actor, EventKind
from fourhands.tasks.folder import Task
from fourhands.tasks.repository import base_repository
from fourhands.tasks.testrun import verdict_key
from fourhands.trajectories.events import EventLog
from fourhands.trajectories.run_folder import Attempt
from fourhands.workspace.edit import regenerate
from fourhands.workspace.file_json import file_json
from fourhands.workspace.store import ObjectStore
from fourhands.workspace.tree import REGULAR, Entry


class FinishedTrial:
    """One attempt: write in turn as the agent and as the user, then end it."""

    def __init__(self, task: Task, attempt: Attempt) -> None:
        objects, self.base_tree = base_objects(base_repository(task))
        self.task, self.attempt = task, attempt
        self.store = ObjectStore(attempt.objects_path, base=objects)
        self.tree = self.base_tree
        self.log = EventLog(attempt.events_path, lambda _: None)
        started = {
            "task": task.name,
            "agent": "mini-swe-agent",
            "model": "m",
            "condition": "counter-edit",
            "repeat": 1,
            "attempt": attempt.number,
            "base_tree": self.base_tree,
        }
        self._say(Actor.HARNESS, EventKind.TRIAL_STARTED, started)

    def patched(self, patch: bytes) -> dict[str, bytes]:
        """The files of the base that ``patch`` changes, as it makes them."""
        compiled = regenerate(self.store, self.base_tree, patch)
        return {os.fsdecode(f.path): self.store.get_blob(f.edited.blob) for f in compiled.files if f.edited}

    def read(self, path: str) -> bytes:
        entry = self.store.read_tree(self.tree).get(os.fsencode(path))
        assert entry
        return self.store.get_blob(entry.blob)

    def swap(self, by: Literal["agent", "user"], path: str, old: bytes, new: bytes) -> None:
        content = self.read(path)
        assert content.count(old) == 1, content.decode()
        self.write(by, {path: content.replace(old, new)})

    def write(self, by: Literal["agent", "user"], files: Mapping[str, bytes]) -> None:
        tree = self.store.read_tree(self.tree)
        for path, content in files.items():
            tree.set(os.fsencode(path), Entry(REGULAR, self.store.put_blob(content)))
        before, self.tree = self.tree, self.store.write_tree(tree)
        edit = {"intervention": "counter-edit-1"} if by == "user" else {"intervention": None}
        changed = [file_json(change) for change in self.store.diff(before, self.tree)]
        body = {"by": by, **edit, "tree": self.tree, "files": changed, "lines": {}}
        self._say(Actor(by), EventKind.WORKSPACE_CHANGED, body)
        if by == "user":
            applied = {**edit, "outcome": "applied", "detail": "", "files": []}
            self._say(Actor.USER, EventKind.EDIT_APPLIED, applied)

    def end(self, verdict: str = "unresolved", termination: str = "finished") -> None:
        key = verdict_key(self.tree, self.task)
        verified = {
            "key": key,
            "tree": self.tree,
            "verdict": verdict,
            "reward": 0.0,
            "timed_out": False,
            "seconds": 1.0,
            "fail_to_pass": {},
            "pass_to_pass": 0,
            "pass_to_pass_failed": {},
            "output": "0" * 64,
        }
        self._say(Actor.VERIFIER, EventKind.VERIFIED, verified)
        ended = {
            "verdict": verdict,
            "termination": termination,
            "reward": 0.0,
            "steps": 1,
            **dict.fromkeys(("side_calls", "retries", "uncounted_replies", "shadow", "messages"), 0),
            "tokens": {"total": 0},
            "triggered": 1,
            "delivered": 1,
            "user_lines": {"counter-edit-1": 2},
        }
        self._say(Actor.HARNESS, EventKind.TRIAL_ENDED, ended)
        self.log.close()

    def _say(self, actor: Actor, kind: EventKind, body: dict[str, Any]) -> None:
        self.log.append(actor, kind, body)


def objects_of(attempt: Attempt) -> set[Path]:
    """All files of an attempt but its ablation."""
    return {path for path in attempt.path.rglob("*") if path.is_file() and path.name != "ablation.json"}
