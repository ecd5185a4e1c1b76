"""The view of a task for a client that shows text only."""

from a2a_hub.a2a.model import Artifact, Part, Task, TaskState, TaskStatus
from a2a_hub.tasks.text_only import TextOnlyView


def _task(*artifacts: Artifact) -> Task:
    return Task(id="t", context_id="c", status=TaskStatus(state=TaskState.WORKING), artifacts=artifacts)


def _artifact(id_: str, **part: object) -> Artifact:
    return Artifact(artifact_id=id_, parts=(Part(**part),))  # type: ignore[arg-type]


def _view(before: Task | None = None, *, with_data: bool = False) -> TextOnlyView:
    return TextOnlyView(
        with_data=with_data, empty_answer=lambda: "No answer.", canceled=lambda: "Canceled.", before=before
    )


def test_artifacts_of_earlier_turns_are_not_shown_again() -> None:
    first, second = _artifact("a", text="first"), _artifact("b", text="second")
    shown = _view(_task(first)).event(_task(first, second))
    assert isinstance(shown, Task)
    assert shown.artifacts == (second,)


def test_data_is_shown_beside_the_text_to_clients_that_take_it_alone() -> None:
    task = _task(_artifact("a", text="answer"), _artifact("b", data={"sum": 12}))
    shown = [_view(with_data=with_data).event(task) for with_data in (False, True)]
    assert [[each.artifact_id for each in one.artifacts] for one in shown if isinstance(one, Task)] == [
        ["a"],
        ["a", "b"],
    ]


def test_an_answer_without_text_closes_with_its_data_or_says_that_there_was_none() -> None:
    empty, data = _view(), _view()
    empty.event(_task())
    data.event(_task(_artifact("a", data={"sum": 12})))
    assert empty.closing_text == "No answer."
    assert '"sum": 12' in data.closing_text


def test_an_answer_with_text_needs_no_closing_text() -> None:
    view = _view()
    view.event(_task(_artifact("a", text="answer")))
    assert view.closing_text == ""
