"""Whatever a judge is told has a version: no word of it, and nothing that a record shows, changes without it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from fourhands.judge.answers import Answers
from fourhands.judge.audit.auditor import OPINIONS, Auditor
from fourhands.judge.audit.blocks import SMALLEST_BUDGET, RecordText
from fourhands.judge.audit.prompts import AUDIT_PROMPT_VERSION
from fourhands.judge.audit.record_text import RECORD_BUDGET, record_text
from fourhands.model.audit import AUDITS, AuditName
from fourhands.model.event import EventKind
from fourhands.user.talking.asking_a_model import LiveClient
from fourhands.user.talking.consulting import ATTEMPTS

from ..judge_server import in_turn, judge_server  # noqa: TID252 - no package has tests
from .auditors import labels, reply, shown_record
from .test_record_text import HOSTILE, Record, conversation, reveal

KNOWN = {2: "9674cfb0b6428e6b"}
"""Of each version, a hash of all that it is of. Who changes what is told adds one, and leaves the others."""


def everything() -> Record:
    """A record with an event of each kind that is shown."""
    record = Record(base_tree="0")
    conversation(record, "R1", "R2")
    record.says("I am Claude Sonnet 4.5, and model-9 as well. " + "x" * 4_000)
    record.says("A helper's.", thread="sub-1")
    for arguments in ('{"command": "ls"}', '{"a": 1, "b": "2"}', "none"):
        seen = {"step": 1, "call": "c", "tool": "a tool", "arguments": record.blob(arguments), "touches": []}
        record.add(EventKind.ACTION_SEEN, **seen)
    output = record.blob(HOSTILE + "\u200b\xad" + "y" * 3_000)
    record.add(EventKind.ACTION_RESULT, call="c", output=output, code=1, bytes=1, touches=[])
    for by in ("agent", "user"):
        files = [{"path": "a.py", "hunks": []}]
        record.add(EventKind.WORKSPACE_CHANGED, by=by, intervention=None, tree=by, files=files, lines={})
    record.add(EventKind.ASKED, question="q1", text="What?", elapsed=0.0)
    record.add(EventKind.ANSWERED, question="q1", text="Do R1.")
    reveal(record, "R1", question="q1")
    record.add(EventKind.MESSAGE_SENT, message="m1", intervention=None, text="Too late.")
    for of in ("plan", "commit", "working", "stop", "end"):
        record.add(
            EventKind.CHECKPOINT,
            of=of,
            text=record.blob("The plan.") if of == "plan" else None,
            subject="A commit",
            files=["a.py"],
            requirements={"R1": True, "R2": False, "R3": None},
            source="checks",
            checks={"c1": False},
        )
    for phase in ({"phase": "stop"}, {}):
        record.add(
            EventKind.VERIFIED,
            verdict="unresolved",
            fail_to_pass={"t1": "passed", "t2": "failed"},
            pass_to_pass=3,
            pass_to_pass_failed={"t3": "failed"},
            timed_out=True,
            output=record.blob("1 failed"),
            tree="end",
            **phase,
        )
    record.add(EventKind.TRIAL_ENDED, termination="finished")
    return record


BAD = (
    labels("laziness", ["1"]),
    labels("regression", ["0"]),
    labels("regression", ["0"], requirement="R1"),
    labels("missing user requirement", ["99"], requirement="R1", why=" "),
    labels("missing user requirement", ["1"], requirement="R9", events=[]),
)
"""Each wrong in ways of its own."""


async def told(folder: Path, record: RecordText) -> str:
    """All that a judge is told whose replies cannot be used."""
    words = []
    for audit in (AUDITS[AuditName.SWE_INTERACT], AUDITS[AuditName.SWE_TOUCH]):
        first, second = (lambda *_: reply(*BAD[:3])), (lambda *_: reply(*BAD[3:]))
        with judge_server(in_turn(first, second, second), shown_record) as server:
            client = LiveClient("m", base_url=server.address, api_key=None)
            auditor = Auditor(client, Answers(folder, OPINIONS))
            await auditor.ask(audit, record, {"R1": True, "R2": False})
            assert len(server.asked) == ATTEMPTS
            words += [each["content"] for each in server.asked[-1] if each["role"] != "assistant"]
    return "\0".join(words)


async def test_what_a_judge_is_told_is_of_the_version_that_it_says(tmp_path: Path) -> None:
    record = everything()
    short, whole = (
        record_text(
            record.events,
            lambda digest: record.blobs.get(digest, b""),
            budget=budget,
            difference=lambda old, new: f"@@ -1 +1 @@\n-{old}\n+{new}",
        )
        for budget in (SMALLEST_BUDGET, RECORD_BUDGET)
    )
    everything_told = "\0".join([str(RECORD_BUDGET), short.text, await told(tmp_path, whole)])
    digest = hashlib.sha256(everything_told.encode()).hexdigest()[:16]
    assert KNOWN.get(AUDIT_PROMPT_VERSION) == digest
