"""Agents made with the official SDK of A2A, 0.3 or 1.x: whichever is installed. Each is below a path of its own; the program
writes their address.
"""

import asyncio
import socket
import sys
import threading
from collections import Counter, defaultdict
from typing import Any

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, TaskState
from starlette.applications import Starlette
from starlette.routing import Mount

try:
    from a2a.helpers import new_task_from_user_message as new_task
    from a2a.helpers import new_text_message, new_text_part
    from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
    from a2a.types import AgentInterface

    WORKING = TaskState.TASK_STATE_WORKING
    FINAL: dict[str, Any] = {}

    def _return_immediately(configuration: Any) -> None:
        configuration.return_immediately = True

    def _interface(url: str, *, rest: bool) -> dict[str, Any]:
        binding = "HTTP+JSON" if rest else "JSONRPC"
        return {"supported_interfaces": [AgentInterface(url=url, protocol_binding=binding, protocol_version="1.0")]}

    def _application(kind: Any, agent: AgentExecutor, card: AgentCard, *, rest: bool) -> Starlette:
        handler = kind(agent_executor=agent, task_store=InMemoryTaskStore(), agent_card=card)
        routes = create_rest_routes(handler) if rest else create_jsonrpc_routes(handler, "/")
        return Starlette(routes=[*create_agent_card_routes(card), *routes])

except ModuleNotFoundError:
    from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
    from a2a.types import Part, TextPart, TransportProtocol
    from a2a.utils import new_agent_text_message as new_text_message
    from a2a.utils import new_task

    WORKING = TaskState.working
    FINAL = {"final": True}

    def new_text_part(text: str) -> Part:
        """Return a part, as the SDK of 1.x does."""
        return Part(root=TextPart(text=text))

    def _return_immediately(configuration: Any) -> None:
        configuration.blocking = False

    def _interface(url: str, *, rest: bool) -> dict[str, Any]:
        transport = TransportProtocol.http_json if rest else TransportProtocol.jsonrpc
        return {"url": url, "preferred_transport": transport}

    def _application(kind: Any, agent: AgentExecutor, card: AgentCard, *, rest: bool) -> Starlette:
        handler = kind(agent_executor=agent, task_store=InMemoryTaskStore())
        application = A2ARESTFastAPIApplication if rest else A2AStarletteApplication
        built: Starlette = application(agent_card=card, http_handler=handler).build()
        return built


class _Agent(AgentExecutor):
    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Nobody cancels."""

    async def _started(self, context: RequestContext, event_queue: EventQueue) -> TaskUpdater:
        task = context.current_task or new_task(context.message)
        if context.current_task is None:
            await event_queue.enqueue_event(task)
        return TaskUpdater(event_queue, task.id, task.context_id)


class Replying(_Agent):
    """Answers a message that counts the turns of the conversation."""

    def __init__(self) -> None:
        self._turns: Counter[str] = Counter()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """One message."""
        self._turns[context.context_id] += 1
        version = context.call_context.state["headers"].get("a2a-version")
        text = f"turn {self._turns[context.context_id]}, version {version}: {context.get_user_input()}"
        await event_queue.enqueue_event(new_text_message(text, context_id=context.context_id))


class Telling(_Agent):
    """Answers a task whose artifact comes in two pieces."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Working, two pieces, completed."""
        updater = await self._started(context, event_queue)
        await updater.update_status(WORKING)
        for number, text in enumerate(("first, ", f"then: {context.get_user_input()}")):
            await updater.add_artifact([new_text_part(text)], artifact_id="answer", append=number > 0)
        await updater.complete()


class Asking(_Agent):
    """Asks back once."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """A question, or the answer to its answer."""
        known = context.current_task is not None
        updater = await self._started(context, event_queue)
        if not known:
            question = updater.new_agent_message([new_text_part("Which city? どの都市ですか")])
            await updater.requires_input(question, **FINAL)
            return
        await updater.add_artifact([new_text_part(f"The city is {context.get_user_input()}.")])
        await updater.complete()


class Working(_Agent):
    """Works on after it has answered, until somebody has asked for its task."""

    def __init__(self) -> None:
        self.asked_for: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Working, and completed later."""
        updater = await self._started(context, event_queue)
        await updater.update_status(WORKING)
        await self.asked_for[updater.task_id].wait()
        await updater.add_artifact([new_text_part(f"done at last: {context.get_user_input()}")])
        await updater.complete()


class AnsweringAtOnce(DefaultRequestHandler):
    """Answers a send with the task as it is then, whatever the caller wishes."""

    async def on_message_send(self, params: Any, context: Any = None) -> Any:
        """The task at its beginning."""
        _return_immediately(params.configuration)
        return await super().on_message_send(params, context)

    async def on_get_task(self, params: Any, context: Any = None) -> Any:
        """The task, which now may end."""
        task = await super().on_get_task(params, context)
        self.agent_executor.asked_for[params.id].set()
        return task


def _mounted(base: str, name: str, agent: _Agent, *, streaming: bool, rest: bool = False) -> Mount:
    card = AgentCard(
        name=name,
        description=f"An agent that is {name}.",
        version="1.0.0",
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id=name, name=name, description=name, tags=["test"])],
        **_interface(f"{base}/{name}" if rest else f"{base}/{name}/", rest=rest),
    )
    kind = AnsweringAtOnce if isinstance(agent, Working) else DefaultRequestHandler
    return Mount(f"/{name}", _application(kind, agent, card, rest=rest))


def _end_with_input(server: uvicorn.Server) -> None:
    sys.stdin.read()
    server.should_exit = True


def main() -> None:
    """Serves until the input ends, which it does with the program that started this one."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        base = f"http://127.0.0.1:{listening.getsockname()[1]}"
        mounts = [
            _mounted(base, "replying", Replying(), streaming=False),
            _mounted(base, "telling", Telling(), streaming=True),
            _mounted(base, "telling-once", Telling(), streaming=False),
            _mounted(base, "asking", Asking(), streaming=True),
            _mounted(base, "working", Working(), streaming=False),
            _mounted(base, "rest", Telling(), streaming=True, rest=True),
        ]
        sys.stdout.write(f"{base}\n")
        sys.stdout.flush()
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=mounts), log_level="warning"))
        threading.Thread(target=_end_with_input, args=[server], daemon=True).start()
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()
