"""A story as plain JSON: every text made visible, valid UTF-8 always."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from fourhands.report.story.clipped import clipped_json
from fourhands.report.story.model import (
    Delivery,
    DiffLine,
    Entry,
    Fact,
    FileDiff,
    Story,
    UserLineStory,
    Verification,
)
from fourhands.report.story.talk_json import moved_json, spoken_json, state_json, talk_json
from fourhands.report.story.verdict import ablation_words
from fourhands.report.story.why_json import why_json
from fourhands.report.text import visible
from fourhands.trajectories.ablations import ablation_json

__all__ = ["story_bytes", "story_json"]

_SCHEMA: Final = 2


def story_bytes(story: Story) -> bytes:
    """The JSON as UTF-8."""
    import orjson  # noqa: PLC0415 - only who writes needs it

    return orjson.dumps(story_json(story))


def story_json(story: Story) -> dict[str, Any]:
    """Plain values; what each field holds is told by the class it comes from."""
    return {
        "schema": _SCHEMA,
        "trial": visible(story.trial),
        "attempt": story.attempt,
        "task": visible(story.task),
        "agent": visible(story.agent),
        "model": visible(story.model),
        "condition": visible(story.condition),
        "repeat": story.repeat,
        "started": _text(story.started),
        "seconds": story.seconds,
        "ended": story.ended,
        "verdict": _text(story.verdict),
        "termination": _text(story.termination),
        "reward": story.reward,
        "steps": story.steps,
        "tokens": story.tokens,
        "side_calls": story.side_calls,
        "sub_agent_calls": story.sub_agent_calls,
        "retries": story.retries,
        "entries": [_entry(entry) for entry in story.entries],
        "verification": story.verification and _verification(story.verification),
        "ablation": _ablation(story),
        "lines": {
            "known": story.lines is not None,
            "written": [_line(line) for line in story.lines or ()],
            "taken_out": [_line(line) for line in story.deletions],
        },
        "delivery": [_delivery(each) for each in story.delivery],
        "asking": story.asking and _fact(story.asking),
        "authors": _counts(story.authors),
        "talk": story.talk and talk_json(story.talk),
        "why": why_json(story),
        "problems": _texts(story.problems),
    }


def _text(text: str | None) -> str | None:
    return None if text is None else visible(text)


def _texts(texts: Iterable[str]) -> list[str]:
    return [visible(text) for text in texts]


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    return {visible(who): count for who, count in counts.items()}


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "seq": entry.seq,
        "lane": entry.lane.value,
        "thread": visible(entry.thread),
        "step": entry.step,
        "elapsed": entry.elapsed,
        "kind": entry.kind,
        "title": visible(entry.title),
        "text": clipped_json(entry.text),
        "form": entry.form,
        "output": clipped_json(entry.output),
        "code": entry.code,
        "tool": _text(entry.tool),
        "path": _text(entry.path),
        "call": _text(entry.call),
        "intervention": _text(entry.intervention),
        "message": _text(entry.message),
        "fired": _texts(entry.fired),
        "touches": [
            {
                "path": visible(touch.path),
                "kind": visible(touch.kind),
                "lines": touch.lines,
                "fired": touch.fired,
            }
            for touch in entry.touches
        ],
        "diffs": [_diff(diff) for diff in entry.diffs],
        "more_files": entry.more_files,
        "carried": entry.carried,
        "authors": None if entry.authors is None else _counts(entry.authors),
        "tokens": entry.tokens,
        "dropped": entry.dropped,
        "details": _texts(entry.details),
        "spoken": entry.spoken and spoken_json(entry.spoken),
        "state": entry.state and state_json(entry.state),
        "moves": [moved_json(each) for each in entry.moves],
        "slips": _texts(entry.slips),
        "closing": entry.closing,
    }


def _diff(diff: FileDiff) -> dict[str, Any]:
    return {
        "path": visible(diff.path),
        "status": diff.status,
        "binary": diff.binary,
        "missing": diff.missing,
        "note": diff.note,
        "added": diff.added,
        "removed": diff.removed,
        "lines_left_out": diff.lines_left_out,
        "hunks": [
            {
                "old_start": hunk.old_start,
                "new_start": hunk.new_start,
                "lines": [_diff_line(line) for line in hunk.lines],
            }
            for hunk in diff.hunks
        ],
    }


def _diff_line(line: DiffLine) -> list[Any]:
    told = [line.sign, line.author, line.old, line.new, visible(line.text)]
    return [*told, True] if line.is_unterminated else told


def _verification(found: Verification) -> dict[str, Any]:
    return {
        "seq": found.seq,
        "verdict": visible(found.verdict),
        "reward": found.reward,
        "timed_out": found.timed_out,
        "seconds": found.seconds,
        "fail_to_pass": [[visible(test), visible(status)] for test, status in found.fail_to_pass],
        "fail_to_pass_count": found.fail_to_pass_count,
        "fail_to_pass_passed": found.fail_to_pass_passed,
        "pass_to_pass": found.pass_to_pass,
        "pass_to_pass_failed": [
            [visible(test), visible(status)] for test, status in found.pass_to_pass_failed
        ],
        "pass_to_pass_failed_count": found.pass_to_pass_failed_count,
        "missing": _texts(found.missing),
        "restored": _texts(found.restored),
        "output": clipped_json(found.output),
    }


def _ablation(story: Story) -> dict[str, Any] | None:
    if story.ablation is None:
        return None
    told = ablation_json(story.ablation)
    return {
        "conclusion": told["conclusion"],
        "by": told["by"],
        "detail": visible(told["detail"]),
        "words": visible(ablation_words(story.ablation)),
        "stood": told["stood"],
        "probes": [
            {
                "name": probe["name"],
                "verdict": probe["verdict"],
                "seconds": probe["seconds"],
                "source": probe["source"],
                "scope": probe["scope"],
                "conflicts": _texts(probe["conflicts"]),
                "timed_out": probe["timed_out"],
            }
            for probe in told["probes"]
        ],
    }


def _line(told: UserLineStory) -> dict[str, Any]:
    line = told.line
    return {
        "intervention": visible(line.intervention),
        "line": line.line,
        "path": visible(line.path),
        "text": _text(told.text),
        "fate": told.fate,
        "by": line.by,
        "step": line.step,
        "seq": line.seq,
        "ever_revised": told.ever_revised,
        "absent_at_end": told.is_absent,
        "whitespace_only": told.is_whitespace_only,
        "words": told.words,
    }


def _delivery(each: Delivery) -> dict[str, Any]:
    return {
        "intervention": visible(each.intervention),
        "planned": _fact(each.planned),
        "shadow_of": _texts(each.shadow_of),
        "delivered": each.is_delivered,
        "facts": [_fact(fact) for fact in each.facts],
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {"text": visible(fact.text), "events": list(fact.events)}
