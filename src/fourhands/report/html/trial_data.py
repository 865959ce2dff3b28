"""The table of trials as the page's script reads it: by column, texts that come again and again only once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from fourhands.analysis.study import RunInfo, Study
from fourhands.analysis.trust import Voice, trust_among
from fourhands.report.html.shelves import PER_SHELF
from fourhands.report.text import visible

__all__ = ["StoryPlaces", "run_names", "trial_data"]

_WORDS: Final = (
    "run", "task", "agent", "model", "condition", "verdict", "termination", "why", "ablation",
)  # fmt: skip
_PLAIN: Final = ("trial", "repeat", "applicable", "steps", "tokens", "cost", "delivered", "user_lines_at_end")


@dataclass(frozen=True, slots=True)
class StoryPlaces:
    """Where stories are: of the trials in these rows, in their order, `PER_SHELF` on each of these shelves.

    ``folder`` is where the shelves are, relative to the page; ``None``: in the page.
    """

    rows: tuple[int, ...]
    shelves: tuple[str, ...]
    folder: str | None


def trial_data(
    study: Study, stories: StoryPlaces, sessions: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """What the page's script is told; ``sessions`` as `session_data` makes them."""
    trials = study.tables.trials
    columns: dict[str, Any] = {name: trials[name].to_list() for name in _PLAIN}
    columns |= {name: _words(trials[name].to_list()) for name in _WORDS}
    places = [-1] * trials.height
    for place, row in enumerate(stories.rows):
        places[row] = place
    return {
        "trials": trials.height,
        "columns": columns,
        "runs": run_names(study),
        "stories": places,
        "shelves": stories.shelves,
        "perShelf": PER_SHELF,
        "folder": stories.folder,
        "sessions": list(sessions),
        "agreements": [each for run in study.runs for each in _agreements(run)],
    }


def _agreements(run: RunInfo) -> Iterator[dict[str, Any]]:
    """How far judges agree with people, each once, beside whose words it is shown."""
    voices = dict.fromkeys(
        Voice(each.audit, each.audit_version, each.judge, each.prompt_version) for each in run.agreements
    )
    for voice in voices:
        trust = trust_among(run.agreements, voice)
        yield {
            "run": run.run,
            "audit": voice.audit.value,
            "audit_version": voice.audit_version,
            "prompt_version": voice.prompt_version,
            "judge": visible(voice.judge),
            "told": f"{trust.told} with people" if trust.is_audited else trust.told,
            "trusted": trust.is_trusted,
        }


def _words(values: Sequence[str | None]) -> dict[str, Any]:
    places: dict[str, int] = {}
    at = [-1 if value is None else places.setdefault(value, len(places)) for value in values]
    return {"words": list(places), "at": at}


def run_names(study: Study) -> Mapping[str, str]:
    """By id the names of the runs' folders; the id itself where two have the same name."""
    names = [PurePath(run.path).name for run in study.runs]
    return {
        run.run: name if names.count(name) == 1 else run.run
        for run, name in zip(study.runs, names, strict=True)
    }
