"""One attempt's events and payloads -> its story in two lanes, told in a terminal and on a page."""

from __future__ import annotations

from fourhands.report.story.as_json import story_bytes, story_json
from fourhands.report.story.build import story, story_of
from fourhands.report.story.model import Limits, Story
from fourhands.report.story.payloads import Contents, Payloads

__all__ = ["Contents", "Limits", "Payloads", "Story", "story", "story_bytes", "story_json", "story_of"]
