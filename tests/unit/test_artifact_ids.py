"""Ids of mirrored artifacts: the agent's own, unless a turn is run again by another task of the agent's."""

from typing import Any

from a2a_hub.a2a.call import CurrentTask
from functions.hub.downstream.mirror import ArtifactIds


def _run(notes: dict[str, Any], *, turn: int = 1) -> ArtifactIds:
    """A run in a process that knows the notes alone."""
    return ArtifactIds(CurrentTask(id="ours", turn=turn, notes=notes))


def test_an_agents_ids_are_passed_on() -> None:
    ids = _run({})
    assert [ids.of("t", each) for each in ("a", "b", "a")] == ["a", "b", "a"]
    assert ArtifactIds(None).of("t", "a") == "a"


def test_another_task_of_the_same_turn_takes_the_ids_that_were_given_in_their_order() -> None:
    notes: dict[str, Any] = {}
    first = _run(notes)
    assert [first.of("t1", each) for each in ("a", "b")] == ["a", "b"]
    second = _run(notes)
    assert [second.of("t2", each) for each in ("x", "y", "z", "x")] == ["a", "b", "z", "a"]


def test_a_task_that_is_found_again_keeps_the_ids_that_it_was_given() -> None:
    notes: dict[str, Any] = {}
    _run(notes).of("t1", "a")
    assert _run(notes).of("t2", "x") == "a"
    found_again = _run(notes)
    assert [found_again.of("t2", each) for each in ("x", "y")] == ["a", "y"]


def test_what_an_earlier_turn_has_made_stays() -> None:
    notes: dict[str, Any] = {}
    assert _run(notes).of("t1", "a") == "a"
    assert _run(notes, turn=2).of("t1", "b") == "b"
    again = _run(notes, turn=2)
    assert [again.of("t2", each) for each in ("x", "y")] == ["b", "y"]


def test_an_artifact_of_an_earlier_turn_can_be_changed_in_a_later_one() -> None:
    notes: dict[str, Any] = {}
    _run(notes).of("t1", "a")
    assert _run(notes).of("t2", "x") == "a"
    assert _run(notes, turn=2).of("t2", "x") == "a"


def test_no_two_artifacts_of_a_task_get_one_id_in_whatever_order_they_come() -> None:
    notes: dict[str, Any] = {}
    assert _run(notes).of("t1", "a") == "a"
    again = _run(notes)
    assert [again.of("t2", each) for each in ("b", "a", "b")] == ["a", "a-2", "a"]


def test_ids_that_an_agent_gives_each_time_are_kept() -> None:
    notes: dict[str, Any] = {}
    first = _run(notes)
    assert [first.of("t1", each) for each in ("a", "b")] == ["a", "b"]
    again = _run(notes)
    assert [again.of("t2", each) for each in ("b", "a")] == ["b", "a"]
