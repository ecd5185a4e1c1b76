"""What an agent does not accept in a request is named to whoever sent it, and nothing else of what the agent says."""

from pathlib import Path

import pytest

from a2a_hub.a2a.extensions.development_tool import URI
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, task
from tests.fakes.http_server import Behaviour, Exchange
from tests.fakes.hub import Hub, route, text_of
from tests.integration.slash_commands import call, hub_of, tool_route


def _refuses(*fields: object) -> Behaviour:
    violations = [{"field": field, "description": "db-password at http://10.1.2.3"} for field in fields]
    details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]

    def behave(exchange: Exchange) -> None:
        error = {"code": -32602, "message": "db-password", "data": details}
        exchange.json({"jsonrpc": "2.0", "id": exchange.received.json["id"], "error": error})

    return behave


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Hello",
            f"did not accept this part of the request: message.metadata.{URI}.workspace_path, message.parts[0].",
        ),
        (
            "こんにちは",
            f"依頼の次の部分を受け付けませんでした：message.metadata.{URI}.workspace_path, message.parts[0]。",
        ),
    ],
)
def test_a_person_reads_which_part_of_the_request_it_was(question: str, said: str) -> None:
    fields = (f"message.metadata.{URI}.workspace_path", "message.parts[0]")
    with AgentServer(serve_message=_refuses(*fields)) as agent:
        hub = Hub(route("alpha", agent.url, extensions=(URI,)))
        text = text_of(hub.send(question))
        told = hub.query(question)["error"]
    assert said in text
    assert hub.log[0]["requestId"] in text
    assert "db-password" not in text
    assert (told["kind"], told["fault"]) == ("not_accepted", "refused")
    assert told["cause"].endswith(f"(error -32602): message.metadata.{URI}.workspace_path, message.parts[0]")


@pytest.mark.parametrize(
    "field",
    ["http://10.1.2.3:5432", "message.metadata.https://10.1.2.3/x", "db password", "a" * 50, "", 7, None, {}],
)
def test_a_name_that_is_none_of_a_requests_part_is_not_repeated(field: object) -> None:
    with AgentServer(serve_message=_refuses(field)) as agent:
        text = text_of(Hub(route("alpha", agent.url)).send("Hello"))
    assert "could not complete this request" in text
    assert "10.1.2.3" not in text


def test_a_command_is_refused_by_the_name_of_its_field(tmp_path: Path) -> None:
    refuses = _refuses(f"metadata.{URI}.workspace_path")
    with AgentServer(answers={"command/execute": refuses}) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))
        error = call(hub, "command/execute", {"command_path": ["memory"]})["error"]
    assert error["code"] == -32602
    assert f"“Agent alpha” did not accept this part of the request: metadata.{URI}.workspace_path." in error["message"]
    assert [each["field"] for each in error["data"][0]["fieldViolations"]] == [f"metadata.{URI}.workspace_path"]
    assert "db-password" not in str(error)
    assert (hub.log[-1]["fault"], hub.log[-1]["route"]) == ("INVALID_PARAMS", "alpha")


def test_a_task_waits_on_for_an_answer_that_its_agent_accepts(tmp_path: Path) -> None:
    refuses = _refuses("selected_option_id")
    with AgentServer(lambda _: [task("input-required", says="May I?")]) as agent:
        hub = hub_of(tmp_path, tool_route("alpha", agent.url))

        def say(text: str, **message: str) -> Json:
            sent = {"messageId": text, "role": "ROLE_USER", "parts": [{"data": {"x": text}}, {"text": text}]}
            params = {
                "message": sent | message,
                "configuration": {"acceptedOutputModes": ["application/json"]},
            }
            told: Json = call(hub, "SendMessage", params, headers={"a2a-extensions": URI})["result"]["task"]
            return told

        task_id = say("Delete it")["id"]
        agent.serve_message = refuses
        told = say("perhaps", taskId=task_id)
        assert (told["id"], told["status"]["state"]) == (task_id, "TASK_STATE_INPUT_REQUIRED")
        assert "did not accept this part of the request: selected_option_id" in str(told["status"]["message"])
        assert hub.log[-1]["fault"] == "refused"
        agent.serve_message = None
        agent.script = lambda _: [task("completed", says="Done.")]
        assert say("yes", taskId=task_id)["status"]["state"] == "TASK_STATE_COMPLETED"
    assert [said.task_id for said in agent.said] == [None, "task-1", "task-1"]


def test_a_person_is_asked_again_where_the_agent_does_not_accept_an_answer() -> None:
    with AgentServer(lambda _: [task("input-required", says="Which month?")]) as agent:
        hub = Hub(route("alpha", agent.url))
        context_id = hub.send("Hello")["contextId"]
        agent.serve_message = _refuses("message.parts[0]")
        assert "did not accept" in text_of(hub.send("Now", context_id=context_id))
        agent.serve_message = None
        agent.script = lambda said: [task("completed", says=f"For {said.text}")]
        assert text_of(hub.send("May", context_id=context_id)) == "For May"
    assert [said.task_id for said in agent.said] == [None, "task-1", "task-1"]
