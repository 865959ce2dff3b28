"""A conversation's part of a story as plain JSON, every text made visible."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fourhands.report.story.clipped import clipped_json
from fourhands.report.story.talk import LedgerStory, Moved, Spoken, State, Talk
from fourhands.report.text import visible

__all__ = ["moved_json", "spoken_json", "state_json", "talk_json"]


def spoken_json(told: Spoken) -> dict[str, Any]:
    """What there is to know of a message."""
    return {
        "move": _text(told.move),
        "requirements": _texts(told.requirements),
        "why": _text(told.why),
        "occasion": _text(told.occasion),
        "source": visible(told.source),
        "words_by": visible(told.source_words),
        "blocked": [
            {"reason": visible(each.reason), "text": clipped_json(each.text)} for each in told.blocked
        ],
    }


def state_json(state: State) -> dict[str, Any]:
    """A checkpoint."""
    return {
        "name": visible(state.name),
        "of": visible(state.of),
        "of_words": visible(state.of_words),
        "commit": _text(state.commit),
        "subject": _text(state.subject),
        "marks": list(state.marks),
        "additions": state.additions,
        "deletions": state.deletions,
        "score": state.score,
        "source": _text(state.source),
        "met": _texts(state.met),
        "unmet": _texts(state.unmet),
        "unknown": _texts(state.unknown),
        "gained": _texts(state.gained),
        "lost": _texts(state.lost),
        "checks": state.checks,
        "checks_passed": state.checks_passed,
        "checks_unknown": state.checks_unknown,
        "failed": _texts(state.failed),
        "goals": {visible(name): value for name, value in state.goals.items()},
        "problem": _text(state.problem),
    }


def moved_json(step: Moved) -> dict[str, Any]:
    """A step of a requirement."""
    return {
        "seq": step.seq,
        "requirement": visible(step.requirement),
        "before": visible(step.before),
        "after": visible(step.after),
        "by": _text(step.by),
    }


def talk_json(talk: Talk) -> dict[str, Any]:
    """The conversation as a whole."""
    return {
        "is_talk": talk.is_talk,
        "persona": _text(talk.persona),
        "at_will": talk.at_will,
        "stop": talk.stop,
        "held_at_will": _texts(talk.held_at_will),
        "held": _texts(talk.held),
        "said": talk.said,
        "blocked": talk.blocked,
        "looks": talk.looks,
        "verifier_informed": talk.verifier_informed,
        "plan": _text(talk.plan),
        "slips": [{"slip": visible(each.words), "seq": each.seq} for each in talk.slips],
        "ledger": _ledger(talk.ledger),
    }


def _ledger(ledger: LedgerStory) -> dict[str, Any]:
    return {
        "requirements": [
            {
                "id": visible(each.id),
                "text": _text(each.text),
                "moves": [[turn, visible(state), seq] for turn, state, seq in each.moves],
                "fate": each.fate,
                "met": each.met,
                "told": each.told,
                "label": each.label,
                "label_at_will": each.label_at_will,
            }
            for each in ledger.requirements
        ],
        "goals": [
            {
                "id": visible(each.id),
                "text": visible(each.text),
                "requirements": _texts(each.requirements),
            }
            for each in ledger.goals
        ],
        "turns": list(ledger.turns),
        "stop": ledger.stop,
    }


def _text(text: str | None) -> str | None:
    return None if text is None else visible(text)


def _texts(texts: Iterable[str]) -> list[str]:
    return [visible(text) for text in texts]
