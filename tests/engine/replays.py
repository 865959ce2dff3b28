"""Runs and replays through the command line, and what of two trials must be the same."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from fourhands.model.event import Event, EventKind
from fourhands.trajectories.exchanges import read_exchange
from fourhands.trajectories.run_folder import Attempt, RunFolder

FOURHANDS: Final = Path(sys.executable).with_name("fourhands")
_MOMENTS: Final = frozenset(
    {"run", "attempt", "seconds", "milliseconds", "elapsed", "bytes", "id", "prompt_cache_key", "metadata"}
)
_VARYING: Final = (
    (re.compile(r"\b\d+\.\d+s\b"), "…s"),
    (re.compile(r"\b[A-Z][a-z]{2} [ \d]\d \d\d:\d\d\b"), "…"),
    (re.compile(r"/tmp/tmp\w{8}"), "…"),
)
Line = dict[str, Any]


def fourhands(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([FOURHANDS, *arguments], capture_output=True, text=True, check=False)


def attempts(run: Path) -> list[Attempt]:
    """The one that counts of each trial that has one."""
    folder = RunFolder(run)
    found = [folder.final_attempt(trial.key) for trial in folder.plan().trials]
    return [each for each in found if each is not None]


def bodies(run: Path, kind: EventKind) -> list[dict[str, Any]]:
    return [event.body for attempt in attempts(run) for event in attempt.read().events if event.kind is kind]


def story(run: Path) -> list[Any]:
    """All events of a run's trials but for moments, durations and ids, with blobs in place of their digests."""
    told = []
    for attempt in attempts(run):
        read = attempt.read()
        assert read.problems == ()
        told.append([_event(event, attempt) for event in read.events])
    return told


def final_trees(run: Path) -> list[str]:
    return [body["tree"] for body in bodies(run, EventKind.VERIFIED)]


def change_reply(cassette: Path, number: int, change: Callable[[str], str]) -> None:
    """Rewrite the recorded reply to a request, and nothing else."""
    lines = [json.loads(line) for line in cassette.read_text().splitlines()]
    (line,) = [line for line in lines if line.get("number") == number]
    changed = change(line["response"])
    assert changed != line["response"]
    line["response"] = changed
    write_lines(cassette, lines)


def write_lines(cassette: Path, lines: list[Line]) -> None:
    cassette.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _event(event: Event, attempt: Attempt) -> tuple[Any, ...]:
    body = dict(event.body)
    if "exchange" in body:
        exchange = read_exchange(attempt.blobs.get, body.pop("exchange"))
        body["asked"], body["answered"] = exchange.request, exchange.response.decode()
    return event.seq, event.thread, event.actor, event.kind, _plain(body, attempt)


def _plain(value: Any, attempt: Attempt) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(part, attempt) for key, part in value.items() if key not in _MOMENTS}
    if isinstance(value, list):
        return [_plain(part, attempt) for part in value]
    if not isinstance(value, str):
        return value
    with suppress(FileNotFoundError):
        if re.fullmatch("[0-9a-f]{64}", value):
            value = attempt.blobs.get(value).decode()
    for form, instead in _VARYING:
        value = form.sub(instead, value)
    return value
