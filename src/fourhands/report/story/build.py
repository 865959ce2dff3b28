"""The events of an attempt, with their payloads -> its story."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from fourhands.analysis.delivery import delivery_proofs
from fourhands.analysis.failure_labels import failure_labels
from fourhands.analysis.failure_types import failure_typing
from fourhands.analysis.lines import follow_user_lines
from fourhands.model.ablation import Ablation
from fourhands.model.audit import Opinion
from fourhands.model.errors import InputError
from fourhands.model.event import Event, EventKind
from fourhands.model.judgement import Judgements
from fourhands.report.story.changes import Changes
from fourhands.report.story.clock import Clock
from fourhands.report.story.conversing import talk_of
from fourhands.report.story.delivery import asking_fact, deliveries
from fourhands.report.story.entries import Entries
from fourhands.report.story.model import Limits, Story, UserLineStory
from fourhands.report.story.payloads import AttemptPayloads, Contents, Payloads
from fourhands.trajectories.ablations import read_ablation
from fourhands.trajectories.audits import opinions_of
from fourhands.trajectories.events import EventRead
from fourhands.trajectories.judgements import judgements_of
from fourhands.trajectories.run_folder import Attempt

__all__ = ["story", "story_of"]

DEFAULT_LIMITS: Final = Limits()


def story_of(
    attempt: Attempt,
    *,
    read: EventRead | None = None,
    limits: Limits = DEFAULT_LIMITS,
    shared: Contents | None = None,
) -> Story:
    """The story of an attempt on disk; what is torn, gone or spoiled of it is said, and is no error.

    Args:
        attempt: its folder.
        read: its events, when they have been read.
        limits: how much of each thing to hold.
        shared: contents of files that several attempts of one task share: reading many is quicker with it.
    """
    read = attempt.read() if read is None else read
    problems = list(read.problems)
    ablation = _read(lambda: read_ablation(attempt), problems)
    opinions = _read(lambda: opinions_of(attempt), problems)
    judged = _read(lambda: judgements_of(attempt), problems)
    return story(
        read.events,
        AttemptPayloads(attempt, shared),
        trial=attempt.path.parent.name,
        attempt=_number(attempt),
        ablation=ablation,
        opinions=opinions or (),
        judged=judged or (),
        problems=problems,
        limits=limits,
    )


def story(
    events: Sequence[Event],
    payloads: Payloads,
    *,
    trial: str = "",
    attempt: int = 1,
    ablation: Ablation | None = None,
    opinions: Iterable[Opinion] = (),
    judged: Iterable[Judgements] = (),
    problems: Iterable[str] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Story:
    """The story of one attempt's events, in order."""

    def read_blob(digest: str) -> bytes:
        return payloads.blob(digest) or b""

    clock = Clock(events)
    changes = Changes(events, payloads, limits)
    entries = Entries(events, payloads, changes, clock, limits)
    told = [*problems, *entries.problems]
    if not changes.is_exact:
        told.append(
            "contents of files are not there any more: who wrote the lines they held is told by place alone"
        )
    if (recorded := _recorded(events)) is not None and recorded != dict(changes.counts):
        told.append(
            f"who wrote each line is told by today's rule; when it was recorded they were counted as {recorded}"
        )
    lines = _try(lambda: follow_user_lines(events), "the user's lines", told)
    proofs = _try(lambda: delivery_proofs(events), "the proof of delivery", told) or ()
    failure = _try(
        lambda: failure_labels(events, read_blob, ablation=ablation), "why the conversation failed", told
    )
    typing = _try(lambda: failure_typing(events, read_blob, ablation), "the type of the failure", told)
    talk = _try(lambda: talk_of(events, read_blob, ablation, failure), "the conversation", told)
    started = next((event for event in events if event.kind is EventKind.TRIAL_STARTED), None)
    ended = next((event for event in reversed(events) if event.kind is EventKind.TRIAL_ENDED), None)
    start, end = (event.body if event else {} for event in (started, ended))
    tokens = end.get("tokens")
    return Story(
        trial=trial,
        attempt=attempt,
        task=str(start.get("task", "")),
        agent=str(start.get("agent", "")),
        model=str(start.get("model", "")),
        condition=str(start.get("condition", "")),
        repeat=start.get("repeat"),
        started=started.time if started else None,
        seconds=clock.total,
        ended=ended is not None,
        verdict=end.get("verdict"),
        termination=end.get("termination"),
        reward=end.get("reward"),
        steps=end.get("steps"),
        tokens=tokens.get("total") if isinstance(tokens, dict) else None,
        side_calls=end.get("side_calls"),
        sub_agent_calls=end.get("sub_agent_calls"),
        retries=end.get("retries"),
        entries=tuple(entries.told),
        verification=entries.verification,
        ablation=ablation,
        lines=None
        if lines is None
        else tuple(UserLineStory(line, changes.text_of(line)) for line in lines.lines),
        deletions=tuple(UserLineStory(line, changes.text_of(line)) for line in lines.deletions)
        if lines
        else (),
        delivery=deliveries(proofs),
        asking=asking_fact(proofs),
        authors=changes.counts,
        talk=talk,
        failure=failure,
        typing=typing,
        opinions=tuple(opinions),
        judged=tuple(judged),
        problems=tuple(told),
    )


def _read[T](read: Callable[[], T], problems: list[str]) -> T | None:
    """What ``read`` reads of the files beside a record; one that is none of ours is a problem of the story."""
    try:
        return read()
    except InputError as error:
        problems.append(str(error))
        return None


def _try[T](find: Callable[[], T], what: str, problems: list[str]) -> T | None:
    """What ``find`` finds in events that may lack anything."""
    try:
        return find()
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        problems.append(f"{what} cannot be told from this record: {error!r}")
        return None


def _recorded(events: Sequence[Event]) -> dict[str, int] | None:
    """How many lines agent and user had standing in the end, as it was counted then."""
    for event in reversed(events):
        if event.kind is EventKind.WORKSPACE_CHANGED:
            lines = event.body.get("lines")
            return {who: count for who, count in lines.items() if count} if isinstance(lines, dict) else None
    return None


def _number(attempt: Attempt) -> int:
    try:
        return attempt.number
    except ValueError:  # a folder that was copied under another name
        return 1
