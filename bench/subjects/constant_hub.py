"""The whole hub (identity, protocol, routing, conversation, log) with an agent in its own process that answers a constant."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from a2a_hub.runtime.cold_start import entry_point

if TYPE_CHECKING:
    from a2a_hub.http.messages import Handler


def _hub() -> Handler:
    # Imported as functions/hub/main.py does.
    from a2a_hub.a2a.model import Event, Message, Part, Role
    from functions.hub import config
    from functions.hub.app import build
    from functions.hub.downstream.interface import AgentRequest, InProcess

    said = Message(message_id="constant", role=Role.AGENT, parts=(Part(text="hello world"),))

    def answer(_: AgentRequest) -> Iterator[Event]:
        yield said

    settings = config.read(os.environ)
    return build(settings, downstreams={route.id: InProcess(answer) for route in settings.hub.table.routes})


hub = entry_point(_hub)
