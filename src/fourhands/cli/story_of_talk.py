"""What a conversation adds to a story in a terminal: moves, states of the code, the ledger, and why it failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from rich.text import Text

from fourhands.model.agreement import Agreement
from fourhands.model.audit import Opinion
from fourhands.report.story.model import Entry, Story
from fourhands.report.story.talk import LedgerStory, RequirementStory, Spoken, State, Talk
from fourhands.report.text import visible

__all__ = ["ledger_lines", "said_more", "summary_line", "why_lines"]

_DIM: Final = "bright_black"
_INDENT: Final = " " * 12
_LETTERS: Final[Mapping[str, tuple[str, str]]] = {
    "held": ("H", _DIM),
    "revealed": ("R", "magenta"),
    "acknowledged": ("A", "cyan"),
    "satisfied": ("S", "green"),
    "violated": ("V", "red"),
    "forgotten": ("F", "red bold"),
}
"""What stands for a state in the ledger, and its style."""
_TURNS: Final = 40
"""Of so many turns each has its column; of more, the last ones have."""


def summary_line(talk: Talk) -> str:
    """What the conversation came to, in one line."""
    told = len(talk.ledger.requirements) - len(talk.held)
    parts = [
        f"persona {talk.persona}" if talk.persona else None,
        f"{talk.said} messages of the user" if talk.is_talk else None,
        f"told {told} of {len(talk.ledger.requirements)} requirements" if talk.is_talk else None,
        f"at will {talk.at_will}" if talk.at_will else None,
        f"agreement broken: {', '.join(slip.words for slip in talk.slips)}" if talk.slips else None,
        "verifier-informed" if talk.verifier_informed else None,
    ]
    return " · ".join(filter(None, parts))


def said_more(entry: Entry) -> Iterator[Text]:
    """Below an entry: by which move it was said and why, what a state holds, which requirements it moved."""
    if entry.spoken is not None:
        yield from _spoken(entry.spoken)
    if entry.state is not None:
        yield from _state(entry.state)
    for step in entry.moves:
        yield _dim(f"{_INDENT}{step.requirement}: {step.before} → {step.after}")
    for slip in entry.slips:
        yield Text(visible(f"{_INDENT}the working agreement is broken: {slip}"), style="yellow")


def _spoken(told: Spoken) -> Iterator[Text]:
    about = f" {', '.join(told.requirements)}" if told.requirements else ""
    why = f" ({told.why})" if told.why else ""
    source = "" if told.source == "fixed" else f"; {told.source_words}"
    if told.move or source:
        yield _dim(f"{_INDENT}{told.move_words}{about}{why}{source}")
    for each in told.blocked:
        yield Text(visible(f"{_INDENT}not said, {each.reason}:"), style="yellow")
        text = each.text.head + (
            f"\n… {each.text.left_out} …\n{each.text.tail}" if each.text.left_out else ""
        )
        yield from (_dim(f"{_INDENT}  {line}") for line in text.split("\n"))


def _state(state: State) -> Iterator[Text]:
    marks = [*state.marks, *([f"commit {state.commit}"] if state.commit else [])]
    if marks:
        yield _dim(f"{_INDENT}{', '.join(marks)}")
    of = ((state.met, "met"), (state.unmet, "not met"), (state.unknown, "not known"))
    held = "; ".join(f"{words}: {', '.join(names)}" for names, words in of if names)
    if held:
        yield _dim(f"{_INDENT}{held}")
    change = Text(_INDENT)
    for names, arrow, style in ((state.gained, "↑", "green"), (state.lost, "↓", "red")):
        for name in names:
            change.append(visible(f"{arrow} {name} "), style=style)
    if state.gained or state.lost:
        yield change
    if state.checks:
        unknown = f", {state.checks_unknown} not known" if state.checks_unknown else ""
        yield _dim(f"{_INDENT}{state.checks_passed} of {state.checks} checks pass{unknown}")
    if state.problem:
        yield Text(visible(f"{_INDENT}{state.problem}"), style="yellow")


def ledger_lines(talk: Talk) -> Iterator[Text]:
    """Each requirement, turn by turn, and what became of it."""
    ledger = talk.ledger
    if not ledger.requirements:
        return
    yield Text("\nThe ledger, turn by turn", style="bold")
    yield _dim("  H held  R revealed  A acknowledged  S satisfied  V violated  F forgotten")
    width = max(len(visible(each.id)) for each in ledger.requirements)
    turns = range(max(1, len(ledger.turns) - _TURNS + 1), len(ledger.turns) + 1)
    if turns:
        yield _dim(f"  {'':<{width}}  {''.join(f'{turn % 10}' for turn in turns)}  end")
    for each in ledger.requirements:
        yield _row(each, turns, width, ledger)
        if each.text:
            yield _dim(f"  {'':<{width}}  {' '.join(each.text.split())}")


def _row(each: RequirementStory, turns: Sequence[int], width: int, ledger: LedgerStory) -> Text:
    line = Text(f"  {visible(each.id):<{width}}  ")
    state = "held"
    moves = list(each.moves)
    for turn in turns:
        while moves and moves[0][0] <= turn:
            state = moves.pop(0)[1]
        line.append(*_LETTERS.get(state, ("?", "")))
    if turns:
        line.append("  ")
    line.append(*_LETTERS.get(each.fate, ("?", "")))
    told = "never told" if each.told is None else f"told in turn {each.told}"
    label = f", {each.label}" if each.label else ""
    early = each.label_at_will if each.label_at_will != each.label else None
    before = f" (at will: {early})" if early else ""
    return line.append(visible(f"    {each.fate}{f', {told}' if ledger.turns else ''}{label}{before}"))


def why_lines(story: Story, agreements: Iterable[Agreement]) -> Iterator[Text]:
    """Why it failed: by execution and events; then what judges said, each marked."""
    if story.failure is not None:
        yield Text("\nWhy it failed (in brackets: the events that show it)", style="bold")
        for found in story.failure.found:
            about = f"{found.requirement}: " if found.requirement else ""
            yield _fact(f"  {about}{found.label}, by {found.told_by}: {found.why}", found.events)
        for left in story.failure.undecided:
            about = f"{left.requirement}: " if left.requirement else ""
            yield _fact(f"  {about}undecided: {left.why}", left.events)
    if story.typing is not None:
        yield Text("\nType of the failure under the user's hands", style="bold")
        by = f", by {story.typing.by}" if story.typing.by else ""
        yield _fact(f"  {story.typing.type or 'undecided'}{by}: {story.typing.why}", story.typing.events)
    if story.opinions:
        yield Text("\nWhat judge models said", style="bold")
        have = list(agreements)
        for opinion in story.opinions:
            yield from _opinion(opinion, have)


def _opinion(opinion: Opinion, agreements: Iterable[Agreement]) -> Iterator[Text]:
    yield Text(visible(f"  {opinion.judge}, {opinion.audit} ({_standing(opinion, agreements)})"))
    if opinion.problem:
        yield Text(visible(f"    no opinion: {opinion.problem}"), style="yellow")
    elif not opinion.labels:
        yield _dim("    none of the labels applies")
    for each in opinion.labels:
        about = f"{each.requirement}: " if each.requirement else ""
        yield _fact(f"    {about}{each.label}: {each.why}", each.events)


def _standing(opinion: Opinion, agreements: Iterable[Agreement]) -> str:
    from fourhands.analysis.trust import Voice, trust_among

    voice = Voice(opinion.audit, opinion.audit_version, opinion.judge, opinion.prompt_version)
    trust = trust_among(agreements, voice)
    return f"{trust.told} with people" if trust.is_audited else trust.told


def _dim(text: str) -> Text:
    return Text(visible(text), style=_DIM)


def _fact(text: str, events: Sequence[int]) -> Text:
    numbers = ", ".join(map(str, events))
    return Text(visible(text)).append(f" [{numbers}]" if numbers else "", style=_DIM)
