"""What the hub hears when an agent tells of its tools, event by event."""

from collections.abc import Sequence
from typing import Any

from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.a2a.extensions.tool_updates import Action, Dialect, ToolQuestion
from a2a_hub.a2a.model import Message, Part, Role, Task, TaskState, TaskStatus, TaskStatusUpdateEvent
from a2a_hub.a2a.reply import Idle, Piece, Progress, Question, Text
from a2a_hub.text.language import Language
from functions.hub.downstream.event_translator import EventTranslator

FIRST, SECOND = (
    ToolQuestion(call_id=name, dialect=Dialect.SNAKE, tool="Shell", action=Action.RUN, body="ls")
    for name in ("first", "second")
)


def call(call_id: str, status: str, **fields: Any) -> dict[str, Any]:
    parameters = {"command": f"ls {call_id}"}
    return {
        "tool_call_id": call_id,
        "status": status,
        "tool_name": "Shell",
        "input_parameters": parameters,
    } | fields


def said(*parts: Part) -> Message | None:
    return Message(message_id=str(parts), role=Role.AGENT, parts=parts) if parts else None


def update(kind: str | None, state: TaskState, *parts: Part) -> TaskStatusUpdateEvent:
    metadata = {URI: {"kind": kind}} if kind else None
    status = TaskStatus(state=state, message=said(*parts))
    return TaskStatusUpdateEvent(task_id="t", context_id="c", status=status, metadata=metadata)


def tool(call_id: str, status: str, **fields: Any) -> TaskStatusUpdateEvent:
    return update("TOOL_CALL_UPDATE", TaskState.WORKING, Part(data=call(call_id, status, **fields)))


WAITS = update("STATE_CHANGE", TaskState.INPUT_REQUIRED)


def heard(translator: EventTranslator, *events: TaskStatusUpdateEvent | Task) -> Sequence[Piece]:
    return [*(piece for event in events for piece in translator.translate(event)), *translator.finish()]


def test_what_was_decided_waits_no_more_whatever_the_agent_says_of_it() -> None:
    translator = EventTranslator(questions=[FIRST], decided="first")
    assert heard(translator, update(None, TaskState.INPUT_REQUIRED)) == [Question("")]
    assert translator.tools.questions == ()


def test_a_call_that_its_agent_takes_back_is_not_asked_about() -> None:
    translator = EventTranslator(questions=[FIRST, SECOND], decided="first")
    heard(translator, tool("first", "SUCCEEDED"), tool("second", "CANCELLED"), WAITS)
    assert translator.tools.questions == ()


def test_a_call_that_nobody_decided_on_waits_on() -> None:
    translator = EventTranslator(questions=[FIRST, SECOND], decided="first")
    assert heard(translator, tool("first", "SUCCEEDED"), WAITS) == [Question("")]
    assert translator.tools.questions == (SECOND,)


def test_a_tool_that_prints_while_it_runs_is_one_line_of_progress() -> None:
    running = [tool("first", "EXECUTING", live_content="." * count) for count in range(3)]
    assert heard(EventTranslator(Language.JA), *running) == [Progress("実行中：ls first")]


def test_calls_that_read_alike_are_one_line_of_progress() -> None:
    other = tool("second", "EXECUTING", input_parameters={"command": "ls first"})
    assert heard(EventTranslator(), tool("first", "EXECUTING"), other) == [Progress("Running: ls first")]


def test_hundreds_of_tools_are_fifty_lines_of_progress() -> None:
    assert len(heard(EventTranslator(), *(tool(f"call-{number}", "EXECUTING") for number in range(300)))) == 50


def test_no_more_than_twenty_calls_are_kept_with_a_conversation() -> None:
    translator = EventTranslator()
    asks = {"options": [{"id": "cancel"}]}
    heard(
        translator,
        *(tool(f"call-{number}", "PENDING", confirmation_request=asks) for number in range(50)),
        WAITS,
    )
    assert [question.call_id for question in translator.tools.questions] == [f"call-{number}" for number in range(20)]


def test_words_before_and_after_a_tool_are_paragraphs_and_stretches_of_words_are_not() -> None:
    def words(text: str) -> TaskStatusUpdateEvent:
        return update("TEXT_CONTENT", TaskState.WORKING, Part(text=text))

    translator = EventTranslator()
    pieces = heard(
        translator,
        words("I "),
        words("look."),
        tool("first", "SUCCEEDED"),
        words("Two "),
        words("files."),
        WAITS,
    )
    assert [piece.text for piece in pieces if isinstance(piece, Text)] == [
        "I ",
        "look.",
        "\n\nTwo ",
        "files.",
    ]
    assert (pieces[-1], translator.is_idle) == (Idle(), True)


def test_what_was_only_told_beside_the_work_is_the_answer_where_there_is_no_other() -> None:
    trouble = update("STATE_CHANGE", TaskState.WORKING, Part(text="The model is away."))
    assert heard(EventTranslator(), trouble, WAITS) == [
        Progress("The model is away."),
        Text("The model is away."),
        Idle(),
    ]


def test_an_agent_that_waits_without_having_said_anything_asks_for_more() -> None:
    translator = EventTranslator()
    assert heard(translator, tool("first", "SUCCEEDED"), WAITS) == [Question("")]
    assert not translator.is_idle


def test_a_tool_call_is_no_answer() -> None:
    done = TaskStatus(state=TaskState.COMPLETED, message=said(Part(data=call("first", "SUCCEEDED"))))
    assert heard(EventTranslator(), Task(id="t", context_id="c", status=done)) == []


def test_a_rejection_is_told_once_where_the_agent_ends_without_a_word() -> None:
    translator = EventTranslator(questions=[FIRST], decided="first")
    assert heard(translator, tool("first", "CANCELLED"), WAITS) == [
        Text("Rejected: this was not done."),
        Idle(),
    ]


def test_data_of_other_agents_is_heard_as_before() -> None:
    form = {"fields": ["city"]}
    pieces = heard(EventTranslator(), update(None, TaskState.INPUT_REQUIRED, Part(data=form)))
    assert [piece for piece in pieces if isinstance(piece, Text)] == [Text('{\n  "fields": [\n    "city"\n  ]\n}')]
