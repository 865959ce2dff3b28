"""Which files of a final state show the agent's hand."""

from __future__ import annotations

from fourhands.model.event import MAIN_THREAD, Actor, Event, EventKind
from fourhands.trajectories.agent_change import ChangedFiles, changed_files

Change = tuple[Actor, str, str | None, str | None]
AGENT, USER = Actor.AGENT, Actor.USER


def _changed(*changes: Change) -> ChangedFiles:
    return changed_files(
        Event(
            seq,
            "",
            MAIN_THREAD,
            actor,
            EventKind.WORKSPACE_CHANGED,
            {"files": [{"path": path, "old": old, "new": new, "modes": [old and 1, new and 1]}]},
        )
        for seq, (actor, path, old, new) in enumerate(changes)
    )


def _by_agent(*changes: Change) -> set[str]:
    return set(_changed(*changes).by_agent)


def test_the_users_files_are_not_the_agents() -> None:
    found = _changed((USER, "f", "0", "u"), (AGENT, "g", "0", "a"))
    assert found == ChangedFiles(frozenset({"g"}), frozenset({"f"}))


def test_what_the_agent_took_back_is_its_own_no_more() -> None:
    assert _by_agent((AGENT, "f", "0", "a"), (AGENT, "f", "a", "0"), (AGENT, "g", None, "a")) == {"g"}
    assert _by_agent((USER, "f", "0", "u"), (AGENT, "f", "u", "a"), (AGENT, "f", "a", "u")) == set()


def test_to_take_out_the_users_edit_is_a_change() -> None:
    assert _by_agent((USER, "f", "0", "u"), (AGENT, "f", "u", "0")) == {"f"}


def test_what_the_user_wrote_into_the_agents_work_is_both_hands() -> None:
    assert _by_agent((AGENT, "f", "0", "a"), (USER, "f", "a", "ua")) == {"f"}


def test_work_that_is_in_no_file_of_reference_or_user_is_elsewhere() -> None:
    found = _changed((USER, "f", "0", "u"), (AGENT, "g", "0", "a"))
    assert found.is_elsewhere(["h"])
    assert not found.is_elsewhere(["g"])
    assert not _changed((USER, "f", "0", "u"), (AGENT, "f", "u", "a")).is_elsewhere(["h"])
    assert _changed((USER, "f", "0", "u")).is_elsewhere(["h"])


def test_work_in_a_new_file_may_be_the_task_and_so_is_not_elsewhere() -> None:
    found = _changed((USER, "f", "0", "u"), (AGENT, "g", "0", "a"), (AGENT, "new", None, "a"))
    assert found.made == {"new"}
    assert not found.is_elsewhere(["h"])
    taken_back = _changed((AGENT, "g", "0", "a"), (AGENT, "new", None, "a"), (AGENT, "new", "a", None))
    assert taken_back.is_elsewhere(["h"])
    assert _changed((AGENT, "g", "0", None)).is_elsewhere(["h"])


def test_paths_that_are_no_text_are_compared_as_the_file_names_them() -> None:
    assert not _changed((AGENT, "d\udcff", "0", "a")).is_elsewhere(["d\\xff"])
