"""What an agent's card decides about how it is called, and what it does not."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from a2a_hub.a2a.card_signature import signer_of
from a2a_hub.a2a.model import Binding, Version
from local.settings import key_pair
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import Json, artifact, card, message, task, text
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.hub import Hub, route, streamed_text, text_of


def test_the_card_never_sends_the_hub_to_another_host() -> None:
    with AgentServer(lambda _: [message(text("Mine."))]) as agent:
        card = {
            "name": "Agent", "description": "x", "version": "1", "capabilities": {}, "skills": [],
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "supportedInterfaces": [
                {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
                for url in ("http://[broken", "http://127.0.0.1:9/stolen", f"{agent.url}@127.0.0.1:9/")
            ],
        }  # fmt: skip
        agent.serve_card = lambda exchange: exchange.json(card)
        hub = Hub(route("alpha", agent.url))
        assert text_of(hub.send("Whose?")) == "Mine."


def test_an_agent_without_a_card_is_asked_in_0_3() -> None:
    with AgentServer(lambda _: [message(text("Old."))], version="0.3", streaming=False) as agent:
        agent.serve_card = lambda exchange: exchange.answer(404)
        hub = Hub(route("alpha", agent.url))
        assert text_of(hub.send("How old?")) == "Old."
        assert streamed_text(hub.stream("How old?")) == "Old."


def test_the_route_may_name_version_and_binding_and_then_no_card_is_asked_for() -> None:
    with AgentServer(lambda _: [message(text("As told."))], version="0.3", binding="HTTP+JSON") as agent:
        hub = Hub(route("alpha", agent.url, protocol_version=Version.V0_3, binding=Binding.HTTP_JSON))
        assert streamed_text(hub.stream("How?")) == "As told."
        assert len(agent.received) == len(agent.asked) == 1


def test_a_card_is_asked_for_once_by_many_at_the_same_time() -> None:
    release = threading.Event()
    with AgentServer(lambda _: [message(text("Hello."))]) as agent:
        card = agent.serve_card

        def slow_card(exchange: Exchange) -> None:
            release.wait(timeout=10)
            card(exchange)

        agent.serve_card = slow_card
        hub = Hub(route("alpha", agent.url))
        with ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(hub.send, "Hi") for _ in range(8)]
            release.set()
            assert {text_of(answer.result()) for answer in answers} == {"Hello."}
    assert len(agent.received) - len(agent.asked) == 1


def test_an_agent_whose_route_names_keys_is_called_only_if_one_of_them_signed_its_card() -> None:
    signer = signer_of(key_pair().private, key_set_url="https://agent.example/keys")
    with AgentServer(lambda _: [message(text("Mine."))]) as agent:
        card = {
            "name": "Agent", "description": "担当", "version": "1", "capabilities": {"streaming": True},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "a", "name": "A", "description": "A", "tags": ["a"]}],
            "supportedInterfaces": [{"url": agent.url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        }  # fmt: skip
        signed = signer.sign(card)
        assert signed is not None
        keys = {"card_keys": (signer.key,)}
        pinned = keys | {"protocol_version": Version.V1_0, "binding": Binding.JSONRPC}
        for shown, is_called in ((signed, True), (card, False), (signed | {"name": "Other"}, False), (None, False)):

            def serve_card(exchange: Exchange, shown: Json | None = shown) -> None:
                exchange.json(shown) if shown else exchange.answer(404)

            agent.serve_card = serve_card
            for changes in (keys, pinned):
                record = Hub(route("alpha", agent.url, **changes)).query("Whose?")
                assert (record["answer"] == "Mine.") is is_called
                assert is_called or record["error"]["fault"] == "unsigned"
                assert is_called or "card_keys of route alpha" in record["error"]["remedy"]


def _refusing_streams(agent: AgentServer, script: list[Json]) -> None:
    def serve(exchange: Exchange) -> None:
        if exchange.received.json["method"] == "SendStreamingMessage":
            exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32004, "message": "no streaming"}})
        else:
            agent.reply(exchange, script)

    agent.serve_message = serve


def test_an_agent_that_streams_no_longer_answers_a_stream_at_once() -> None:
    with AgentServer(lambda _: [message(text("Streamed."))]) as agent:
        hub = Hub(route("alpha", agent.url))
        assert streamed_text(hub.stream("How?")) == "Streamed."
        _refusing_streams(agent, [message(text("At once."))])
        assert streamed_text(hub.stream("How?")) == "At once."
        assert [said.streaming for said in agent.said] == [True, True, False]


def test_an_agent_whose_route_names_version_and_binding_need_not_stream() -> None:
    with AgentServer() as agent:
        _refusing_streams(agent, [message(text("At once."))])
        hub = Hub(route("alpha", agent.url, protocol_version=Version.V1_0, binding=Binding.JSONRPC))
        assert streamed_text(hub.stream("How?")) == "At once."


def test_an_answer_that_an_agent_takes_only_without_a_stream_reaches_the_task_that_asked() -> None:
    """So does an agent with the official SDK for JavaScript (1.3) whose stream does not begin with its task."""
    with AgentServer(lambda _: [task("input-required", says="Which city?")]) as agent:
        hub = Hub(route("alpha", agent.url))
        asked = hub.stream("Book a room")[-1]
        _refusing_streams(agent, [task("completed", artifact("a", text("In Osaka.")))])
        assert streamed_text(hub.stream("Osaka", context_id=asked["contextId"])) == "In Osaka."
        assert [said.task_id for said in agent.said] == [None, "task-1", "task-1"]


@pytest.mark.parametrize("streaming", [False, True])
def test_the_request_that_finds_an_agent_in_another_version_is_answered(streaming: bool) -> None:
    with AgentServer(lambda _: [message(text("Hello."))], version="0.3") as agent:
        hub = Hub(route("alpha", agent.url))

        def answer() -> str:
            return streamed_text(hub.stream("Hi")) if streaming else text_of(hub.send("Hi"))

        assert answer() == "Hello."
        agent.version, agent.answers = "1.0", dict.fromkeys(("message/send", "message/stream"), _method_not_found)
        assert answer() == "Hello."


def _method_not_found(exchange: Exchange) -> None:
    exchange.json({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}})


def test_the_request_that_finds_an_agent_at_another_path_is_answered() -> None:
    path = "/first"

    def answer(exchange: Exchange) -> None:
        if exchange.received.method == "GET":
            exchange.json(card(agent.url + path, version="1.0", binding="JSONRPC", streaming=False))
        elif exchange.received.path == path:
            said = {"message": {"messageId": "1", "role": "ROLE_AGENT", "parts": [{"text": f"From {path}."}]}}
            exchange.json({"jsonrpc": "2.0", "id": 1, "result": said})
        else:
            exchange.answer(404)

    with HttpServer(answer) as agent:
        hub = Hub(route("alpha", agent.url))
        assert text_of(hub.send("Where?")) == "From /first."
        path = "/second"
        assert text_of(hub.send("Where?")) == "From /second."
        path = "/third"
        assert text_of(hub.send("Where?")) == "From /third."


def test_an_agent_that_is_where_its_card_says_but_not_there_is_asked_once() -> None:
    with AgentServer(serve_message=lambda exchange: exchange.answer(404)) as agent:
        hub = Hub(route("alpha", agent.url))
        for times in (1, 2):
            assert "Your administrator" in text_of(hub.send("Where?"))
            assert len(agent.asked) == times
