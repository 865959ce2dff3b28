from __future__ import annotations

from fourhands.analysis.findings.arms import Incomplete, agents_of, by_benchmark, pair

from ..frames import study, trial  # noqa: TID252 - tests are no package that could be named


def test_arms_are_told_by_agent_and_model_and_vanilla_comes_first() -> None:
    agents = agents_of(
        study(
            [
                trial(condition="counter-edit"),
                trial(),
                trial(agent="codex"),
                trial(model="other"),
                trial(condition="counter-edit[k=5]"),
            ]
        )
    )
    assert [(each.agent, each.model) for each in agents] == [
        ("mini-swe-agent", "m"),
        ("codex", "m"),
        ("mini-swe-agent", "other"),
    ]
    assert [arm.condition for arm in agents[0].arms] == ["vanilla", "counter-edit", "counter-edit[k=5]"]
    assert [arm.k for arm in agents[0].arms] == [None, 3, 5]


def test_versions_of_an_agent_stay_together_and_are_noted() -> None:
    rows = [trial("a", agent_version="2.0"), trial("b", agent_version="1.0"), trial("c", agent_version=None)]
    ((vanilla,),) = [agent.arms for agent in agents_of(study(rows))]
    assert len(vanilla.trials) == 3
    assert vanilla.versions == ("1.0", "2.0")


def test_every_side_of_an_incomplete_pair_says_why() -> None:
    rows = [
        *(trial("a", label) for label in ("vanilla", "counter-edit")),
        trial("b"),
        trial("b", "counter-edit", solved=None, why="the disk is full"),
        trial("c", solved=None),
        trial("c", "counter-edit"),
        trial("d", solved=None, termination=None, verdict=None),
        trial("d", "counter-edit", solved=None),
        trial("e", "counter-edit"),
        trial("f"),
        trial("f", "counter-edit", solved=None, applicable=False),
        trial("g"),
    ]
    (agent,) = agents_of(study(rows))
    assert agent.vanilla is not None
    found = pair(agent.vanilla, agent.others[0])
    assert found.tasks == ("a",)
    assert found.incomplete == (
        Incomplete("b", None, "the disk is full"),
        Incomplete("c", "infrastructure_error", None),
        Incomplete("d", "not run", "infrastructure_error"),
        Incomplete("e", "not planned", None),
    )


def test_a_pair_is_complete_with_one_scored_repeat_on_each_side() -> None:
    rows = [
        trial("a", repeat=1),
        trial("a", repeat=2, solved=None),
        trial("a", "counter-edit", repeat=1, solved=None),
        trial("a", "counter-edit", repeat=2, solved=False),
    ]
    (agent,) = agents_of(study(rows))
    assert agent.vanilla is not None
    found = pair(agent.vanilla, agent.others[0])
    assert (found.before, found.after, found.differences) == (((True,),), ((False,),), (-1.0,))
    assert found.has_few_repeats


def test_equal_differences_are_equal_floats_whatever_the_rates() -> None:
    """A third less each: from 3 of 3 to 2, from 2 to 1, from 1 to none; and a third more, so that they cancel."""
    arms = {"vanilla": (3, 2, 1, 0, 1, 2), "counter-edit": (2, 1, 0, 1, 2, 3)}
    rows = [
        trial(task, label, repeat=repeat, solved=repeat <= solved)
        for label, arm in arms.items()
        for task, solved in zip("abcdef", arm, strict=True)
        for repeat in (1, 2, 3)
    ]
    (agent,) = agents_of(study(rows))
    assert agent.vanilla is not None
    found = pair(agent.vanilla, agent.others[0])
    assert found.differences == (-1 / 3,) * 3 + (1 / 3,) * 3
    assert found.delta == 0.0


def test_pairs_do_not_depend_on_the_order_of_rows() -> None:
    rows = [
        trial(task, label, repeat=repeat, solved=(task, repeat) != ("b", 2))
        for task in "cab"
        for label in ("vanilla", "counter-edit")
        for repeat in (1, 2)
    ]
    (one,), (other,) = agents_of(study(rows)), agents_of(study(reversed(rows)))
    assert one.vanilla is not None
    assert other.vanilla is not None
    assert pair(one.vanilla, one.others[0]) == pair(other.vanilla, other.others[0])


def test_benchmarks_are_kept_apart() -> None:
    found = by_benchmark(study([trial("a", benchmark="x"), trial("b"), trial("c", benchmark="x")]))
    assert {name: len(agents[0].arms[0].trials) for name, agents in found.items()} == {"x": 2, None: 1}
