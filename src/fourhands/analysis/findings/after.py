"""What became of the user's lines, and what the agent did after each intervention, per agent and condition."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from fourhands.analysis.findings.arms import Arm, Trial, agents_of, mean
from fourhands.analysis.findings.kept import kept
from fourhands.analysis.statistics import Interval, wilson
from fourhands.analysis.study import Study

__all__ = ["AfterRow", "Delivered", "Revision", "after_table", "delivered_by_trial", "revision_of"]


class Delivered(NamedTuple):
    """The columns of ``interventions`` that are needed of one that was delivered."""

    run: str
    trial: str
    delivered_seq: int | None
    has_edit: bool | None
    edit_outcome: str | None
    written: int | None
    kept: int | None
    moved: int | None
    changed: int | None
    removed: int | None
    ever_revised: int | None
    absent_at_end: int | None
    taken_out: int | None
    put_back: int | None
    ever_put_back: int | None
    re_reads: int | None
    reads_after: int | None
    edits_after: int | None
    tests_after: int | None
    asked: bool | None
    mentioned: bool | None
    mode: str | None

    @property
    def is_edit(self) -> bool:
        """Whether an edit was written, and not words alone said; an older record tells only what came of it."""
        return self.edit_outcome is not None if self.has_edit is None else self.has_edit


@dataclass(frozen=True, slots=True)
class Revision:
    """Of ``trials`` whose record tells the fate of the user's edit, how many were revised: two numbers.

    ``revised``: the agent at some time changed or removed a line of the user's, or put one back that they had taken
    out. ``absent``: no line that the user wrote stands at the end; of edits that only take lines out, all are back.
    They differ since the user may write the same again after a revision. ``interval`` is Wilson's of ``rate``, the
    share revised.
    """

    trials: int
    revised: int
    absent: int
    rate: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class AfterRow:
    """One agent and model under one condition.

    ``interventions`` were delivered, in ``trials`` trials. ``written`` to ``ever_put_back`` count lines of the user.
    ``re_read``, ``tested``, ``asked`` and ``mentioned`` count interventions after which the agent did so at least
    once; ``modes`` counts first responses, as `ResponseMode` names them (F5b). ``reads_``, ``edits_`` and
    ``tests_after_final_edit`` are means over the ``edited`` trials (F5a), ``None`` without one. ``revision`` is of
    all trials with an edit (F4c), ``revision_of_failed`` of the scored and unresolved ones among them.
    """

    agent: str
    model: str
    condition: str
    trials: int
    interventions: int
    written: int
    kept: int
    moved: int
    changed: int
    removed: int
    ever_revised: int
    absent_at_end: int
    taken_out: int
    put_back: int
    ever_put_back: int
    re_read: int
    tested: int
    asked: int
    mentioned: int
    modes: dict[str, int]
    edited: int
    reads_after_final_edit: float | None
    edits_after_final_edit: float | None
    tests_after_final_edit: float | None
    revision: Revision
    revision_of_failed: Revision


@kept
def after_table(study: Study) -> tuple[AfterRow, ...]:
    """One row per agent, model and condition under which anything was delivered, in order of appearance."""
    found = delivered_by_trial(study)
    rows = []
    for agent in agents_of(study):
        for arm in agent.arms:
            touched = [
                (trial, found[key]) for trial in arm.trials if (key := (trial.run, trial.trial)) in found
            ]
            if touched:
                rows.append(_row(arm, touched))
    return tuple(rows)


@kept
def delivered_by_trial(study: Study) -> Mapping[tuple[str, str], Sequence[Delivered]]:
    """Run and trial -> its delivered interventions, in order of delivery."""
    frame = study.tables.interventions
    frame = frame.filter(frame["delivered"] & (frame["shadow_of"].list.len().fill_null(0) == 0))
    columns = [frame[name].to_list() for name in Delivered._fields]
    found: dict[tuple[str, str], list[Delivered]] = defaultdict(list)
    for each in map(Delivered._make, zip(*columns, strict=True)):
        found[each.run, each.trial].append(each)
    return {key: sorted(each, key=lambda one: one.delivered_seq or 0) for key, each in found.items()}


def revision_of(trials: Iterable[Sequence[Delivered]]) -> Revision:
    """Of the delivered interventions of each trial; trials without a line whose fate is known are left out."""
    known = [
        found
        for found in trials
        if sum(each.written or 0 for each in found) + sum(each.taken_out or 0 for each in found)
    ]
    revised = sum(any(each.ever_revised or each.ever_put_back for each in found) for found in known)
    return Revision(
        trials=len(known),
        revised=revised,
        absent=sum(map(_is_absent, known)),
        rate=revised / len(known) if known else None,
        interval=wilson(revised, len(known)),
    )


def _is_absent(found: Sequence[Delivered]) -> bool:
    if written := sum(each.written or 0 for each in found):
        return sum(each.absent_at_end or 0 for each in found) == written
    return sum(each.put_back or 0 for each in found) == sum(each.taken_out or 0 for each in found)


_LINES: Final = (
    *("written", "kept", "moved", "changed", "removed", "ever_revised", "absent_at_end"),
    *("taken_out", "put_back", "ever_put_back"),
)


def _row(arm: Arm, touched: Sequence[tuple[Trial, Sequence[Delivered]]]) -> AfterRow:
    each = [one for _, found in touched for one in found]
    lines = {name: sum(getattr(one, name) or 0 for one in each) for name in _LINES}
    final = [edits[-1] for _, found in touched if (edits := [one for one in found if one.is_edit])]
    return AfterRow(
        agent=arm.agent,
        model=arm.model,
        condition=arm.condition,
        trials=len(touched),
        interventions=len(each),
        **lines,
        re_read=sum(bool(one.re_reads) for one in each),
        tested=sum(bool(one.tests_after) for one in each),
        asked=sum(bool(one.asked) for one in each),
        mentioned=sum(bool(one.mentioned) for one in each),
        modes=dict(sorted(Counter(one.mode for one in each if one.mode is not None).items())),
        edited=len(final),
        reads_after_final_edit=mean(one.reads_after for one in final),
        edits_after_final_edit=mean(one.edits_after for one in final),
        tests_after_final_edit=mean(one.tests_after for one in final),
        revision=revision_of(found for _, found in touched),
        revision_of_failed=revision_of(found for trial, found in touched if trial.failed_touched),
    )
