"""Why one requirement of a conversation is not met: the rules, in the order of their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from fourhands.analysis.labels.course import Course, Courses
from fourhands.analysis.labels.edits import UserEdits
from fourhands.analysis.labels.lines import AgentLines
from fourhands.analysis.labels.words import AgentWords, How, Said
from fourhands.analysis.ledger_labels import acts_after, was_cut
from fourhands.model.ablation import Ablation
from fourhands.model.condition import Condition
from fourhands.model.event import Event, EventKind
from fourhands.model.failure import FailureLabel, FoundBy, FoundLabel, Undecided
from fourhands.model.ledger import Ledger
from fourhands.model.ledger_state import RequirementState
from fourhands.model.persona import MoveKind

__all__ = ["Finding", "reasons", "tests_named"]

type Finding = FoundLabel | Undecided

_SHOWN: Final = 200
"""Characters of the agent's words that are quoted."""
_NAMED: Final = 3
"""Tests that are named; more are counted."""


def reasons(
    standing: Courses,
    events: Sequence[Event],
    ledger: Ledger | None,
    read_blob: Callable[[str], bytes],
    ablation: Ablation | None,
) -> Iterator[Finding]:
    """What is found of each requirement that is not met, in order.

    That is one thing, or two: what was lost may have been taken for something else as well.
    """
    known = [course.requirement for course in standing.requirements]
    edits = UserEdits(events, ablation)
    told = [course.requirement for course in standing.requirements if course.told is not None]
    rules = None
    if ledger and set(known) <= set(ledger.ids):
        words, lines = AgentWords(events, ledger, read_blob), AgentLines(events, ledger, read_blob)
        rules = _Rules(events, edits, words, lines, tuple(told))
    for course in standing.requirements:
        if course.met is False:
            case = _Case.of(course, standing, events)
            first = _untold(case, events) or _reason(case, edits, rules)
            yield first
            lost = isinstance(first, FoundLabel) and first.label is FailureLabel.REGRESSION
            if rules and lost and (second := rules.otherwise(case)):
                yield second


@dataclass(frozen=True, slots=True)
class _Case:
    """A requirement that is not met. ``shown`` are the events that show it, ``moves`` those of the ledger.

    ``told`` is that in which it was said; where it never was, nothing asks.
    """

    course: Course
    told: int
    shown: tuple[int, ...]
    moves: tuple[Event, ...]

    @classmethod
    def of(cls, course: Course, standing: Courses, events: Sequence[Event]) -> _Case:
        """Gather it."""
        verdict = [standing.verified] if course.tests and standing.verified is not None else []
        moves = (e for e in events if e.kind is EventKind.REQUIREMENT_MOVED)
        return cls(
            course,
            -1 if course.told is None else course.told,
            tuple(seq for seq in (course.end, *verdict) if seq is not None),
            tuple(e for e in moves if e.body["requirement"] == course.requirement),
        )

    @property
    def name(self) -> str:
        """Its id."""
        return self.course.requirement

    def found(self, label: FailureLabel, by: FoundBy, why: str, *events: int | None) -> FoundLabel:
        """A label; where the word of the user's own model stands in for checks it rests on that, and says so."""
        if self.course.judged:
            by, why = FoundBy.JUDGE, f"{why}; that it is not met is the word of the user's own model"
        return FoundLabel(label, by, self.name, self._events(events), why)

    def found_by_model(self) -> int | None:
        """The event in which the user's model, or the checks that it was told of, found it in the code."""
        return next((e.seq for e in self.moves if e.body["to"] == RequirementState.SATISFIED), None)

    def undecided(self, why: str, *events: int | None, edit: int | None = None) -> Undecided:
        """No label; ``edit`` is the user's that may be why."""
        return Undecided(self.name, self._events((*events, edit)), why, edit)

    def _events(self, more: tuple[int | None, ...]) -> tuple[int, ...]:
        every = (self.told if self.course.told is not None else None, *more, *self.shown)
        return tuple(sorted({seq for seq in every if seq is not None}))


def _untold(case: _Case, events: Sequence[Event]) -> Finding | None:
    """What was never said is nobody's lack but the user's; unless the trial was cut before they could say it."""
    if case.course.told is not None:
        return None
    if was_cut(events):
        return case.undecided("the trial was cut before it was said")
    if _says_all(events):
        return case.undecided("never said, although the user was to say everything in the end")
    return case.found(FailureLabel.MISSING, FoundBy.EVENTS, "never said, and not met")


def _says_all(events: Sequence[Event]) -> bool:
    """Whether the user hands over what is left once the agent wants to end."""
    started = next((event.body for event in events if event.kind is EventKind.TRIAL_STARTED), None)
    condition = Condition.parse(started["condition"]) if started else None
    return condition is not None and condition.talks and condition.coverage == "full"


def _reason(case: _Case, edits: UserEdits, rules: _Rules | None) -> Finding:
    if edits.caused():
        why = "the user's edit caused the failure, as causal ablation shows"
        return replace(case.undecided(why), is_excused=True)
    lost = _lost(case, edits) or _taken_back(case, edits)
    if lost is not None:
        return lost
    if rules is None:
        never = "never met" if case.course.by_chance is None else "not met since"
        why = f"said, and {never}; the record has no ledger to read the agent's words by"
        return case.undecided(why, case.course.by_chance)
    return rules.why(case)


def _lost(case: _Case, edits: UserEdits) -> Finding | None:
    held, lost = case.course.held, case.course.lost
    if held is None or lost is None:
        return None
    if (edit := edits.may_have_broken(case.name, held.place, lost.place)) is not None:
        why = "a state had it; then the user made an edit, and nothing shows that it is lost without that"
        return case.undecided(why, held.seq, lost.seq, edit=edit)
    why = "a state of the code had it, and the final one has not"
    return case.found(FailureLabel.REGRESSION, FoundBy.EXECUTION, why, held.seq, lost.seq)


def _taken_back(case: _Case, edits: UserEdits) -> Finding | None:
    """The same of what no check can show: the user's model found it, and then no more."""
    had = case.found_by_model()
    if not case.course.judged or had is None:
        return None
    if (edit := edits.may_have_broken(case.name)) is not None:
        why = (
            "the user's model found it in the code, and then no more; an edit of the user's stands in the end"
        )
        return case.undecided(why, had, case.moves[-1].seq, edit=edit)
    why = "the user's model found it in the code, and then no more"
    return case.found(FailureLabel.REGRESSION, FoundBy.JUDGE, why, had, case.moves[-1].seq)


@dataclass(frozen=True, slots=True)
class _Rules:
    """What is asked, one rule after the other, of a requirement that was said and never met."""

    events: Sequence[Event]
    edits: UserEdits
    words: AgentWords
    lines: AgentLines
    all_told: tuple[str, ...]

    def why(self, case: _Case) -> Finding:
        """The first rule that has an answer; what nothing speaks of was forgotten."""
        said = self.words.of(case.name, case.told)
        rules = (self._edited, self._in_part, self._otherwise, self._as_said, self._named, self._hinted)
        for rule in (*rules, self._unheard, self._had_before, self._told_again, self._written, self._silent):
            if (finding := rule(case, said)) is not None:
                return finding
        again = [event.seq for event in self.events if _corrects(event, case.name)]
        why = "said, never met, and neither the agent's words nor its lines take it up"
        return case.found(FailureLabel.FORGOTTEN, FoundBy.EVENTS, why, *again)

    def otherwise(self, case: _Case) -> Finding | None:
        """Whether the agent's last words about it say it otherwise."""
        return self._otherwise(case, self.words.of(case.name, case.told))

    def _otherwise(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        last = _last_plain(said)
        if last is None or last.how is not How.OTHERWISE:
            return None
        why = f"the agent says it otherwise ({last.detail}): {_quoted(last)}"
        return case.found(FailureLabel.MISINTERPRETATION, FoundBy.EVENTS, why, last.seq)

    def _edited(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        del said
        edit = self.edits.may_have_broken(case.name)
        return None if edit is None else case.undecided("an edit of the user's stands in the end", edit=edit)

    def _in_part(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        """Its own checks pass, so that it is not what was left out, and a hidden test of it fails."""
        del said
        if not case.course.tests or not case.course.checked:
            return None
        why = f"its own checks pass, and hidden tests of it fail: {tests_named(case.course.tests)}"
        return case.found(FailureLabel.TECHNICAL, FoundBy.EXECUTION, why)

    def _as_said(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        last = _last_plain(said)
        if last is None:
            return None
        why = f"the agent says it as it was said, and the code does not do it: {_quoted(last)}"
        return case.found(FailureLabel.TECHNICAL, FoundBy.EVENTS, why, last.seq)

    def _named(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        del said
        trace = self.lines.named(case.name, case.told)
        if trace is None:
            return None
        why = f"the agent's lines have what it names ({trace.detail}), and do not do it"
        return case.found(FailureLabel.TECHNICAL, FoundBy.EVENTS, why, trace.seq)

    def _hinted(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        most = max(said, key=lambda each: each.how, default=None)
        if most is None or most.how is How.GLANCED:
            return None
        how = "says it in part" if most.how is How.PARTLY else "may speak of it"
        detail = f" ({most.detail})" if most.detail else ""
        return self._unless_gained(case, f"the agent {how}{detail}: {_quoted(most)}", most.seq)

    def _unheard(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        del said
        if self.words.is_unreadable(case.told):
            return case.undecided("some of the agent's words cannot be read any more")
        if not acts_after(self.events, case.told):
            return case.undecided("the agent took no step after it was said")
        return None

    def _had_before(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        """Something was there, be it by chance, or as a model saw it: silence does not show that it was forgotten."""
        del said
        if case.course.by_chance is not None:
            why = "a state had it before it was said, and none does since"
            return case.undecided(why, case.course.by_chance)
        seen = case.found_by_model()
        return None if seen is None else case.undecided("the user found it in the code", seen)

    def _told_again(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        del said
        trace = self.lines.answered(case.name)
        if trace is None:
            return None
        why = "the agent changed code when told that it is not met, and said nothing of it"
        return self._unless_gained(case, why, trace.seq)

    def _written(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        """A word of its own in what the agent says, or a word or number of its own in its lines, may be of it."""
        if said:
            why = f"the agent may speak of it ({said[-1].detail}): {_quoted(said[-1])}"
            return case.undecided(why, said[-1].seq)
        trace = self.lines.hinted(case.name, case.told)
        if trace is None:
            return None
        return case.undecided(f"the agent's lines may be about it ({trace.detail})", trace.seq)

    def _silent(self, case: _Case, said: Sequence[Said]) -> Finding | None:
        """Where lines were written, its silence says nothing of an agent that speaks of nothing at all.

        Nor does it where the lines cannot be asked, for the requirement names nothing; unless the agent was told once
        more that it is not met, acted, and changed nothing for it.
        """
        del said
        changed = self.lines.changed(case.told)
        if changed is None:
            return None
        if self.words.speaks_of_others(case.name, self.all_told, case.told):
            why = "the agent changed code, and it names nothing that lines could be known by"
            shows = self.lines.can_show(case.name) or self._is_passed_over(case.name)
            return None if shows else case.undecided(why, changed)
        why = "the agent changed code, and says nothing of any requirement"
        return self._unless_gained(case, why, changed)

    def _is_passed_over(self, name: str) -> bool:
        """Whether the agent acted after a message that said that this one alone is not met."""
        said = (e.seq for e in self.events if _corrects(e, name) and e.body["requirements"] == [name])
        return any(acts_after(self.events, seq) for seq in said)

    def _unless_gained(self, case: _Case, why: str, *events: int) -> Finding:
        """No label, unless a check of it came to pass: then there is something in the code, and not all."""
        gained = case.course.gained
        if gained is None:
            return case.undecided(why, *events)
        why = f"a check of it came to pass, and not all did; {why}"
        return case.found(FailureLabel.TECHNICAL, FoundBy.EVENTS, why, gained, *events)


def _last_plain(said: Sequence[Said]) -> Said | None:
    """The last text that says it outright, as it was said or otherwise."""
    return next((each for each in reversed(said) if each.how >= How.FAITHFUL), None)


def _corrects(event: Event, name: str) -> bool:
    """Whether the user says in it, once more, that a requirement is not met."""
    return event.body.get("move") == MoveKind.CORRECT and name in event.body.get("requirements", ())


def _quoted(said: Said) -> str:
    words = said.words if len(said.words) <= _SHOWN else f"{said.words[:_SHOWN]}…"
    return f"“{words}”"


def tests_named(names: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
