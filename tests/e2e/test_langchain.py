"""LangChain's client of remote agents keeps its conversation with the hub, with and without streams."""

import pytest

from tests.e2e.hubs import Hub
from tests.e2e.sdk_environments import client


@pytest.mark.parametrize("streaming", [False, True])
def test_a_later_turn_goes_on_with_the_context_of_the_first(hub: Hub, streaming: bool) -> None:
    with client("langchain_agent", hub) as langchain:
        turns = []
        for text in ("What is the hotel limit in Japan?", "and for taxis?"):
            langchain.write(text=text, thread="one", streaming=streaming)
            turns.append(langchain.read())
    assert "14,000" in turns[0]["text"]
    assert "6,000" in turns[1]["text"]
    assert turns[0]["contextId"] == turns[1]["contextId"] is not None
