"""Every table that a `Study` has, ready to be shown; importing this loads what statistics need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from fourhands.analysis.study import Study
from fourhands.report.table import Column, TableView
from fourhands.report.views import (
    after,
    agreement,
    by_status,
    causal,
    conditions,
    controls,
    costs,
    delivery,
    failures,
    judged,
    k_sweep,
    long_horizon,
    main,
    pass_k,
    patch_size,
    revision,
    simulators,
    survival,
    transitions,
    trials,
)
from fourhands.report.views.build import columns
from fourhands.report.views.conversations import (
    discovery,
    four_hands,
    goals,
    labels,
    personas,
    rates,
    states,
    talk,
    turns,
)

__all__ = ["DERIVED", "NEEDS", "VIEWS"]

VIEWS: Final[Mapping[str, Callable[[Study], TableView | None]]] = {
    "main": main.main,
    "conditions": conditions.conditions,
    "long-horizon": long_horizon.long_horizon,
    "controls": controls.controls,
    "conversations": rates.conversations,
    "talk": talk.talk,
    "labels": labels.labels,
    "single-multi": turns.turns,
    "personas": personas.personas,
    "four-hands": four_hands.four_hands,
    "discovery": discovery.discovery,
    "goals-verifier": goals.goals,
    "requirement-states": states.states,
    "failures": failures.failures,
    "simulators": simulators.simulators,
    "simulator-pairs": simulators.simulator_pairs,
    "judged": judged.judged,
    "agreement": agreement.agreement,
    "transitions": transitions.transitions,
    "delivery": delivery.delivery,
    "after": after.after,
    "revision": revision.revision,
    "survival": survival.survival,
    "causal": causal.causal,
    "k-sweep": k_sweep.sweep,
    "delivered-count": k_sweep.delivered,
    "pass-k": pass_k.pass_k,
    "by-status": by_status.by_status,
    "patch-size": patch_size.patch_sizes,
    "costs": costs.costs,
    "trials": trials.trials,
}
"""By name, in the order of a report; ``None``: there is nothing of the kind to show."""

NEEDS: Final[Mapping[str, str]] = {
    "single-multi": "a condition whose user talks, and single-turn (or vanilla) on the same tasks",
    "personas": "persona=neutral beside another persona, with all else the same",
    "four-hands": "four-hands, interactive, counter-edit and single-turn (or vanilla), with the same parameters",
    "discovery": "a condition whose user talks, whose checkpoints have scores",
    "goals-verifier": "a condition whose user talks, with scores that hidden tests did not make",
    "failures": "failed conversations, or failed trials of tasks that a Counter-Edit lost",
    "simulator-pairs": "two simulators on the same trials, or repeats",
    "judged": "fourhands conversations score",
    "agreement": "fourhands audit judge, or fourhands conversations score",
    "causal": "failed trials after an edit, and fourhands ablate",
}
"""Of tables that are often empty: what they are made of."""

DERIVED: Final[Mapping[str, tuple[Column, ...]]] = {
    "main": columns(main.FIELDS),
    "conditions": columns(conditions.FIELDS),
    "long-horizon": columns(long_horizon.FIELDS),
    "controls": columns(controls.FIELDS),
    "conversations": columns(rates.FIELDS),
    "talk": columns(talk.FIELDS),
    "labels": columns(labels.FIELDS),
    "single-multi": columns(turns.FIELDS),
    "personas": columns(personas.FIELDS),
    "four-hands": columns(four_hands.FIELDS),
    "discovery": columns(discovery.FIELDS),
    "goals-verifier": columns(goals.FIELDS),
    "requirement-states": columns(states.FIELDS),
    "failures": columns(failures.FIELDS),
    "simulators": columns(simulators.FIELDS),
    "simulator-pairs": columns(simulators.PAIR_FIELDS),
    "judged": columns(judged.FIELDS),
    "agreement": columns(agreement.FIELDS),
    "transitions": columns(transitions.FIELDS),
    "delivery": columns(delivery.FIELDS),
    "after": columns(after.FIELDS),
    "revision": columns(revision.FIELDS),
    "survival": columns(survival.FIELDS),
    "causal": columns(causal.FIELDS),
    "k-sweep": columns(k_sweep.FIELDS),
    "delivered-count": columns(k_sweep.DELIVERED_FIELDS),
    "pass-k": columns(pass_k.FIELDS),
    "by-status": columns(by_status.FIELDS),
    "patch-size": columns(patch_size.FIELDS),
    "costs": columns(costs.FIELDS),
}
"""The columns of each of them that is not a tidy table, whether or not a study has anything to show in it."""
