from __future__ import annotations

from fourhands.analysis.findings.k_sweep import delivered_table, k_sweep

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_points_run_from_vanilla_through_k_in_each_family() -> None:
    labels = ("counter-edit[k=5]", "vanilla", "counter-edit", "edit-only", "counter-edit[k=1]")
    found = k_sweep(study(trial("a", label, solved=label != "counter-edit[k=5]") for label in labels))
    assert [(point.family, point.k, point.rate, point.delta) for point in found] == [
        ("counter-edit", 0, 1.0, None),
        ("counter-edit", 1, 1.0, 0.0),
        ("counter-edit", 3, 1.0, 0.0),
        ("counter-edit", 5, 0.0, -1.0),
        ("edit-only", 0, 1.0, None),
        ("edit-only", 3, 1.0, 0.0),
    ]
    assert [point.delivered for point in found[:2]] == [0.0, 1.0]


def test_other_parameters_make_another_family() -> None:
    labels = ("counter-edit[k=1,trigger=edit]", "counter-edit[k=1]")
    found = k_sweep(study(trial("a", label, benchmark="b") for label in labels))
    assert [(point.benchmark, point.family, point.k) for point in found] == [
        ("b", "counter-edit[trigger=edit]", 1),
        ("b", "counter-edit", 1),
    ]


def test_trials_are_described_by_how_much_was_delivered() -> None:
    rows = [
        trial(task, "counter-edit", delivered=n, solved=n < 2)
        for task, n in zip("abcd", (0, 2, 2, 1), strict=True)
    ]
    rows += [trial("e", "counter-edit", solved=None), trial("a")]
    found = delivered_table(study(rows))
    assert [(row.delivered, row.scored, row.resolved, row.rate) for row in found] == [
        (0, 1, 1, 1.0),
        (1, 1, 1, 1.0),
        (2, 2, 0, 0.0),
    ]
