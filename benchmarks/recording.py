"""A record of an attempt under way: events, payloads and objects in the product's own files, nothing else made up."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from fourhands.model.trial import TrialKey
from fourhands.trajectories.run_folder import Plan

__all__ = ["Recording", "digest_of", "plan_of"]


def digest_of(text: str) -> str:
    """SHA-256, as payloads and keys have it."""
    return hashlib.sha256(text.encode()).hexdigest()


def plan_of(run: str, tasks: Sequence[str], keys: Sequence[TrialKey], users: Sequence[Any] = ()) -> Plan:
    """The plan of a run of these trials."""
    return Plan.model_validate(
        {
            "schema": 2,
            "run_id": run,
            "settings": {},
            "tasks": [
                {
                    "name": task,
                    "path": f"/tasks/{task}",
                    "digest": digest_of(task),
                    "record_status": "validated",
                }
                for task in tasks
            ],
            "users": users,
            "trials": [
                {
                    "task": key.task,
                    "agent": key.agent.name,
                    "model": key.agent.model,
                    "condition": key.condition.label,
                    "repeat": key.repeat,
                }
                for key in keys
            ],
        }
    )


@dataclass
class Recording:
    """Writes one attempt into a folder that is there."""

    attempt: Path
    lines: list[dict[str, Any]] = field(default_factory=list)
    written: set[str] = field(default_factory=set)

    def event(self, actor: str, kind: str, body: dict[str, Any]) -> None:
        """The next event, a second after the last."""
        seq = len(self.lines)
        time = f"2026-01-01T{seq // 3600:02d}:{seq // 60 % 60:02d}:{seq % 60:02d}.000Z"
        self.lines.append(
            {"v": 1, "seq": seq, "time": time, "thread": "main", "actor": actor, "kind": kind, "body": body}
        )

    def blob(self, text: str) -> str:
        """Keep a payload; its hash."""
        digest, packed = _packed(text)
        if digest not in self.written:
            self.written.add(digest)
            _put(self.attempt / "blobs" / digest[:2] / digest[2:], packed)
        return digest

    def content(self, text: str) -> str:
        """Keep a file as a loose git object; its name."""
        data = text.encode()
        data = b"blob %d\0" % len(data) + data
        name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        _put(self.attempt / "objects.git" / "objects" / name[:2] / name[2:], zlib.compress(data, 1))
        return name

    def objects(self) -> None:
        """Make the store of objects."""
        store = self.attempt / "objects.git"
        for name in ("objects/info", "objects/pack", "refs"):
            (store / name).mkdir(parents=True)
        (store / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
        (store / "config").write_text(
            "[core]\n\trepositoryformatversion = 0\n\tbare = true\n", encoding="ascii"
        )

    def save(self) -> None:
        """Write the events."""
        (self.attempt / "events.jsonl").write_bytes(
            b"".join(orjson.dumps(line) + b"\n" for line in self.lines)
        )


@cache
def _packed(text: str) -> tuple[str, bytes]:
    """A payload's hash, and what its file holds: trials have most of them in common."""
    return digest_of(text), zlib.compress(text.encode(), 1)


def _put(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except FileNotFoundError:
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
