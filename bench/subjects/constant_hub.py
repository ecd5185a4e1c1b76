"""The whole hub (identity, protocol, routing, conversation, log) with an agent in its own process that answers a constant."""

import os
from collections.abc import Iterator

from a2a_hub.a2a.model import Event, Message, Part, Role
from a2a_hub.http.flask_adapter import entry_point
from functions.hub import config
from functions.hub.app import build
from functions.hub.downstream.interface import AgentRequest, InProcess

_ANSWER = Message(message_id="constant", role=Role.AGENT, parts=(Part(text="hello world"),))


def _answer(_: AgentRequest) -> Iterator[Event]:
    yield _ANSWER


_settings = config.read(os.environ)
hub = entry_point(build(_settings, downstreams={route.id: InProcess(_answer) for route in _settings.hub.table.routes}))
