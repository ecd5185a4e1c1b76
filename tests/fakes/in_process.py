"""An agent that is a function in the process of the hub."""

from collections.abc import Callable, Iterator

from a2a_hub.a2a.model import Event
from functions.hub.downstream.interface import AgentRequest, AnswersOnly


class InProcess(AnswersOnly):
    """It is `immediate` unless it waits for something."""

    open_circuit = None

    def __init__(self, answer: Callable[[AgentRequest], Iterator[Event]], *, immediate: bool = True) -> None:
        self.immediate = immediate
        self._answer = answer

    def ask(self, agent_request: AgentRequest) -> Iterator[Event]:
        return self._answer(agent_request)
