from __future__ import annotations

from dataclasses import replace

from fourhands.analysis.findings.kept import kept
from fourhands.analysis.study import Study

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_what_is_made_of_a_studys_tables_is_made_once_and_goes_with_them() -> None:
    asked: list[int] = []

    @kept
    def height(of: Study) -> int:
        asked.append(of.tables.trials.height)
        return asked[-1]

    one, two = study([trial()]), study([trial("a"), trial("b")])
    assert [height(one), height(two), height(one), height(replace(one, skipped=("x",)))] == [1, 2, 1, 1]
    assert asked == [1, 2]
    for rows in range(3, 40):  # identities come again once their owners are gone
        gone = study(trial(str(n)) for n in range(rows))
        assert height(gone) == rows
        del gone
