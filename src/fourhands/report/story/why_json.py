"""Why a trial failed, and what judges said of it, as plain JSON, every text made visible."""

from __future__ import annotations

from typing import Any

from fourhands.model.audit import AUDITS, AuditName, Opinion
from fourhands.model.failure import FailureTyping, LabelledFailure
from fourhands.model.judgement import Judgements
from fourhands.report.story.model import Story
from fourhands.report.text import visible

__all__ = ["why_json"]


def why_json(story: Story) -> dict[str, Any]:
    """By execution and events first; judges' words apart, and never mixed with them."""
    return {
        "labels": story.failure and _labels(story.failure),
        "type": story.typing and _type(story.typing),
        "opinions": [_opinion(each) for each in story.opinions],
        "judged": [_judged(each) for each in story.judged],
    }


def _labels(failure: LabelledFailure) -> dict[str, Any]:
    return {
        "found": [
            {
                "label": each.label.value,
                "by": each.by.value,
                "told_by": each.told_by,
                "requirement": _text(each.requirement),
                "events": list(each.events),
                "why": visible(each.why),
            }
            for each in failure.found
        ],
        "undecided": [
            {
                "requirement": _text(each.requirement),
                "events": list(each.events),
                "why": visible(each.why),
            }
            for each in failure.undecided
        ],
    }


def _type(typing: FailureTyping) -> dict[str, Any]:
    return {
        "type": typing.type and typing.type.value,
        "by": typing.by and typing.by.value,
        "events": list(typing.events),
        "why": visible(typing.why),
    }


def _opinion(opinion: Opinion) -> dict[str, Any]:
    return {
        "audit": opinion.audit.value,
        "audit_version": opinion.audit_version,
        "prompt_version": opinion.prompt_version,
        "judge": visible(opinion.judge),
        "labels": [
            {
                "label": visible(each.label),
                "events": list(each.events),
                "why": visible(each.why),
                "requirement": _text(each.requirement),
            }
            for each in opinion.labels
        ],
        "problem": _text(opinion.problem),
    }


def _judged(found: Judgements) -> dict[str, Any]:
    return {
        "audit": AuditName.GOALS.value,
        "audit_version": AUDITS[AuditName.GOALS].version,
        "prompt_version": found.prompt_version,
        "judge": visible(found.judge),
        "states": [
            {
                "state": visible(each.state),
                "of": visible(each.of),
                "score": each.judgement.score,
                "goals": {visible(score.id): score.score for score in each.judgement.scores},
            }
            for each in found.states
        ],
    }


def _text(text: str | None) -> str | None:
    return None if text is None else visible(text)
