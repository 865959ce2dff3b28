"""Neutral edits: where a Counter-Edit would have been, at the same trigger, changes that keep the meaning."""

from __future__ import annotations

from fourhands.edits.neutral.generate import neutral_interventions

__all__ = ["neutral_interventions"]
