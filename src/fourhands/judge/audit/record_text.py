"""The record of an attempt as a text for a reader, a judge or a person, who is not told whose it is.

No agent, model, condition, repeat, run or trial is named. See `fourhands.judge.audit.blocks` for the form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from fourhands.judge.audit.blocks import Block, Keep, RecordText, lay_out
from fourhands.judge.audit.bodies import (
    arguments_text,
    listed,
    one_word,
    requirement_lines,
    verdict_lines,
    where_said,
)
from fourhands.judge.audit.names import name_hider
from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.event import MAIN_THREAD, Event, EventKind
from fourhands.model.outcome import Termination, Verdict
from fourhands.trajectories.ledgers import recorded_ledger

__all__ = ["RECORD_BUDGET", "Difference", "RecordText", "record_text"]

RECORD_BUDGET: Final = 200_000
"""Characters of a record that a judge is shown."""

Difference = Callable[[str, str], str]
"""Two trees of an attempt by git's names -> what differs, to be read. Never fails: what is gone is said."""

_MOST_TASK: Final = 20_000
_MOST_WORDS: Final = 8_000
_MOST_EDIT: Final = 8_000
_MOST_CHANGE: Final = 10_000
_MOST_PLAN: Final = 6_000
_MOST_PRINTED: Final = 4_000
_MOST_ACTION: Final = 3_000
_MOST_THOUGHT: Final = 3_000
_MOST_OUTPUT: Final = 2_000
_LOOKED_AT: Final = 64
"""Times what is shown of a payload that is read at all: the rest of a huge output is as if it were not there."""

_ENDINGS: Final = {
    Termination.FINISHED: "the agent said that it was done",
    Termination.AGENT_TIMEOUT: "the agent's time ran out",
    Termination.STEP_LIMIT: "the agent had no steps left",
    Termination.BUDGET: "the agent's budget was spent",
    Termination.PROTOCOL_FAILURE: "the agent did not keep to the way of working that it was told",
    Termination.INVALID: "the trial could not be set up",
    Termination.INFRASTRUCTURE_ERROR: "the machine failed",
}
_VERDICTS: Final = {
    Verdict.RESOLVED: "all tests that must pass do",
    Verdict.UNRESOLVED: "tests that must pass do not",
    Verdict.NONE: "no verdict",
}
_CHECKPOINTS: Final = {
    CheckpointKind.COMMIT: "a commit of the agent's",
    CheckpointKind.WORKING: "the files as they stand, not committed",
    CheckpointKind.STOP: "the files when the agent first wants to end",
    CheckpointKind.END: "the files in the end",
}


def record_text(
    events: Sequence[Event],
    read_blob: Callable[[str], bytes],
    *,
    budget: int = RECORD_BUDGET,
    difference: Difference | None = None,
    instruction: str | None = None,
) -> RecordText:
    """The record as a text; of equal records the same.

    Args:
        events: of the attempt.
        read_blob: the content of a blob of the attempt, by its hash; empty where it cannot be read.
        budget: characters, at most.
        difference: what shows changes of the code; without it the names of their files stand there.
        instruction: of the task, for trials whose record does not hold what the agent was told.

    Raises:
        ValueError: the budget is too small to show anything by.
    """
    telling = _Telling(events, read_blob, difference, instruction, max(_MOST_EDIT, budget // 4))
    return lay_out(tuple(telling.blocks()), budget)


class _Telling:
    def __init__(
        self,
        events: Sequence[Event],
        read_blob: Callable[[str], bytes],
        difference: Difference | None,
        instruction: str | None,
        most_in_the_end: int,
    ) -> None:
        self._events = events
        self._read = read_blob
        self._difference = difference
        self._instruction = instruction
        self._most_in_the_end = most_in_the_end
        self._hide = name_hider(events)
        self._tree: str | None = None
        self._base: str | None = None
        self._heard = {e.body["message"] for e in events if e.kind is EventKind.MESSAGE_CARRIED}
        self._last_words = max((event.seq for event in events if _is_reply(event)), default=None)

    def blocks(self) -> Iterator[Block]:
        tellers = {
            EventKind.TRIAL_STARTED: self._started,
            EventKind.MODEL_CALLED: self._reply,
            EventKind.ACTION_SEEN: self._action,
            EventKind.ACTION_RESULT: self._result,
            EventKind.WORKSPACE_CHANGED: self._change,
            EventKind.ASKED: self._asked,
            EventKind.ANSWERED: self._answered,
            EventKind.MESSAGE_SENT: self._message,
            EventKind.CHECKPOINT: self._checkpoint,
            EventKind.VERIFIED: self._verified,
            EventKind.TRIAL_ENDED: self._ended,
        }
        for event in self._events:
            if tell := tellers.get(event.kind):
                yield from tell(event)

    def _block(
        self, event: Event, title: str, body: str, keep: Keep, most: int, *, tail: bool = False
    ) -> Block:
        who = "" if event.thread == MAIN_THREAD else " (a helper of the agent's)"
        return Block(event.seq, f"{title}{who}", self._hide(body), keep, most, tail)

    def _blob(self, digest: str | None, most: int) -> str:
        data = self._read(digest) if digest else b""
        reach = most * _LOOKED_AT
        return (data if len(data) <= 2 * reach else data[:reach] + data[-reach:]).decode("utf-8", "replace")

    def _started(self, event: Event) -> Iterator[Block]:
        body = event.body
        self._tree = self._base = body.get("base_tree")
        opening = body.get("opening")
        told = self._blob(opening, _MOST_TASK) if opening else self._instruction
        title = "what the agent is told first"
        yield self._block(event, title, told or "(not on record)", Keep.ALWAYS, _MOST_TASK)
        if opening:
            title = "what the user wants, and the event in which they first say it; the agent sees none of this list"
            if ledger := self._ledger():
                yield self._block(event, title, ledger, Keep.ALWAYS, _MOST_TASK)

    def _ledger(self) -> str:
        told = where_said(self._events)
        ledger = recorded_ledger(self._events, self._read)
        if ledger:
            texts = {each.id: each.text for each in ledger.requirements}
        else:
            texts = dict.fromkeys(told, "(its text is not on record)")
        return "\n".join(f"{name} ({told.get(name, 'never said')}): {text}" for name, text in texts.items())

    def _reply(self, event: Event) -> Iterator[Block]:
        if not _is_reply(event):
            return
        text = self._blob(event.body.get("text"), _MOST_WORDS)
        if not text.strip():
            return
        if event.seq == self._last_words:
            yield self._block(event, "the agent writes, at last", text, Keep.WORDS, _MOST_WORDS)
        else:
            yield self._block(event, "the agent writes", text, Keep.THOUGHT, _MOST_THOUGHT)

    def _action(self, event: Event) -> Iterator[Block]:
        arguments = arguments_text(self._read(event.body["arguments"]))
        title = f"the agent acts: {self._hide(one_word(event.body['tool']))}"
        yield self._block(event, title, arguments, Keep.ACTION, _MOST_ACTION)

    def _result(self, event: Event) -> Iterator[Block]:
        code = event.body["code"]
        title = "what that gave" if code in {None, 0} else f"what that gave, with exit code {code}"
        output = self._blob(event.body["output"], _MOST_OUTPUT)
        yield self._block(event, title, output, Keep.OUTPUT, _MOST_OUTPUT)

    def _change(self, event: Event) -> Iterator[Block]:
        body = event.body
        before, self._tree = self._tree, body["tree"]
        shown = self._differing(before, body["tree"], body["files"])
        if body["by"] == "user":
            title = "the user changes the code"
            yield self._block(event, title, shown, Keep.EDIT, _MOST_EDIT)
        elif body["by"] == "agent":
            yield self._block(event, "the code, as the agent changed it", shown, Keep.CHANGE, _MOST_CHANGE)

    def _differing(self, before: str | None, after: str, files: Sequence[Mapping[str, Any]]) -> str:
        if self._difference and before:
            return self._difference(before, after)
        return "\n".join(dict.fromkeys(file["path"] for file in files))

    def _asked(self, event: Event) -> Iterator[Block]:
        yield self._block(event, "the agent says to the user", event.body["text"], Keep.WORDS, _MOST_WORDS)

    def _answered(self, event: Event) -> Iterator[Block]:
        yield self._block(event, "the user answers", event.body["text"], Keep.WORDS, _MOST_WORDS)

    def _message(self, event: Event) -> Iterator[Block]:
        unheard = "" if event.body["message"] in self._heard else ", which the agent never got"
        yield self._block(event, f"the user says{unheard}", event.body["text"], Keep.WORDS, _MOST_WORDS)

    def _checkpoint(self, event: Event) -> Iterator[Block]:
        body = event.body
        of = CheckpointKind(body["of"])
        if of is CheckpointKind.PLAN:
            text = self._blob(body.get("text"), _MOST_PLAN)
            yield self._block(event, "the agent's plan", text, Keep.WORDS, _MOST_PLAN)
            return
        lines = [f"subject: {body['subject']}"] if body["subject"] else []
        lines += [f"files: {', '.join(body['files'])}"] if body["files"] else []
        lines += requirement_lines(body["requirements"]) if body["source"] == "checks" else []
        failed = sorted(name for name, passed in (body["checks"] or {}).items() if passed is False)
        lines += listed("checks that fail", failed)
        yield self._block(event, _CHECKPOINTS[of], "\n".join(lines), Keep.CHECKPOINT, _MOST_ACTION)

    def _verified(self, event: Event) -> Iterator[Block]:
        body = event.body
        is_final = "phase" not in body
        state = "the final state" if is_final else "the state in which the agent first wanted to end"
        keep = Keep.ALWAYS if is_final else Keep.CHECKPOINT
        title = f"the hidden tests, on {state}: {_VERDICTS[Verdict(body['verdict'])]}"
        yield self._block(event, title, "\n".join(verdict_lines(body)), keep, _MOST_PLAN)
        if not is_final:
            return
        printed = self._blob(body["output"], _MOST_PRINTED)
        yield self._block(event, "what they printed", printed, Keep.ALWAYS, _MOST_PRINTED, tail=True)
        if self._base:
            files = [
                f for e in self._events if e.kind is EventKind.WORKSPACE_CHANGED for f in e.body["files"]
            ]
            shown = self._differing(self._base, body["tree"], files)
            title = "all that the final code differs in from where the work began, whoever wrote it"
            yield self._block(event, title, shown or "(nothing)", Keep.ALWAYS, self._most_in_the_end)

    def _ended(self, event: Event) -> Iterator[Block]:
        yield self._block(
            event, f"the end: {_ENDINGS[Termination(event.body['termination'])]}", "", Keep.ALWAYS, 1
        )


def _is_reply(event: Event) -> bool:
    """Whether it is one of the agent's own words: of the main loop, or of a helper's."""
    if event.kind is not EventKind.MODEL_CALLED or event.body["side"]:
        return False
    return event.body["step"] is not None or event.thread != MAIN_THREAD
