from __future__ import annotations

from fourhands.analysis.findings.median_steps import median_steps

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_the_median_of_steps_is_of_scored_untouched_trials() -> None:
    rows = [
        trial("a", steps=4),
        trial("a", steps=9, solved=False, repeat=2, model="n"),
        trial("a", "counter-edit", steps=90),
        trial("a", steps=1, solved=None, repeat=3),
        trial("b", steps=None),
    ]
    assert median_steps(study(rows)) == {"a": 7}  # 6.5, rounded up
