"""A turn that is run again goes to the route that its text leads to by now; the agent's own task goes with its route alone."""

import itertools
from collections.abc import Iterator

from msgspec import structs

from a2a_hub.a2a.model import Event, Message, Part, Role
from a2a_hub.routing.routes import HubProfile, RouteTable
from a2a_hub.telemetry.log import Log
from functions.hub.config import read
from functions.hub.conversations import Conversations
from functions.hub.downstream.interface import AgentRequest, InProcess
from functions.hub.pipeline import IncomingTurn, Pipeline
from functions.hub.tables import Tables
from tests.fakes.hub import route


def _incoming(text: str) -> IncomingTurn:
    return IncomingTurn(
        message=Message(message_id="m", role=Role.USER, parts=(Part(text=text),)),
        skill=None,
        skill_field="",
        owner="hanako",
        principal=None,
        context_id="c",
        downstream_context_id="c",
        streaming=False,
        request_id="r",
        notes={"running": {"route": "alpha", "task": "task-of-alpha"}},
    )


def test_an_agents_task_is_asked_for_at_that_agent_and_at_no_other() -> None:
    asked: list[AgentRequest] = []

    def answer(agent_request: AgentRequest) -> Iterator[Event]:
        asked.append(agent_request)
        yield Message(message_id="a", role=Role.AGENT, parts=(Part(text="Done"),))

    routes = (route("alpha", "http://127.0.0.1:9"), route("beta", "http://127.0.0.1:9", default=True))
    settings = structs.replace(
        read({"HUB_DEV_TOKEN": "token"}).hub, table=RouteTable(hub=HubProfile(), routes=routes), unset=()
    )
    ticks = itertools.count()
    log = Log(lambda _: None, clock=lambda: float(next(ticks)), new_id=lambda: "id", function="hub")
    pipeline = Pipeline(
        tables=Tables(settings, lambda _: InProcess(answer)),
        conversations=Conversations(),
        log=log,
        clock=lambda: float(next(ticks)),
    )
    for text in ("alpha please", "beta please"):
        _, events = pipeline.start_turn(_incoming(text), {})
        assert list(events)
    assert [agent_request.running_task_id for agent_request in asked] == ["task-of-alpha", None]
