"""The messages of the `development-tool` extension, against samples of each."""

from typing import Any

import pytest

from a2a_hub.a2a import protojson
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.extensions import development_tool as tool
from a2a_hub.a2a.extensions.development_tool import URI, Schema, Spelling, spelling_of, write
from a2a_hub.a2a.model import Message, Part, Role
from tests.unit.a2a.development_tool_values import SAMPLES

# What the specification names, message by message, with its optional fields and those of which one is there.
_MAY_BE_ABSENT = {
    "ToolCall": {
        "description",
        "input_parameters",
        "live_content",
        "output",
        "error",
        "confirmation_request",
    },
    "ToolOutput": {"text", "diff", "structured_data"},
    "ErrorDetails": {"type", "status_code"},
    "ConfirmationRequest": {
        "execute_details",
        "file_edit_details",
        "mcp_details",
        "generic_details",
    },
    "ConfirmationOption": {"description"},
    "ExecuteDetails": {"working_directory"},
    "FileDiff": {"old_content", "formatted_diff"},
    "DevelopmentToolEvent": {"user_tier", "error"},
    "ToolCallConfirmation": {"file_details"},
    "GetAllSlashCommandsRequest": {"metadata"},
    "ExecuteSlashCommandRequest": {"metadata"},
}
_TYPES = [
    type_
    for type_ in vars(tool).values()
    if isinstance(type_, type) and issubclass(type_, Schema) and type_ is not Schema
]
_samples = pytest.mark.parametrize(
    ("type_", "value"),
    SAMPLES,
    ids=[f"{number}-{type_.__name__}" for number, (type_, _) in enumerate(SAMPLES)],
)
_types = pytest.mark.parametrize("type_", _TYPES, ids=[type_.__name__ for type_ in _TYPES])


@_types
def test_every_member_of_every_message_stands_in_a_sample(type_: type[Schema]) -> None:
    members = {name for sampled, value in SAMPLES if sampled is type_ for name in value}
    assert members == set(type_.__struct_fields__)


@_samples
def test_what_was_read_is_written_as_it_was(type_: type[Schema], value: dict[str, Any]) -> None:
    assert write(protojson.read(type_, value), Spelling.SNAKE) == value


@_samples
def test_either_spelling_is_the_same_message(type_: type[Schema], value: dict[str, Any]) -> None:
    message = protojson.read(type_, value)
    assert protojson.read(type_, write(message, Spelling.CAMEL)) == message


def test_camel_case_spells_members_and_leaves_the_keys_of_a_struct() -> None:
    call = tool.ToolCall(
        tool_call_id="1",
        input_parameters={"dir_path": {"max_depth": 1}},
        output=tool.ToolOutput(structured_data={"line_count": 3}),
    )
    assert write(call, Spelling.CAMEL) == {
        "toolCallId": "1",
        "status": "STATUS_UNSPECIFIED",
        "toolName": "",
        "inputParameters": {"dir_path": {"max_depth": 1}},
        "output": {"structuredData": {"line_count": 3}},
    }


@_types
def test_of_an_empty_message_all_is_written_but_what_may_be_absent(type_: type[Schema]) -> None:
    absent = _MAY_BE_ABSENT.get(type_.__name__, set())
    assert write(type_(), Spelling.SNAKE).keys() == set(type_.__struct_fields__) - absent
    assert protojson.read(type_, {}) == type_()


@_types
def test_null_is_absent_and_unknown_members_are_not_read(type_: type[Schema]) -> None:
    nulls: dict[str, Any] = dict.fromkeys(type_.__struct_fields__)
    assert protojson.read(type_, nulls | {"of_a_newer_version": {"x": 1}}) == type_()


@pytest.mark.parametrize(
    ("type_", "value", "field"),
    [
        (tool.ToolCall, {"output": {}, "error": {}}, "params"),
        (tool.ToolCall, {"output": {"text": "", "diff": {}}}, "output"),
        (tool.ToolCall, {"status": "LOST"}, "status"),
        (tool.ToolCall, {"toolCallId": 7}, "toolCallId"),
        (
            tool.ToolCall,
            {"confirmation_request": {"mcp_details": {}, "generic_details": {}}},
            "confirmationRequest",
        ),
        (tool.ErrorDetails, {"status_code": "many"}, "statusCode"),
        (tool.ExecuteSlashCommandRequest, {"command_path": "memory"}, "commandPath"),
        (tool.ExecuteSlashCommandRequest, {"command_path": ["memory", 1]}, "commandPath[1]"),
        (tool.ExecuteSlashCommandRequest, {"args": ["a"]}, "args"),
        (tool.GetAllSlashCommandsRequest, {"metadata": []}, "metadata"),
    ],
)
def test_what_does_not_fit_is_named(type_: type[Schema], value: dict[str, Any], field: str) -> None:
    with pytest.raises(A2AError) as error:
        protojson.read(type_, value)
    ((path, _),) = error.value.fields
    assert (error.value.kind.reason, path) == ("INVALID_PARAMS", field)


@pytest.mark.parametrize(
    ("values", "spelling"),
    [
        ([{"tool_call_id": "1"}], Spelling.SNAKE),
        ([{"toolCallId": "1"}], Spelling.CAMEL),
        ([{"args": ""}, {"commandPath": []}], Spelling.CAMEL),
        ([{"args": ""}], Spelling.SNAKE),
        ([None, [], "toolCallId"], Spelling.SNAKE),
        ([{URI: {}}], Spelling.SNAKE),
    ],
)
def test_the_first_name_that_tells_is_the_callers_spelling(values: list[Any], spelling: Spelling) -> None:
    assert spelling_of(*values) is spelling


def test_settings_stand_in_a_messages_metadata_under_the_extensions_uri() -> None:
    assert tool.settings_in(_message()) is None
    assert tool.settings_in(_message(metadata={"other": {"workspace_path": "/x"}})) is None
    settings = tool.settings_in(_message(metadata={URI: {"workspacePath": "/w"}}))
    assert settings == tool.AgentSettings(workspace_path="/w")
    with pytest.raises(A2AError) as error:
        tool.settings_in(_message(metadata={URI: {"workspacePath": 1}}))
    assert error.value.fields[0][0] == f"message.metadata.{URI}.workspacePath"


def test_what_a_status_update_is_stands_in_its_metadata() -> None:
    event = tool.DevelopmentToolEvent(kind=tool.DevelopmentToolEventKind.THOUGHT, model="m")
    metadata = tool.metadata_of(event, Spelling.SNAKE)
    assert metadata == {URI: {"kind": "THOUGHT", "model": "m"}}
    assert protojson.read(tool.DevelopmentToolEvent, tool.in_metadata(metadata)) == event
    assert tool.in_metadata({}) is tool.in_metadata(None) is None


def test_a_decision_is_found_among_a_messages_parts() -> None:
    decision = tool.ToolCallConfirmation(tool_call_id="1", selected_option_id="cancel")
    for spelling in Spelling:
        parts = (Part(text="No"), Part(data={"tool_call_id": "0"}), tool.part_of(decision, spelling))
        assert tool.confirmation_in(_message(*parts)) == decision
    assert tool.confirmation_in(_message(Part(text="No"))) is None
    with pytest.raises(A2AError) as error:
        tool.confirmation_in(_message(Part(data={"selectedOptionId": 1})))
    assert error.value.fields[0][0] == "message.parts[0].data.selectedOptionId"


def _message(*parts: Part, metadata: dict[str, Any] | None = None) -> Message:
    return Message(message_id="1", role=Role.USER, parts=parts, metadata=metadata)
