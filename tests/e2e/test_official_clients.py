"""Clients made with the official SDKs, one for each version of the protocol, talk to the hub through the gateway."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.hubs import Hub
from tests.e2e.questions import FIRST_WORDINGS, Question
from tests.e2e.sdk_environments import SdkClient, client

_FUJI = "富士山の高さは"
_STREAM_KINDS = {
    "0.3": ["task", "status-update", "artifact-update", "status-update"],
    "1.x": ["task", "status_update", "artifact_update", "status_update"],
    "1.x, 0.3 card": ["task", "status_update", "artifact_update", "status_update"],
}
_COMPLETED = {"0.3": "completed", "1.x": "TASK_STATE_COMPLETED", "1.x, 0.3 card": "TASK_STATE_COMPLETED"}
SDKS = tuple(_STREAM_KINDS)
BINDINGS = ("JSONRPC", "HTTP+JSON")
ways = pytest.mark.parametrize(
    ("sdk", "binding", "streaming"),
    [(sdk, binding, streaming) for sdk in SDKS for binding in BINDINGS for streaming in (False, True)],
)


class Clients:
    """The client programs; each is started when it is first needed."""

    def __init__(self, by_sdk: dict[str, SdkClient]) -> None:
        self._by_sdk = by_sdk

    def ask(self, sdk: str, text: str, **how: Any) -> dict[str, Any]:
        """Return what the client of `sdk` made of the answer."""
        if sdk == "1.x, 0.3 card":
            return self._by_sdk["1.x"].ask(text, cardVersion="0.3", **how)
        return self._by_sdk[sdk].ask(text, **how)


@pytest.fixture(scope="module")
def clients(hub: Hub) -> Iterator[Clients]:
    """Both client programs, with the token of one caller."""
    with client("sdk_0_3", hub) as old, client("sdk_1_x", hub) as new:
        yield Clients({"0.3": old, "1.x": new})


@pytest.mark.parametrize("sdk", SDKS)
@pytest.mark.parametrize(("question", "wording"), FIRST_WORDINGS)
def test_a_client_gets_each_answer(clients: Clients, sdk: str, question: Question, wording: str) -> None:
    told = clients.ask(sdk, wording, binding="JSONRPC", streaming=False)
    assert "error" not in told
    question.is_answered_by(told["text"])
    assert told["contextId"]


@ways
def test_a_client_sees_a_task_or_its_life_and_a_user_interface_a_message(
    clients: Clients, sdk: str, binding: str, streaming: bool
) -> None:
    told = clients.ask(sdk, _FUJI, binding=binding, streaming=streaming)
    if streaming:
        assert told["kinds"] == _STREAM_KINDS[sdk]
        assert told["states"][-1] == _COMPLETED[sdk]
    elif sdk != "1.x" and binding == "JSONRPC":
        assert (told["kinds"], told["states"]) == (["message"], [])
    else:
        assert (told["kinds"], told["states"]) == (["task"], [_COMPLETED[sdk]])


@ways
def test_a_client_goes_on_with_a_conversation(clients: Clients, sdk: str, binding: str, streaming: bool) -> None:
    first = clients.ask(sdk, "P-1インシデントの連絡期限は", binding=binding, streaming=streaming)
    how = {"binding": binding, "streaming": streaming, "contextId": first["contextId"]}
    second = clients.ask(sdk, _FUJI, **how)
    assert second["contextId"] == first["contextId"]
    assert "3,776 m" in second["text"]


@ways
def test_a_client_is_told_of_a_skill_that_there_is_not(
    clients: Clients, sdk: str, binding: str, streaming: bool
) -> None:
    told = clients.ask(sdk, _FUJI, binding=binding, streaming=streaming, skill="astrology")
    # Of 0.3's errors over HTTP+JSON the SDKs tell their users the status alone.
    tells_all = binding == "JSONRPC" or sdk == "1.x"
    assert ("known are pm, expense, docqa, devtool, general" if tells_all else "400") in told["error"]
    assert "3,776" in clients.ask(sdk, _FUJI, binding=binding, streaming=streaming, skill="general")["text"]


@pytest.mark.parametrize("sdk", SDKS)
def test_a_client_reads_the_whole_card(clients: Clients, hub: Hub, sdk: str) -> None:
    card = clients.ask(sdk, _FUJI, binding="JSONRPC", streaming=False)["card"]
    assert [skill["id"] for skill in card["skills"]] == ["pm", "expense", "docqa", "general"]
    assert card["capabilities"]["streaming"] is True
    assert "bearer" in (card.get("securitySchemes") or card["security_schemes"])
    if sdk == "1.x":
        versions = {interface["protocolVersion"] for interface in card["supportedInterfaces"]}
        assert versions == {"0.3", "1.0"}
