"""An A2A agent that answers a constant: what the hub calls over HTTP, and what a client can call without the hub."""

import os
from collections.abc import Iterator

from shared.a2a.call import Call
from shared.a2a.card import AgentSkill
from shared.a2a.model import SendMessageRequest
from shared.a2a.reply import Piece, Text
from shared.agents.function import agent_card, agent_function
from shared.function import stdout_log
from shared.http.flask_adapter import entry_point


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
