from __future__ import annotations

from itertools import count
from typing import Any

from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.model.intervention import Intervention, Trigger, TriggerEvent
from fourhands.model.text import LineRange, Region
from fourhands.model.user import Act, Moment
from fourhands.user.touching import TouchingUser

_SEQ = count()


def _event(kind: EventKind, actor: Actor = Actor.AGENT, **body: Any) -> Event:
    return Event(next(_SEQ), "", MAIN_THREAD, actor, kind, body)


def _read(path: str, *lines: tuple[int, int]) -> Event:
    touch = {"path": path, "kind": "read", "lines": [list(pair) for pair in lines] or None}
    return _event(EventKind.ACTION_RESULT, touches=[touch])


def _changed(path: str, *hunks: tuple[int, int, int, int], actor: Actor = Actor.AGENT) -> Event:
    return _event(
        EventKind.WORKSPACE_CHANGED,
        actor,
        files=[{"path": path, "old": "1", "new": "2", "hunks": [list(h) for h in hunks]}],
    )


def _planned(number: int, event: TriggerEvent, *, patch: bytes | None = b"diff") -> Intervention:
    region = Region("a.py", LineRange(10, 20))
    return Intervention(f"i{number}", Trigger(event, (region,)), patch, "I changed it.")


async def _acts(user: TouchingUser, *events: Event) -> list[Act]:
    for event in events:
        user.observe(event)
    return await user.decide(Moment.AFTER_ACTION)


async def test_reading_the_region_fires_and_reading_elsewhere_does_not() -> None:
    user = TouchingUser([_planned(1, TriggerEvent.READ_OR_EDIT)])
    assert await _acts(user, _read("a.py", (1, 9)), _read("b.py", (10, 20)), _read("a.py", (21, 40))) == []
    (act,) = await _acts(user, _read("a.py", (15, 15)))
    assert (act.intervention_id, act.patch, act.message, act.shadow) == (
        "i1",
        b"diff",
        "I changed it.",
        False,
    )


async def test_a_read_of_unknown_lines_counts_as_reaching_the_region() -> None:
    assert await _acts(TouchingUser([_planned(1, TriggerEvent.READ)]), _read("a.py"))


async def test_an_edit_trigger_waits_for_an_edit() -> None:
    user = TouchingUser([_planned(1, TriggerEvent.EDIT)])
    assert await _acts(user, _read("a.py", (10, 20))) == []
    assert await _acts(user, _changed("a.py", (12, 13, 12, 14)))


async def test_a_touch_is_of_its_moment() -> None:
    user = TouchingUser([_planned(1, TriggerEvent.READ), _planned(2, TriggerEvent.READ)])
    assert await _acts(user, _read("a.py", (10, 20)))
    user.observe(_event(EventKind.EDIT_APPLIED, Actor.USER, intervention="i1"))
    assert await user.decide(Moment.AFTER_ACTION) == []


async def test_the_region_goes_where_its_lines_go() -> None:
    user = TouchingUser([_planned(1, TriggerEvent.READ)])
    # Ten lines come in above: the region is at 20-30 now.
    assert await _acts(user, _changed("a.py", (1, 0, 1, 10))) == []
    assert await _acts(user, _read("a.py", (10, 19))) == []
    assert await _acts(user, _read("a.py", (30, 31)))


async def test_the_users_own_edit_moves_the_region_and_fires_nothing() -> None:
    user = TouchingUser([_planned(1, TriggerEvent.READ_OR_EDIT)])
    assert await _acts(user, _changed("a.py", (12, 12, 12, 30), actor=Actor.USER)) == []
    assert await _acts(user, _read("a.py", (38, 38)))


async def test_k_interventions_play_in_order_and_then_no_more() -> None:
    user = TouchingUser([_planned(n, TriggerEvent.READ) for n in (1, 2, 3)])
    played = []
    for _ in range(5):
        for act in await _acts(user, _read("a.py", (10, 20))):
            played.append(act.intervention_id)
            user.observe(_event(EventKind.EDIT_APPLIED, Actor.USER, intervention=act.intervention_id))
    assert played == ["i1", "i2", "i3"]


async def test_an_edit_that_is_present_or_does_not_apply_is_not_used_up() -> None:
    user = TouchingUser([_planned(1, TriggerEvent.READ), _planned(2, TriggerEvent.READ)])
    for outcome in ("already_present", "does_not_apply", "region_gone"):
        (act,) = await _acts(user, _read("a.py", (10, 20)))
        assert act.intervention_id == "i1"
        user.observe(_event(EventKind.EDIT_NOT_APPLIED, Actor.USER, intervention="i1", outcome=outcome))
    (act,) = await _acts(user, _read("a.py", (10, 20)))
    assert act.intervention_id == "i1"


async def test_a_shadow_uses_itself_up_and_changes_nothing() -> None:
    user = TouchingUser([_planned(n, TriggerEvent.READ) for n in (1, 2)], shadow=True)
    for expected in ("i1", "i2"):
        (act,) = await _acts(user, _read("a.py", (10, 20)))
        assert (act.intervention_id, act.shadow) == (expected, True)
        user.observe(_event(EventKind.SHADOW_TRIGGER_FIRED, Actor.HARNESS, intervention=expected))
    assert await _acts(user, _read("a.py", (10, 20))) == []


async def test_a_message_alone_is_used_up_by_being_said() -> None:
    user = TouchingUser([_planned(1, TriggerEvent.READ, patch=None), _planned(2, TriggerEvent.READ)])
    (act,) = await _acts(user, _read("a.py", (10, 20)))
    user.observe(_event(EventKind.MESSAGE_SENT, Actor.USER, intervention=act.intervention_id))
    (act,) = await _acts(user, _read("a.py", (10, 20)))
    assert act.intervention_id == "i2"


async def test_any_log_rebuilds_the_state() -> None:
    events = [
        _changed("a.py", (1, 0, 1, 10)),
        _read("a.py", (25, 25)),
        _event(EventKind.EDIT_APPLIED, Actor.USER, intervention="i1"),
        _changed("a.py", (22, 22, 22, 25), actor=Actor.USER),
    ]
    plans = [_planned(1, TriggerEvent.READ), _planned(2, TriggerEvent.EDIT)]
    live, rebuilt = TouchingUser(plans), TouchingUser(plans)
    for event in events:
        live.observe(event)
        await live.decide(Moment.AFTER_ACTION)
    for event in events:
        rebuilt.observe(event)
    await rebuilt.decide(Moment.AFTER_ACTION)
    probe = _changed("a.py", (33, 33, 33, 34))
    assert await _acts(live, probe) == await _acts(rebuilt, probe) != []
