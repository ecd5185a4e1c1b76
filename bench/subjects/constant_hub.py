"""The whole hub (identity, protocol, routing, conversation, log) with an agent in its own process that answers a constant."""

import os
from collections.abc import Iterator

from functions.hub import config
from functions.hub.app import build
from functions.hub.downstream import InProcess
from functions.hub.exchange import Asking
from shared.a2a.model import Event, Message, Part, Role
from shared.flask_adapter import entry_point

_ANSWER = Message(message_id="constant", role=Role.AGENT, parts=(Part(text="hello world"),))


def _answer(_: Asking) -> Iterator[Event]:
    yield _ANSWER


_config = config.read(os.environ)
hub = entry_point(
    build(_config, downstreams={route.id: InProcess(_answer) for route in _config.hub.table.routes})
)
