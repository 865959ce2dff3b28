"""What the body of each kind of event holds, as far as readers rely on it.

A field that is required here has been in every record since the first; one that may be `UNSET` came later, or stands
only in some. A body may hold more than its shape. Shapes are checked, never built to be kept: structs take a third
of the time that typed dictionaries would.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, convert, field

from fourhands.model.checkpoint import CheckpointKind
from fourhands.model.event import EventKind
from fourhands.model.ledger import TOTAL_WEIGHT
from fourhands.model.ledger_state import RequirementState
from fourhands.model.objection import ObjectionKind
from fourhands.model.outcome import Termination, Verdict
from fourhands.model.persona import MoveKind
from fourhands.model.user import TalkOccasion

__all__ = ["check_body"]

_MOST: Final = 2**53
"""Beyond it a double no longer tells whole numbers apart; nothing that we count comes near."""

_Count = Annotated[int, Meta(ge=0, le=_MOST)]
_Line = Annotated[int, Meta(ge=-1, le=_MOST)]
"""Of an empty range at a file's start, the end is below its start."""
_Signed = Annotated[int, Meta(ge=-_MOST, le=_MOST)]
"""Exit codes; and tokens: a provider that counts cached ones apart leaves less than nothing of its input."""
_Seconds = Annotated[float, Meta(ge=0, le=_MOST)]
_Reward = Annotated[float, Meta(ge=0, le=1)]
_Score = Annotated[float, Meta(ge=0, le=TOTAL_WEIGHT)]
_Blob = str
_Lines = tuple[_Line, _Line]
_Hunk = tuple[_Line, _Line, _Line, _Line]
_ActionMoment = Literal["before_action", "after_action"]


class _Usage(Struct, gc=False):
    input: _Signed = 0
    cache_read: _Signed = 0
    cache_write: _Signed = 0
    output: _Signed = 0
    reasoning: _Signed = 0


class _Tokens(_Usage, gc=False, kw_only=True):
    total: _Signed


class _Planned(Struct, gc=False):
    id: str
    event: str
    moment: _ActionMoment
    has_edit: bool
    has_message: bool
    shadow_of: list[str]


class _TrialStarted(Struct, gc=False):
    task: str
    agent: str
    model: str
    condition: str
    repeat: _Count
    attempt: _Count
    run: str | UnsetType = UNSET
    task_digest: str | UnsetType = UNSET
    record_status: str | UnsetType | None = UNSET
    base_tree: str | UnsetType = UNSET
    interventions: _Count | UnsetType = UNSET
    planned: list[_Planned] | UnsetType = UNSET
    asking_tool: str | UnsetType | None = UNSET
    step_limit: _Count | UnsetType = UNSET
    persona: str | UnsetType = UNSET
    brief: str | UnsetType = UNSET
    opening: _Blob | UnsetType = UNSET
    ledger: _Blob | UnsetType = UNSET


class _AtWill(Struct, gc=False):
    verdict: Verdict
    reward: _Reward | None
    tree: str


class _Coverage(Struct, gc=False):
    told: list[str]
    held: list[str]


class _Slip(Struct, gc=False):
    slip: str
    seq: _Count
    paths: list[str]


class _TrialEnded(Struct, gc=False):
    verdict: Verdict
    termination: Termination
    reward: _Reward | None
    steps: _Count
    side_calls: _Count
    retries: _Count
    uncounted_replies: _Count
    tokens: _Tokens
    triggered: _Count
    shadow: _Count
    delivered: _Count
    messages: _Count
    sub_agent_calls: _Count | UnsetType = UNSET
    user_tokens: _Signed | UnsetType = UNSET
    user_lines: dict[str, _Count] | UnsetType = UNSET
    at_will: _AtWill | UnsetType | None = UNSET
    coverage: _Coverage | UnsetType | None = UNSET
    slips: list[_Slip] | UnsetType = UNSET


class _ModelCalled(Struct, gc=False):
    request: _Count
    step: _Count | None
    side: bool
    model: str
    status: _Count
    complete: bool
    usage: _Usage | None
    tools: list[str]
    milliseconds: _Seconds
    exchange: _Blob | UnsetType = UNSET
    text: _Blob | UnsetType | None = UNSET
    elapsed: _Seconds | UnsetType = UNSET


class _Touch(Struct, gc=False):
    path: str
    kind: Literal["read", "edit"]
    lines: list[_Lines] | None


class _ActionSeen(Struct, gc=False):
    step: _Count | None
    call: str
    tool: str
    arguments: _Blob
    touches: list[_Touch]


class _ActionResult(Struct, gc=False):
    call: str
    output: _Blob
    bytes: _Count
    code: _Signed | None
    touches: list[_Touch]
    elapsed: _Seconds | UnsetType = UNSET


class _File(Struct, gc=False):
    path: str
    old: _Blob | None
    new: _Blob | None
    binary: bool
    hunks: list[_Hunk]
    modes: tuple[_Count | None, _Count | None] | UnsetType = UNSET


class _UserLine(Struct, gc=False):
    intervention: str
    line: _Count
    fate: Literal["written", "moved", "changed", "removed", "restored", "deleted", "put_back"]
    path: str
    number: _Count | None
    whitespace: bool


class _WorkspaceChanged(Struct, gc=False):
    by: str
    intervention: str | None
    tree: str
    files: list[_File]
    lines: dict[str, _Count]
    user_lines: list[_UserLine] | UnsetType = UNSET
    regions: list[tuple[str, _Line, _Line, str | None]] | UnsetType = UNSET


class _TriggerFired(Struct, gc=False):
    intervention: str
    moment: _ActionMoment
    why: str
    calls: list[str]


class _ShadowTriggerFired(_TriggerFired, gc=False):
    conditions: list[str] | UnsetType = UNSET


class _EditIntended(Struct, gc=False):
    intervention: str
    patch: _Blob


class _Written(Struct, gc=False):
    path: str
    lines: list[_Lines]


class _EditApplied(Struct, gc=False):
    intervention: str
    outcome: Literal["applied", "partly_present"]
    detail: str
    files: list[_Written]


class _EditNotApplied(Struct, gc=False):
    intervention: str
    outcome: Literal["already_present", "does_not_apply", "region_gone"]
    detail: str


class _Rejected(Struct, gc=False):
    text: str
    reason: str
    kinds: list[ObjectionKind] | UnsetType = UNSET


class _Said(Struct, gc=False, kw_only=True):
    text: str
    source: Literal["fixed", "live", "fallback"] | UnsetType = UNSET
    model: str | UnsetType | None = UNSET
    usage: _Usage | UnsetType | None = UNSET
    rejected: list[_Rejected] | UnsetType = UNSET
    objections: list[ObjectionKind] | UnsetType = UNSET
    exchanges: list[_Blob] | UnsetType = UNSET
    move: MoveKind | UnsetType = UNSET
    requirements: list[str] | UnsetType = UNSET
    why: str | UnsetType = UNSET
    occasion: TalkOccasion | UnsetType = UNSET


class _MessageSent(_Said, gc=False, kw_only=True):
    message: str
    intervention: str | None
    anchor: list[str]
    framed: str | UnsetType = UNSET


class _MessageCarried(Struct, gc=False):
    message: str
    first_request: _Count
    last_request: _Count | UnsetType = UNSET
    requests: _Count | UnsetType = UNSET


class _MessageLost(Struct, gc=False):
    message: str
    request: _Count


class _Asked(Struct, gc=False):
    question: str
    text: str
    elapsed: _Seconds


class _Answered(_Said, gc=False, kw_only=True):
    question: str
    elapsed: _Seconds


class _Looked(Struct, gc=False):
    argv: list[str]
    code: _Signed
    output: _Blob
    bytes: _Count
    refused: str | None


class _RequirementMoved(Struct, gc=False):
    requirement: str
    before: RequirementState = field(name="from")
    to: RequirementState
    turn: _Count
    evidence: dict[str, Any]


class _ChangedLines(Struct, gc=False):
    additions: _Count
    deletions: _Count


class _SinceBase(_ChangedLines, gc=False):
    tests: _ChangedLines


class _Checkpoint(Struct, gc=False, kw_only=True):
    checkpoint: str
    of: CheckpointKind
    commit: str | None
    subject: str | None
    amended: bool
    merge: bool
    tree: str
    before: str
    diff: _Blob
    additions: _Count
    deletions: _Count
    files: list[str]
    tests_only: bool
    checks: dict[str, bool | None] | None
    requirements: dict[str, bool | None]
    goals: dict[str, _Reward | None]
    score: _Score | None
    source: Literal["checks", "hidden-tests", "words"] | None
    problem: str | None
    elapsed: _Seconds
    uncommitted: list[str] | UnsetType | None = UNSET
    has_base: bool | UnsetType | None = UNSET
    tests: _ChangedLines | UnsetType = UNSET
    since_base: _SinceBase | UnsetType = UNSET
    text: _Blob | UnsetType = UNSET
    committed: _Signed | UnsetType | None = UNSET
    commit_tests_only: bool | UnsetType = UNSET
    test_commits: list[str] | UnsetType | None = UNSET


class _Diverged(Struct, gc=False):
    request: _Count
    expected: _Count | None
    diff: _Blob


class _Verified(Struct, gc=False):
    key: str
    tree: str
    verdict: Verdict
    reward: _Reward | None
    timed_out: bool
    seconds: _Seconds
    fail_to_pass: dict[str, str]
    pass_to_pass: _Count
    pass_to_pass_failed: dict[str, str]
    output: _Blob
    missing: list[str] | UnsetType = UNSET
    phase: Literal["at-will"] | UnsetType = UNSET


class _Note(Struct, gc=False):
    note: str
    reason: str | UnsetType = UNSET


class _ReplyNotAccepted(Struct, gc=False):
    step: _Count | None
    calls: list[str]


class _MessageMoved(Struct, gc=False):
    message: str
    anchor: list[str]


class _ClientAnnounced(Struct, gc=False):
    request: _Count
    words: str


class _WithReason(Struct, gc=False):
    reason: str


class _GatewayCutOff(_WithReason, gc=False):
    by: str


class _ReplayUnfinished(Struct, gc=False):
    asked: _Count
    left: list[_Count]
    diff: _Blob


class _ProviderFailed(Struct, gc=False):
    status: _Count
    said: str


_SHAPES: Final[dict[EventKind, type[Struct]]] = {
    EventKind.TRIAL_STARTED: _TrialStarted,
    EventKind.TRIAL_ENDED: _TrialEnded,
    EventKind.MODEL_CALLED: _ModelCalled,
    EventKind.ACTION_SEEN: _ActionSeen,
    EventKind.ACTION_RESULT: _ActionResult,
    EventKind.WORKSPACE_CHANGED: _WorkspaceChanged,
    EventKind.TRIGGER_FIRED: _TriggerFired,
    EventKind.SHADOW_TRIGGER_FIRED: _ShadowTriggerFired,
    EventKind.EDIT_INTENDED: _EditIntended,
    EventKind.EDIT_APPLIED: _EditApplied,
    EventKind.EDIT_NOT_APPLIED: _EditNotApplied,
    EventKind.MESSAGE_SENT: _MessageSent,
    EventKind.MESSAGE_CARRIED: _MessageCarried,
    EventKind.MESSAGE_LOST: _MessageLost,
    EventKind.ASKED: _Asked,
    EventKind.ANSWERED: _Answered,
    EventKind.LOOKED: _Looked,
    EventKind.REQUIREMENT_MOVED: _RequirementMoved,
    EventKind.CHECKPOINT: _Checkpoint,
    EventKind.DIVERGED: _Diverged,
    EventKind.VERIFIED: _Verified,
    EventKind.NOTE: _Note,
}
"""Kinds that nothing writes yet have no shape."""

_NOTES: Final[dict[str, type[Struct]]] = {
    "reply_not_accepted": _ReplyNotAccepted,
    "message_moved": _MessageMoved,
    "message_reinserted": _MessageLost,
    "client_announced": _ClientAnnounced,
    "gateway_cut_off": _GatewayCutOff,
    "replay_unfinished": _ReplayUnfinished,
    "harness_failed": _WithReason,
    "provider_failed": _ProviderFailed,
    "no_verdict": _WithReason,
}
"""A note of another name needs no more than that."""


def check_body(kind: EventKind, body: dict[str, Any]) -> None:
    """See that a body holds what readers of its kind rely on.

    Raises:
        msgspec.ValidationError: a field is missing, or is not of its type or range; names it.
    """
    shape = _SHAPES.get(kind)
    if shape is None:
        return
    convert(body, shape)
    if kind is EventKind.NOTE and (further := _NOTES.get(body["note"])):
        convert(body, further)
