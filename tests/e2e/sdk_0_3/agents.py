"""Agents made with the official SDK of A2A 0.3, each below a path of its own; the program writes their address."""

import asyncio
import socket
import sys
import threading
from collections import Counter, defaultdict
from typing import Any

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Part, TaskState, TextPart, TransportProtocol
from a2a.utils import new_agent_text_message, new_task
from starlette.applications import Starlette
from starlette.routing import Mount


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
        await event_queue.enqueue_event(new_agent_text_message(text, context_id=context.context_id))


class Telling(_Agent):
    """Answers a task whose artifact comes in two pieces."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Working, two pieces, completed."""
        updater = await self._started(context, event_queue)
        await updater.update_status(TaskState.working)
        for number, text in enumerate(("first, ", f"then: {context.get_user_input()}")):
            await updater.add_artifact([_part(text)], artifact_id="answer", append=number > 0)
        await updater.complete()


class Asking(_Agent):
    """Asks back once."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """A question, or the answer to its answer."""
        known = context.current_task is not None
        updater = await self._started(context, event_queue)
        if not known:
            question = updater.new_agent_message([_part("Which city? どの都市ですか")])
            await updater.requires_input(question, final=True)
            return
        await updater.add_artifact([_part(f"The city is {context.get_user_input()}.")])
        await updater.complete()


class Working(_Agent):
    """Works on after it has answered, until somebody has asked for its task."""

    def __init__(self) -> None:
        self.asked_for: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Working, and completed later."""
        updater = await self._started(context, event_queue)
        await updater.update_status(TaskState.working)
        await self.asked_for[updater.task_id].wait()
        await updater.add_artifact([_part(f"done at last: {context.get_user_input()}")])
        await updater.complete()


class AnsweringAtOnce(DefaultRequestHandler):
    """Answers a send with the task as it is then, whatever the caller wishes."""

    async def on_message_send(self, params: Any, context: Any = None) -> Any:
        """The task at its beginning."""
        params.configuration.blocking = False
        return await super().on_message_send(params, context)

    async def on_get_task(self, params: Any, context: Any = None) -> Any:
        """The task, which now may end."""
        task = await super().on_get_task(params, context)
        self.agent_executor.asked_for[params.id].set()
        return task


def _part(text: str) -> Part:
    return Part(root=TextPart(text=text))


def _mounted(base: str, name: str, agent: _Agent, *, streaming: bool, rest: bool = False) -> Mount:
    transport = TransportProtocol.http_json if rest else TransportProtocol.jsonrpc
    card = AgentCard(
        name=name,
        description=f"An agent that is {name}.",
        url=f"{base}/{name}" if rest else f"{base}/{name}/",
        version="1.0.0",
        preferred_transport=transport,
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id=name, name=name, description=name, tags=[])],
    )
    kind = AnsweringAtOnce if isinstance(agent, Working) else DefaultRequestHandler
    handler = kind(agent_executor=agent, task_store=InMemoryTaskStore())
    application = A2ARESTFastAPIApplication if rest else A2AStarletteApplication
    return Mount(f"/{name}", application(agent_card=card, http_handler=handler).build())


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
