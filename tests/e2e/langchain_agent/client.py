"""A LangChain client of the hub: `client.py URL TOKEN`.

{"text", "thread", "streaming"} in a line in; {"text", "contextId"} out.
"""

import json
import sys
from functools import cache
from typing import Any

from langchain_remote_a2a_agent import RemoteAgent

URL, TOKEN = sys.argv[1:]


@cache
def agent(*, streaming: bool) -> RemoteAgent:
    """Return the one agent, which remembers its conversations."""
    return RemoteAgent(
        agent_name="hub",
        description="A hub",
        agent_card_url=f"{URL}/.well-known/agent-card.json",
        headers={"Authorization": f"Bearer {TOKEN}"},
        use_streaming=streaming,
    )


def answer(text: str, *, thread: str, streaming: bool) -> dict[str, Any]:
    """Return the last message of a turn."""
    turn = agent(streaming=streaming).invoke(text, config={"configurable": {"thread_id": thread}})
    last = turn["messages"][-1]
    return {"text": last.content, "contextId": last.additional_kwargs.get("a2a_context_id")}


for line in sys.stdin:
    sys.stdout.write(json.dumps(answer(**json.loads(line))) + "\n")
    sys.stdout.flush()
