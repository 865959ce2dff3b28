"""A log made by hand, with payloads in memory: the events and contents a story is told of."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

import orjson

from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.report.story import Limits, Story, story
from fourhands.report.story.model import Entry
from fourhands.workspace.store import blob_id

USAGE = {"input": 100, "cache_read": 10, "cache_write": 0, "output": 5, "reasoning": 2}


class Log:
    """Events in order of ``seq``, one second apart."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._blobs: dict[str, bytes] = {}
        self._contents: dict[str, bytes] = {}
        self._requests = 0
        self._steps = 0

    def blob(self, digest: object) -> bytes | None:
        return self._blobs.get(str(digest))

    def contents(self, names: Collection[str]) -> Mapping[str, bytes]:
        return {name: self._contents[name] for name in names if name in self._contents}

    def put(self, data: bytes | str) -> str:
        data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
        digest = hashlib.sha256(data).hexdigest()
        self._blobs[digest] = data
        return digest

    def file(self, data: bytes) -> str:
        self._contents[blob_id(data)] = data
        return blob_id(data)

    def add(self, actor: str, kind: str, body: dict[str, Any], *, thread: str = MAIN_THREAD) -> int:
        seq = len(self.events)
        time = f"2026-11-30T01:{seq // 60:02}:{seq % 60:02}.000Z"
        self.events.append(Event(seq, time, thread, Actor(actor), EventKind(kind), body))
        return seq

    def start(self) -> None:
        who = {"task": "ledger", "agent": "thin", "model": "scripted/keeps", "condition": "counter-edit"}
        body = {
            **who,
            "repeat": 2,
            "attempt": 1,
            "run": "r",
            "interventions": 0,
            "planned": [],
            "step_limit": 9,
        }
        self.add("harness", "trial_started", body)

    def reply(self, text: str = "", *, thread: str = MAIN_THREAD, **other: Any) -> int:
        self._requests += 1
        if thread == MAIN_THREAD and not other:
            self._steps += 1
        body = {
            "request": self._requests,
            "step": self._steps if thread == MAIN_THREAD else None,
            "side": False,
            "status": 200,
            "complete": True,
            "usage": USAGE,
            "tools": ["bash"],
            "text": self.put(text),
            "elapsed": 1.5 * self._requests,
            **other,
        }
        return self.add("agent", "model_called", body, thread=thread)

    def act(
        self,
        tool: str,
        arguments: object,
        call: str = "c1",
        *,
        touches: Collection[dict[str, Any]] = (),
        thread: str = MAIN_THREAD,
    ) -> int:
        blob = self.put(arguments if isinstance(arguments, str) else orjson.dumps(arguments))
        step = self._steps if thread == MAIN_THREAD else None
        body = {"step": step, "call": call, "tool": tool, "arguments": blob, "touches": list(touches)}
        return self.add("agent", "action_seen", body, thread=thread)

    def result(
        self,
        output: bytes | str,
        call: str = "c1",
        *,
        code: int | None = 0,
        touches: Collection[dict[str, Any]] = (),
        thread: str = MAIN_THREAD,
    ) -> int:
        body = {"call": call, "output": self.put(output), "bytes": len(output), "code": code}
        return self.add("agent", "action_result", {**body, "touches": list(touches)}, thread=thread)

    def change(
        self, by: str, old: bytes | None, new: bytes | None, hunks: list[list[int]], **other: Any
    ) -> int:
        file = {
            "path": "a.py",
            "old": None if old is None else self.file(old),
            "new": None if new is None else self.file(new),
            "modes": [None if old is None else 0o100644, None if new is None else 0o100644],
            "binary": False,
            "hunks": hunks,
        }
        intervention = other.pop("intervention", None)
        body = {
            "by": by,
            "intervention": intervention,
            "tree": "t",
            "files": [{**file, **other}],
            "user_lines": [],
        }
        return self.add(by, "workspace_changed", {**body, "lines": {}, "regions": []})

    def story(self, **limits: int) -> Story:
        return story(self.events, self, limits=Limits(**limits))

    def entry(self, kind: str, **limits: int) -> Entry:
        (found,) = (entry for entry in self.story(**limits).entries if entry.kind == kind)
        return found
