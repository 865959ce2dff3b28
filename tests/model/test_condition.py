from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.model.condition import Condition, ConditionName, EditSource, TriggerChoice
from fourhands.model.intervention import COUNTED, Delivery, TriggerEvent
from fourhands.model.user import ACTION_MOMENTS


def _choices() -> st.SearchStrategy[TriggerChoice]:
    texts = st.from_regex(r"[1-9]\d{0,9}(\.\d{1,5})?", fullmatch=True)
    counts = st.lists(texts.map(float), min_size=1, max_size=3).map(tuple)

    def of(event: TriggerEvent) -> st.SearchStrategy[TriggerChoice]:
        if event in COUNTED - {TriggerEvent.PROGRESS}:
            return counts.map(lambda at: TriggerChoice(event, at))
        return st.just(TriggerChoice(event))

    return st.sampled_from(TriggerEvent).flatmap(of)


@given(
    name=st.sampled_from(ConditionName),
    k=st.integers(1, 9),
    trigger=st.none() | _choices(),
    moment=st.sampled_from(ACTION_MOMENTS),
    message=st.sampled_from(["fixed", "live"]),
    of=st.sampled_from(EditSource),
    kind=st.sampled_from([None, "rename", "comment", "reformat"]),
)
def test_every_condition_is_its_label(**parameters: object) -> None:
    try:
        condition = Condition(**parameters)  # type: ignore[arg-type]
    except ValueError:
        return  # a parameter that means nothing for the condition
    assert Condition.parse(condition.label) == condition


def test_a_label_holds_what_is_not_the_default() -> None:
    assert Condition.parse("counter-edit[k=3]").label == "counter-edit"
    condition = Condition.parse("edit-only[k=5,trigger=step:5+12,moment=before_action,of=neutral-edit]")
    assert condition.label == "edit-only[k=5,trigger=step:5+12,moment=before_action,of=neutral-edit]"
    assert (condition.edit, condition.delivery) == (EditSource.NEUTRAL_EDIT, Delivery.PATCH_ONLY)


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("counter", "unknown condition 'counter': choose from vanilla, counter-edit"),
        ("counter-edit[", "is no condition: write NAME or"),
        ("counter-edit[kk=3]", "unknown parameter 'kk': choose from k, trigger"),
        ("counter-edit[k=0]", "k=0: it must be a whole number"),
        ("counter-edit[k=1,k=2]", "write each parameter once"),
        ("counter-edit[trigger=step]", "needs its counts: step:10"),
        ("counter-edit[trigger=progress:3]", "progress takes no counts"),
        ("counter-edit[trigger=write]", "unknown trigger 'write': choose from read"),
        ("counter-edit[moment=later]", "choose from before_action, after_action"),
        ("co-edit[k=5]", "co-edit has no use for k"),
        ("vanilla[k=5]", "vanilla has no use for k: it takes no parameters"),
        ("counter-edit[kind=rename]", "counter-edit has no use for kind"),
        ("edit-only[message=live]", "edit-only has no use for message"),
        ("message-only[of=neutral-edit]", "there is nothing to say"),
    ],
)
def test_a_wrong_label_is_refused_with_what_would_be_right(label: str, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("[", r"\[")):
        Condition.parse(label)
