"""An A2A agent that answers a constant: what the hub calls over HTTP, and what a client can call without the hub."""

import os
from collections.abc import Iterator

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.card import AgentSkill
from a2a_hub.a2a.model import SendMessageRequest
from a2a_hub.a2a.reply import Piece, Text
from a2a_hub.agents.function import agent_card, agent_function
from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.runtime.function import stdout_log


def _answer(_: SendMessageRequest, __: Call) -> Iterator[Piece]:
    yield Text("hello world")


agent = entry_point(
    agent_function(
        _answer,
        card=agent_card(
            name="Constant",
            description="Answers a constant.",
            version="1.0.0",
            url=os.environ["PUBLIC_URL"],
            skills=(AgentSkill(id="constant", name="Constant", description="A constant.", tags=("bench",)),),
        ),
        log=stdout_log("agent"),
    )
)
