"""A trial's story as lines of a terminal: agent and user apart, each line of a diff with the hand that wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from rich.text import Text

from fourhands.cli.story_of_talk import ledger_lines, said_more, summary_line, why_lines
from fourhands.model.agreement import Agreement
from fourhands.model.event import MAIN_THREAD
from fourhands.report.story.model import Clipped, DiffLine, Entry, Fact, FileDiff, Hunk, Story
from fourhands.report.story.verdict import PASSED, ablation_words, probe_name
from fourhands.report.text import visible

__all__ = ["tell"]

_STYLES: Final = {"agent": "cyan", "user": "magenta", "harness": "bright_black", "verifier": "green"}
_AUTHORS: Final = {
    "agent": ("a", {"+": "cyan", "-": "cyan dim", " ": "cyan dim"}),
    "user": ("u", {"+": "magenta", "-": "magenta dim", " ": "magenta dim"}),
    "base": (" ", {"+": "", "-": "red dim", " ": ""}),
}
"""What stands before a line, where colours may be missing, and its style."""
_SPEECH: Final = {"messaged": "", "asked": "asks: ", "answered": "answers: ", "opened": "opens: "}
"""What is said by one hand to the other, and how it is told."""
_DIM: Final = "bright_black"
_INDENT: Final = " " * 12
_UNDER: Final = " " * 18
"""Under the words of whoever speaks."""
_MOST_TESTS: Final = 20


def tell(story: Story, agreements: Iterable[Agreement] = ()) -> Iterator[Text]:
    """The whole story, line by line; ``agreements`` are those of judges with people, of the run that it is of."""
    yield Text(visible(f"{story.task} · {story.agent} · {story.model} · {story.condition}"), style="bold")
    yield _dim(f"repeat {story.repeat}, attempt {story.attempt}, {story.started}")
    if story.talk is not None:
        yield _dim(summary_line(story.talk))
    step: int | None = None
    for entry in story.entries:
        begins = entry.kind in {"said", "acted"} and entry.step not in {None, step}
        if begins or entry.kind == "verified":
            yield Text()
        yield from _entry(entry, f"step {entry.step}" if begins else "")
        if entry.kind == "verified":
            yield from _tests(story)
        step = entry.step if begins else step
    if story.talk is not None:
        yield from ledger_lines(story.talk)
    yield from why_lines(story, agreements)
    yield from _ablation(story)
    yield from _deliveries(story)
    yield from _lines(story)
    for problem in story.problems:
        yield Text(visible(problem), style="yellow")


def _dim(text: str) -> Text:
    return Text(visible(text), style=_DIM)


def _entry(entry: Entry, when: str) -> Iterator[Text]:
    first, *rest = _said(entry)
    style = "strike" if entry.dropped else ""
    who = entry.lane.value if entry.thread == MAIN_THREAD else entry.thread
    line = Text(f"{when:<9}").append(f"{visible(who):<8} ", style=_STYLES[entry.lane.value])
    yield line.append(visible(first), style=style)
    for each in rest:
        yield Text(visible(f"{_UNDER}{each}"), style=style)
    if entry.output is not None:
        for each in _whole(entry.output):
            yield _dim(f"{_INDENT}│ {each}")
    if entry.code:
        yield Text(f"{_INDENT}exit code {entry.code}", style="yellow")
    for touch in entry.touches:
        where = "" if touch.lines is None else ":" + ",".join(_range(*pair) for pair in touch.lines)
        line = _dim(f"{_INDENT}{touch.kind}s {touch.path}{where}")
        yield line.append(" ← what the user watches", style="magenta") if touch.fired else line
    for diff in entry.diffs:
        yield from _diff(diff)
    if entry.more_files:
        yield _dim(f"{_INDENT}… {entry.more_files:,} files more")
    yield from said_more(entry)
    for detail in entry.details:
        yield _dim(f"{_INDENT}{detail}")


def _said(entry: Entry) -> list[str]:
    """What is said or done, in full where the title is but its beginning."""
    if entry.text is None or entry.kind == "checkpoint":  # its diff is told where it was made
        return [entry.title]
    first, *rest = text = _whole(entry.text)
    if entry.kind == "said":
        return text
    if entry.form == "shell":
        return [f"{entry.tool} $ {first}", *rest]
    if (how := _SPEECH.get(entry.kind)) is not None:
        quoted = f"{how}“{'\n'.join(text)}”"
        return quoted.split("\n")
    return [entry.title, *text]


def _whole(text: Clipped) -> list[str]:
    lines = text.head.split("\n") if text.head or not text.left_out else []
    if text.left_out:
        lines += [f"… {text.left_out} …", *(text.tail.split("\n") if text.tail else ())]
    return lines


def _range(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}-{end}"


def _diff(diff: FileDiff) -> Iterator[Text]:
    if not diff.hunks:
        change = "" if diff.status == "modified" else f" {diff.status}"
        counts = f", +{diff.added} −{diff.removed}" if diff.missing else ""
        yield Text(visible(f"{_INDENT}{diff.path}:{change} {diff.note or ''}{counts}"), style="yellow")
        return
    note = f"  ({diff.note})" if diff.note else ""
    yield Text(visible(f"{_INDENT}--- {'/dev/null' if diff.status == 'added' else f'a/{diff.path}'}"))
    yield Text(visible(f"{_INDENT}+++ {'/dev/null' if diff.status == 'deleted' else f'b/{diff.path}'}{note}"))
    for hunk in diff.hunks:
        yield _dim(f"{_INDENT}{_header(hunk)}")
        yield from map(_diff_line, hunk.lines)
    if diff.lines_left_out:
        yield _dim(f"{_INDENT}… {diff.lines_left_out:,} lines more")


def _header(hunk: Hunk) -> str:
    old = sum(line.old is not None or line.sign == " " for line in hunk.lines)
    new = sum(line.new is not None for line in hunk.lines)
    return f"@@ -{hunk.old_start},{old} +{hunk.new_start},{new} @@"


def _diff_line(line: DiffLine) -> Text:
    who, styles = _AUTHORS[line.author]
    end = "  (no line feed at the end)" if line.is_unterminated else ""
    text = f"{_INDENT[:-2]}{who} {line.sign}{line.text}"
    return Text(visible(text), style=styles[line.sign]).append(end, style=_DIM)


def _tests(story: Story) -> Iterator[Text]:
    found = story.verification
    if found is None:
        return
    to_fix = [test for test in found.fail_to_pass if test[1] not in PASSED]
    for title, tests in (("to be fixed", to_fix), ("passed before", found.pass_to_pass_failed)):
        for test, status in tests[:_MOST_TESTS]:
            yield Text(visible(f"{_INDENT}{status}: {test} ({title})"), style="red")
        if len(tests) > _MOST_TESTS:
            yield _dim(f"{_INDENT}… {len(tests) - _MOST_TESTS} more that were {title}")
    if found.restored:
        yield _dim(f"{_INDENT}restored before the tests ran: {', '.join(found.restored)}")


def _ablation(story: Story) -> Iterator[Text]:
    if story.ablation is None:
        return
    yield Text("\nCausal ablation", style="bold")
    yield Text(visible(f"  {ablation_words(story.ablation)}"))
    for probe in story.ablation.probes:
        time = "" if probe.seconds is None else f", {probe.seconds} s"
        yield _dim(f"    {probe_name(probe)}: {probe.verdict}{time}")


def _deliveries(story: Story) -> Iterator[Text]:
    if not story.delivery:
        return
    yield Text("\nDelivery of the user's interventions (in brackets: the events that prove it)", style="bold")
    for each in story.delivery:
        yield _fact(f"  {each.intervention}: ", each.planned)
        yield from (_fact("    ", fact) for fact in each.facts)
    if story.asking is not None:
        yield _fact("  ", story.asking)


def _fact(before: str, fact: Fact) -> Text:
    events = ", ".join(map(str, fact.events))
    return Text(visible(f"{before}{fact.text}")).append(f" [{events}]" if events else "", style=_DIM)


def _lines(story: Story) -> Iterator[Text]:
    """What became of each line that the user wrote, and of each that the user deleted."""
    written = story.lines or ()
    if written or story.deletions:
        yield Text("\nThe user's lines", style="bold")
    for what, lines in (("line", written), ("deleted line", story.deletions)):
        for told in lines:
            line = told.line
            yield Text(visible(f"  {line.intervention}, {what} {line.line}: {told.words} ({line.path})"))
            if told.text:
                yield _dim(f"    {told.text}")
