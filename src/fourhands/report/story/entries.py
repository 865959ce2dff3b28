"""Events -> entries: what belongs together, an action and its result say, becomes one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from fourhands.analysis.conversations import SHOWN
from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.ledger_state import RequirementState
from fourhands.report.story.calls import ToolCall, tool_call
from fourhands.report.story.changes import Changes
from fourhands.report.story.clip import clip, clip_text, one_line
from fourhands.report.story.clock import Clock
from fourhands.report.story.model import Clipped, Entry, EntryKind, Limits, Verification
from fourhands.report.story.notes import note_words
from fourhands.report.story.payloads import Payloads
from fourhands.report.story.talking import States, moved, slips, spoken
from fourhands.report.story.touching import Reason, mark, touched
from fourhands.report.story.verdict import tests_words, verification

__all__ = ["Entries"]

_TITLE: Final = 120
_GONE: Final = Clipped("(not in the record any more)")
_NOTHING: Final = Clipped("")
_UNTOLD: Final = frozenset({EventKind.EDIT_INTENDED})
_MALFORMED: Final = (KeyError, TypeError, ValueError, AttributeError, IndexError)
"""What an event raises that is not as the record's description says."""


class Entries:
    """Of all events of an attempt, in order: ``told``, and what could not be told."""

    def __init__(
        self, events: Sequence[Event], payloads: Payloads, changes: Changes, clock: Clock, limits: Limits
    ) -> None:
        self.told: list[Entry] = []
        self.problems: list[str] = []
        self.verification: Verification | None = None
        self._payloads = payloads
        self._changes = changes
        self._clock = clock
        self._limits = limits
        self._step: dict[str, int | None] = {}
        """Of each thread's last reply."""
        self._tokens: dict[str, int] = {}
        """Of a thread's last reply, until an entry has told them."""
        self._replied: dict[str, int] = {}
        """Of each thread: how many entries there were before its last reply."""
        self._actions: dict[tuple[str, str], int] = {}
        """By thread and call, the place of the last action of that name."""
        self._results: dict[tuple[str, str], Event] = {}
        """By thread and call, what came of an action."""
        self._changed: dict[str, int] = {}
        """By thread, the place of the agent's last change."""
        self._named: dict[tuple[EntryKind, str], int] = {}
        """By kind and name, the place of an edit, a message, a question, an answer or a checkpoint."""
        self._states = States(limits)
        self._by_kind: Mapping[EventKind, Callable[[Event], None]] = {
            EventKind.TRIAL_STARTED: self._opened,
            EventKind.MODEL_CALLED: self._said,
            EventKind.ACTION_SEEN: self._acted,
            EventKind.ACTION_RESULT: self._printed,
            EventKind.WORKSPACE_CHANGED: self._workspace_changed,
            EventKind.TRIGGER_FIRED: self._fired,
            EventKind.SHADOW_TRIGGER_FIRED: self._fired,
            EventKind.EDIT_APPLIED: self._edited,
            EventKind.EDIT_NOT_APPLIED: self._missed,
            EventKind.MESSAGE_SENT: self._messaged,
            EventKind.MESSAGE_CARRIED: self._carried,
            EventKind.MESSAGE_LOST: self._lost,
            EventKind.ASKED: self._asked,
            EventKind.ANSWERED: self._answered,
            EventKind.LOOKED: self._looked,
            EventKind.REQUIREMENT_MOVED: self._moved,
            EventKind.CHECKPOINT: self._checkpoint,
            EventKind.DIVERGED: self._diverged,
            EventKind.VERIFIED: self._verified,
            EventKind.TRIAL_ENDED: self._ended,
            EventKind.NOTE: self._noted,
        }
        for event in events:
            if event.kind is EventKind.ACTION_RESULT:
                self._results.setdefault((event.thread, str(event.body.get("call"))), event)
        for event in events:
            self._take(event)
        self._mark_closing_words()
        self._mark_slips(events)

    def _take(self, event: Event) -> None:
        """Tell the next event; one that is not as it should be is told as that."""
        if event.kind in _UNTOLD:
            return
        try:
            self._by_kind.get(event.kind, self._other)(event)
        except _MALFORMED as error:
            self.problems.append(f"event {event.seq} ({event.kind}) is not told in full: {_why(error)}")

    def _add(self, event: Event, kind: EntryKind, title: str, **more: Any) -> int:
        """One more entry; its place."""
        entry = Entry(
            event.seq,
            more.pop("lane", event.actor),
            kind,
            one_line(title, _TITLE),
            thread=event.thread,
            elapsed=self._clock.elapsed(event),
            **more,
        )
        self.told.append(entry)
        return len(self.told) - 1

    def _change(self, place: int, **values: Any) -> None:
        self.told[place] = replace(self.told[place], **values)

    def _words(self, text: str) -> Clipped:
        return clip_text(text, most_bytes=self._limits.words)

    def _blob(self, digest: object, *, output: bool = False) -> Clipped | None:
        if digest is None:
            return None
        data = self._payloads.blob(digest)
        if data is None:
            return _GONE
        if output:
            return clip(data, most_bytes=self._limits.output_bytes, most_lines=self._limits.output)
        return clip(data, most_bytes=self._limits.words)

    def _opened(self, event: Event) -> None:
        """How a conversation begins; of any other trial nothing is told here."""
        brief = event.body.get("brief")
        if brief is None:
            return
        text = self._words(str(brief))
        opening = self._blob(event.body.get("opening"), output=True)
        self._add(event, "opened", str(brief), lane=Actor.USER, text=text, form="words", output=opening)

    def _said(self, event: Event) -> None:
        body = event.body
        if body["side"] or not body["complete"]:
            return
        self._step[event.thread] = body["step"]
        self._replied[event.thread] = len(self.told)
        usage = body["usage"] or {}
        tokens = sum(usage.get(name, 0) for name in ("input", "cache_read", "cache_write", "output")) or None
        words = self._blob(body.get("text"))
        if words is not None and words.head.strip():
            title = one_line(words.head, _TITLE)
            self._add(event, "said", title, step=body["step"], text=words, form="words", tokens=tokens)
        elif tokens is not None:
            self._tokens[event.thread] = tokens

    def _acted(self, event: Event) -> None:
        body = event.body
        tool, name = str(body["tool"]), str(body["call"])
        arguments = self._payloads.blob(body["arguments"])
        call = ToolCall(tool, tool) if arguments is None else tool_call(tool, arguments)
        text = None if call.text is None else self._words(call.text)
        place = self._add(
            event,
            "acted",
            call.title,
            step=body["step"],
            tool=call.tool,
            text=_GONE if arguments is None else text,
            form=call.form,
            path=call.path,
            call=name,
            tokens=self._tokens.pop(event.thread, None),
            **self._result(self._results.get((event.thread, name), event)),
        )
        self._actions[event.thread, name] = place

    def _result(self, event: Event) -> dict[str, Any]:
        """What is known of an action with its result, or, of an `action_seen`, before it."""
        body = event.body
        output = self._blob(body.get("output"), output=True)
        return {
            "output": None if output == _NOTHING else output,
            "code": body.get("code"),
            "touches": touched(body["touches"]),
        }

    def _printed(self, event: Event) -> None:
        name = str(event.body["call"])
        if (event.thread, name) not in self._actions:
            title = f"result of call {name}, of whose action the record does not tell"
            step = self._step.get(event.thread)
            self._add(event, "acted", title, step=step, call=name, **self._result(event))

    def _workspace_changed(self, event: Event) -> None:
        told = self._changes.take(event)
        body = event.body
        counts = {str(who): int(lines) for who, lines in (body.get("lines") or {}).items()}
        standing = ", ".join(f"{lines} by {who}" for who, lines in sorted(counts.items()) if lines)
        title = f"changed {len(body['files'])} file(s); changed lines standing: {standing or 'none'}"
        is_user = event.actor is Actor.USER
        intervention = body.get("intervention")
        place = self._add(
            event,
            "edited" if is_user else "changed",
            title,
            step=None if is_user else self._step.get(event.thread),
            intervention=intervention,
            diffs=told.diffs,
            more_files=told.more_files,
            authors=counts,
        )
        if is_user:
            self._named["edited", str(intervention)] = place
        else:
            self._changed[event.thread] = place

    def _fired(self, event: Event) -> None:
        body = event.body
        is_shadow = event.kind is EventKind.SHADOW_TRIGGER_FIRED
        why, intervention = str(body["why"]), str(body["intervention"])
        reason = Reason.of(why)
        for call in body["calls"]:
            place = self._actions.get((event.thread, call))
            if place is not None:
                self._mark(place, intervention, reason)
        if reason and reason.kind == "edit" and (place := self._changed.get(event.thread)) is not None:
            self._mark(place, intervention, reason)
        self._add(
            event,
            "would_trigger" if is_shadow else "triggered",
            f"a user would have acted here: {why}" if is_shadow else f"trigger: {why}",
            intervention=intervention,
            details=tuple(f"the user of {label}" for label in body.get("conditions", ())),
        )

    def _mark(self, place: int, intervention: str, reason: Reason | None) -> None:
        entry = self.told[place]
        if reason is None or intervention in entry.fired:
            return  # a count was reached: no action of its own set it off
        touches = mark(entry.touches, reason)
        is_it = any(touch.fired for touch in touches) or any(diff.path == reason.path for diff in entry.diffs)
        if is_it:
            self._change(place, fired=(*entry.fired, intervention), touches=touches)

    def _edited(self, event: Event) -> None:
        body = event.body
        intervention = str(body["intervention"])
        title = f"edit {intervention}: {body['outcome']} ({body['detail']})"
        place = self._named.pop(("edited", intervention), None)
        if place is None:
            self._add(event, "edited", title, intervention=intervention)
        else:
            self._change(place, title=one_line(title, _TITLE), details=(self.told[place].title,))

    def _missed(self, event: Event) -> None:
        body = event.body
        title = f"edit {body['intervention']} not made: {body['outcome']} ({body['detail']})"
        self._add(event, "missed", title, intervention=body["intervention"])

    def _messaged(self, event: Event) -> None:
        body = event.body
        text = str(body["text"])
        anchor = ", ".join(map(str, body.get("anchor") or ()))
        stands = (
            f"stands behind the result of {anchor}" if anchor else "stands with the main loop's next actions"
        )
        framed = body.get("framed")
        is_talk = body.get("intervention") is None
        place = self._add(
            event,
            "messaged",
            text,
            text=self._words(text),
            form="words",
            intervention=body.get("intervention"),
            message=body["message"],
            details=(
                stands,
                *((f"worded to the model as: {one_line(str(framed), self._limits.line)}",) if framed else ()),
                *(() if is_talk else _source(body)),
            ),
            spoken=spoken(body, self._limits) if is_talk else None,
        )
        self._named["messaged", str(body["message"])] = place

    def _carried(self, event: Event) -> None:
        body = event.body
        message, first = str(body["message"]), body["first_request"]
        if "last_request" not in body:
            self._add(event, "carried", f"message {message} carried from request {first}", message=message)
            if (place := self._named.get(("messaged", message))) is not None:
                self._change(place, carried=f"from request {first}")
            return
        last, requests = body["last_request"], body["requests"]
        title = f"message {message} carried from request {first} to {last} ({requests} requests)"
        self._add(event, "carried", title, message=message)
        place = self._named.get(("messaged", message))
        if place is not None:
            self._change(place, carried=f"from request {first} to {last}, by {requests} in all")

    def _lost(self, event: Event) -> None:
        body = event.body
        title = f"message {body['message']} lost its place at request {body['request']}"
        self._add(event, "lost", title, message=body["message"])

    def _asked(self, event: Event) -> None:
        text = str(event.body["text"])
        place = self._add(event, "asked", f"asks: {text}", text=self._words(text), form="words")
        self._named["asked", str(event.body.get("question"))] = place

    def _answered(self, event: Event) -> None:
        text = str(event.body["text"])
        told = spoken(event.body, self._limits)
        words = self._words(text)
        place = self._add(event, "answered", f"answers: {text}", text=words, form="words", spoken=told)
        self._named["answered", str(event.body.get("question"))] = place

    def _looked(self, event: Event) -> None:
        body = event.body
        argv = list(map(str, body["argv"]))
        title = "is shown what changed" if argv == SHOWN else f"looks: {' '.join(argv)}"
        refused = body["refused"]
        self._add(
            event,
            "looked",
            f"{title} (refused: {refused})" if refused else title,
            output=None if refused else self._blob(body["output"], output=True),
        )

    def _moved(self, event: Event) -> None:
        """A step of a requirement: told where it was brought about, if that is told at all."""
        step = moved(event)
        evidence = event.body["evidence"]
        said: EntryKind = "answered" if step.after == RequirementState.REVEALED else "asked"
        causes: tuple[tuple[EntryKind, str], ...] = (
            ("checkpoint", "checkpoint"),
            ("messaged", "message"),
            (said, "question"),
        )
        for kind, name in causes:
            place = self._named.get((kind, str(evidence.get(name))))
            if name in evidence and place is not None:
                self._change(place, moves=(*self.told[place].moves, step))
                return
        by = f" ({step.by})" if step.by else ""
        self._add(event, "moved", f"{step.requirement}: {step.before} → {step.after}{by}", moves=(step,))

    def _checkpoint(self, event: Event) -> None:
        state = self._states.take(event.body)
        score = "no score" if state.score is None else f"{state.score:.1f} of 100, by {state.source}"
        subject = f" “{state.subject}”" if state.subject else ""
        lines = "" if state.is_plan else f", +{state.additions} −{state.deletions}"
        title = f"checkpoint {state.name}, {state.of_words}{subject}{lines}: {score}"
        text = self._blob(event.body.get("text" if state.is_plan else "diff"))
        place = self._add(
            event,
            "checkpoint",
            title,
            state=state,
            text=None if text == _NOTHING else text,
            form="words" if state.is_plan else "diff",
        )
        self._named["checkpoint", state.name] = place

    def _diverged(self, event: Event) -> None:
        body = event.body
        expected = body["expected"]
        then = "the recording has no more" if expected is None else f"recorded as request {expected}"
        title = f"the replay went another way than its recording at request {body['request']} ({then})"
        self._add(event, "diverged", title, text=self._blob(body.get("diff")), form="diff")

    def _verified(self, event: Event) -> None:
        found = verification(event, self._payloads, self._limits)
        if event.body.get("phase") == "at-will":
            title = f"as it was when the agent first wanted to end: {tests_words(found)}"
            self._add(event, "at_will", title)
            return
        self.verification = found
        self._add(event, "verified", tests_words(found))

    def _ended(self, event: Event) -> None:
        body = event.body
        title = (
            f"{body['verdict']} × {body['termination']}: {body['steps']} steps, {body['tokens']['total']:,} tokens, "
            f"{body['delivered']} edits delivered of {body['triggered']} triggered"
        )
        self._add(event, "ended", title)

    def _noted(self, event: Event) -> None:
        body = event.body
        words = note_words(body)
        diff = self._blob(body.get("diff"))
        text = diff or (self._words(words) if len(words) > _TITLE else None)
        self._add(event, "noted", words, text=text, form="diff" if diff else "words" if text else None)
        if body.get("note") == "reply_not_accepted":
            self._drop(event)

    def _mark_closing_words(self) -> None:
        """What the agent's main loop says in a reply that does nothing is said to whoever reads it."""
        acting = {entry.step for entry in self.told if entry.kind == "acted" and entry.thread == MAIN_THREAD}
        for place, entry in enumerate(self.told):
            if entry.kind == "said" and entry.thread == MAIN_THREAD and entry.step not in acting:
                self._change(place, closing=True)

    def _mark_slips(self, events: Sequence[Event]) -> None:
        """Each slip is told with what shows it: the last entry up to its event."""
        for slip in slips(events):
            places = [place for place, entry in enumerate(self.told) if entry.seq <= slip.seq]
            if places:
                self._change(places[-1], slips=(*self.told[places[-1]].slips, slip.words))

    def _drop(self, event: Event) -> None:
        """The reply that the agent did not take up: its words, and what it was to do."""
        calls = {str(call) for call in event.body.get("calls") or ()}
        places = [
            self._actions[event.thread, call] for call in calls if (event.thread, call) in self._actions
        ]
        start = min(places, default=self._replied.get(event.thread, len(self.told)))
        before = start - 1
        if places and before >= 0 and self.told[before].kind == "said":
            start = before
        for place in range(start, len(self.told)):
            entry = self.told[place]
            own = entry.call in calls if entry.kind == "acted" else entry.kind == "said"
            if own and entry.thread == event.thread and entry.step == event.body.get("step"):
                self._change(place, dropped=True)

    def _other(self, event: Event) -> None:
        self._add(event, "noted", event.kind.value.replace("_", " "))


def _source(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Where the words of an intervention come from, when they are not the fixed ones, and what was not said."""
    model = body.get("model")
    rejected = tuple(f"not said: {each['reason']}" for each in body.get("rejected", ()))
    match body.get("source"):
        case "live":
            return (f"put into words by {model}", *rejected)
        case "fallback":
            return (*rejected, f"the fixed words, in place of {model}'s")
        case _:
            return rejected


def _why(error: Exception) -> str:
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error)
