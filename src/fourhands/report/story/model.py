"""A trial's story as values: entries on one time line, each by one hand. Text in it is raw: data, never markup."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from fourhands.analysis.lines import UserDeletion, UserLine
from fourhands.model.ablation import Ablation
from fourhands.model.audit import Opinion
from fourhands.model.event import MAIN_THREAD, Actor
from fourhands.model.failure import FailureTyping, LabelledFailure
from fourhands.model.judgement import Judgements
from fourhands.report.story.clipped import Clipped
from fourhands.report.story.talk import Moved, Spoken, State, Talk
from fourhands.workspace.owners import Author

__all__ = [
    "Clipped",
    "Delivery",
    "DiffLine",
    "Entry",
    "EntryKind",
    "Fact",
    "FileDiff",
    "FileStatus",
    "Form",
    "Hunk",
    "Limits",
    "Sign",
    "Story",
    "Touched",
    "UserLineStory",
    "Verification",
]

EntryKind = Literal[
    "said", "acted", "changed", "triggered", "would_trigger", "edited", "missed", "messaged", "carried", "lost",
    "opened", "asked", "answered", "looked", "moved", "checkpoint", "at_will", "verified", "ended", "noted",
    "diverged",
]  # fmt: skip
Form = Literal["words", "shell", "code", "diff", "json"]
"""How a text is to be shown."""
Sign = Literal[" ", "+", "-"]
FileStatus = Literal["added", "deleted", "modified"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of each thing a story holds; what is more is left out, and said.

    ``output`` of an action, in lines, and ``output_bytes``; ``words`` of the agent or the user, in bytes; ``diff``
    lines of a file; ``files`` of a change; ``line`` in characters; ``tests`` by name.
    """

    output: int = 40
    output_bytes: int = 4096
    words: int = 8192
    diff: int = 400
    files: int = 50
    line: int = 1000
    tests: int = 200


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line, without its line feed, and who wrote it.

    ``old`` and ``new`` are its numbers before and after, from 1. ``is_unterminated``: no line feed follows it.
    """

    sign: Sign
    text: str
    author: Author
    old: int | None
    new: int | None
    is_unterminated: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that changed, with those around them. The starts are those of a unified diff, from 1."""

    old_start: int
    new_start: int
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What a change did to one file.

    ``missing``: its contents are not there any more, so there are no hunks. ``added`` and ``removed`` count all
    lines, ``lines_left_out`` those of the diff that are beyond the limit. ``note`` says in words what no line tells.
    """

    path: str
    status: FileStatus = "modified"
    binary: bool = False
    missing: bool = False
    note: str | None = None
    added: int = 0
    removed: int = 0
    lines_left_out: int = 0
    hunks: tuple[Hunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Touched:
    """What an action read or edited: see `fourhands.model.touch.Touch`.

    ``fired``: it reached a region that the user watched, and that made the user act.
    """

    path: str
    kind: str
    lines: tuple[tuple[int, int], ...] | None
    fired: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that one hand did.

    ``seq`` is of its event, or the first of them. ``title`` tells it in one line, the rest in full. ``elapsed`` are
    seconds since the agent's first request. ``code`` is an action's exit code, ``path`` the file that a file tool
    names. ``fired`` are the interventions that it set off, ``carried`` the requests that held a message.
    ``authors`` are the lines that agent and user have standing after a change, ``tokens`` those of the model's
    reply that begins here. ``dropped``: the agent did not take the reply up. ``details`` are lines of small print.

    Of a conversation: ``spoken`` is of a message of the user, ``state`` of a checkpoint, ``moves`` are the steps of
    requirements that this brought about, ``slips`` those of the working agreement that it shows. ``closing`` are
    words of the agent that go with no action: said to whoever reads them.
    """

    seq: int
    lane: Actor
    kind: EntryKind
    title: str
    thread: str = MAIN_THREAD
    step: int | None = None
    elapsed: float | None = None
    text: Clipped | None = None
    form: Form | None = None
    output: Clipped | None = None
    code: int | None = None
    tool: str | None = None
    path: str | None = None
    call: str | None = None
    intervention: str | None = None
    message: str | None = None
    fired: tuple[str, ...] = ()
    touches: tuple[Touched, ...] = ()
    diffs: tuple[FileDiff, ...] = ()
    more_files: int = 0
    carried: str | None = None
    authors: Mapping[str, int] | None = None
    tokens: int | None = None
    dropped: bool = False
    details: tuple[str, ...] = ()
    spoken: Spoken | None = None
    state: State | None = None
    moves: tuple[Moved, ...] = ()
    slips: tuple[str, ...] = ()
    closing: bool = False


@dataclass(frozen=True, slots=True)
class Verification:
    """What the verifier found. Tests are pairs of name and status, at most so many as the limits say.

    ``fail_to_pass_count``, ``fail_to_pass_passed``, ``pass_to_pass`` and ``pass_to_pass_failed_count`` count all.
    """

    seq: int
    verdict: str
    reward: float | None
    timed_out: bool
    seconds: float | None
    fail_to_pass: tuple[tuple[str, str], ...]
    fail_to_pass_count: int
    fail_to_pass_passed: int
    pass_to_pass: int
    pass_to_pass_failed: tuple[tuple[str, str], ...]
    pass_to_pass_failed_count: int
    missing: tuple[str, ...]
    restored: tuple[str, ...]
    output: Clipped | None


@dataclass(frozen=True, slots=True)
class Fact:
    """What is so, and the events that prove it; none where it is the lack of one."""

    text: str
    events: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a planned intervention, proven: see `fourhands.analysis.delivery`."""

    intervention: str
    planned: Fact
    shadow_of: tuple[str, ...]
    is_delivered: bool
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class UserLineStory:
    """One line that the user wrote, or took out, what it said (``None``: not known) and what became of it."""

    line: UserLine | UserDeletion
    text: str | None

    @property
    def fate(self) -> str:
        """``kept``, ``moved``, ``changed``, ``removed``; of a line that was taken out ``put_back`` or ``out``."""
        if isinstance(self.line, UserLine):
            return self.line.fate
        return "put_back" if self.line.put_back else "out"

    @property
    def ever_revised(self) -> bool:
        """The agent changed or removed it at some time; of a line that was taken out: put it back."""
        return self.line.ever_revised if isinstance(self.line, UserLine) else self.line.ever_put_back

    @property
    def is_absent(self) -> bool:
        """In the end no line is it any more."""
        return self.line.absent_at_end if isinstance(self.line, UserLine) else not self.line.put_back

    @property
    def is_whitespace_only(self) -> bool:
        """It was revised, and never in anything but white space."""
        return isinstance(self.line, UserLine) and self.line.whitespace_only

    @property
    def words(self) -> str:
        """The same as a reader would say it."""
        line = self.line
        when = f"after step {line.step}" if line.step else "before the first step"
        if isinstance(line, UserDeletion):
            return f"put back by the {line.by} {when}" if line.put_back else "still out"
        if line.fate != "kept":
            return f"{line.fate} by the {line.by} {when}"
        return "kept, after it had been gone" if line.ever_revised else "kept"


@dataclass(frozen=True, slots=True)
class Story:
    """A trial as its two pairs of hands made it. What the record does not tell is ``None`` or empty.

    ``seconds`` are of all of it, by the events' times. ``lines`` and ``deletions`` are of the user; ``None``: the
    record is from before lines were followed. ``authors`` are the lines that agent and user have standing in the end.
    ``talk`` is of a task that is a conversation. ``failure`` and ``typing`` say why it failed, by execution and
    events; ``opinions`` are what judge models said of that, ``judged`` of plans and code: their word, never more.
    ``problems`` are what a reader must know of the record.
    """

    trial: str
    attempt: int
    task: str = ""
    agent: str = ""
    model: str = ""
    condition: str = ""
    repeat: int | None = None
    started: str | None = None
    seconds: float | None = None
    ended: bool = False
    verdict: str | None = None
    termination: str | None = None
    reward: float | None = None
    steps: int | None = None
    tokens: int | None = None
    side_calls: int | None = None
    sub_agent_calls: int | None = None
    retries: int | None = None
    entries: tuple[Entry, ...] = ()
    verification: Verification | None = None
    ablation: Ablation | None = None
    lines: tuple[UserLineStory, ...] | None = None
    deletions: tuple[UserLineStory, ...] = ()
    delivery: tuple[Delivery, ...] = ()
    asking: Fact | None = None
    authors: Mapping[str, int] = field(default_factory=dict)
    talk: Talk | None = None
    failure: LabelledFailure | None = None
    typing: FailureTyping | None = None
    opinions: tuple[Opinion, ...] = ()
    judged: tuple[Judgements, ...] = ()
    problems: tuple[str, ...] = ()
